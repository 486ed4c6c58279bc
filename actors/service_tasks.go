package actors

import (
	"context"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Tasks lists tasks, newest first; see hub.Tasks.
func (h *Hub) Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := h.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	if q.RunID != "" {
		if _, err := h.view.Run(q.RunID); err != nil {
			return nil, "", err
		}
	}
	place, err := h.numberPlace(listTasks, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	sees, n := view.ViewerOf(ctx, q.Viewer), pageRows(q.Limit)
	before, keeps := hub.TaskID(min(place, hub.MaxMessageID+1)), taskFilter(&q, sees)
	var found []core.StoredTask
	live := q.Active || q.Status != "" && !q.Status.Terminal() || q.Ready != nil && *q.Ready
	if live {
		found = h.view.Tasks.Page(q.RoomID, before, n+1, keeps)
	} else if found, err = h.storedTasks(q, before, n+1, keeps); err != nil {
		return nil, "", err
	}
	found, next := paged(h, listTasks, found, n, func(t *core.StoredTask) []byte { return core.IDKey(t.Task.TaskID) })
	return h.view.TaskRows(found, n, sees), next, nil
}

// taskFilter says which tasks a query selects, of those that its viewer may see.
func taskFilter(q *hub.TasksQuery, sees view.Viewer) func(*core.StoredTask) bool {
	return func(t *core.StoredTask) bool {
		row := &t.Task
		return sees.Task(t) &&
			(q.Status == "" || row.Status == q.Status) && (!q.Active || !row.Status.Terminal()) &&
			(q.ParentID == 0 || row.ParentTaskID != nil && *row.ParentTaskID == q.ParentID) &&
			(q.Channel == "" || row.Channel == q.Channel) &&
			(q.ThreadID == "" || row.ThreadID != nil && *row.ThreadID == q.ThreadID) &&
			(q.RoomID == "" || row.RoomID != nil && *row.RoomID == q.RoomID) &&
			(q.RunID == "" || row.RunID != nil && *row.RunID == q.RunID) &&
			(q.Ready == nil || row.Ready == *q.Ready) &&
			(q.Assignee == "" || row.Assignee != nil && *row.Assignee == q.Assignee) &&
			(q.CreatedBy == "" || row.CreatedBy == q.CreatedBy) &&
			(q.Concerns == "" || view.Concerns(row, q.Concerns))
	}
}

// storedTasks reads the first limit tasks before an id from the store, newest
// first, by the narrowest index that the query allows.
func (h *Hub) storedTasks(q hub.TasksQuery, before hub.TaskID, limit int, keeps func(*core.StoredTask) bool) (out []core.StoredTask, err error) {
	visible := h.view.Ring.Visible()
	add := func(t core.StoredTask) bool {
		if t.Task.TaskID <= visible && keeps(&t) {
			out = append(out, t)
		}
		return len(out) < limit
	}
	var bad error
	byIndex := func(table core.Table, prefix []byte) error {
		behind := append(slices.Clip(prefix), core.IDKey(before)...)
		return h.rows.RowsBehind(table, prefix, behind, true, func(key, _ []byte) bool {
			var t core.StoredTask
			if t, bad = h.view.StoredTask(hub.TaskID(core.KeyEnd(key))); bad != nil {
				return false
			}
			return add(t)
		})
	}
	switch {
	case q.ParentID != 0:
		err = byIndex(core.TableTaskByParent, core.IDKey(q.ParentID))
	case q.RunID != "":
		err = byIndex(core.TableTaskByRun, core.OwnedKey(q.RunID, nil))
	case q.ThreadID != "":
		err = byIndex(core.TableTaskByThread, []byte(string(q.ThreadID)+"\x00"))
	case q.RoomID != "":
		err = byIndex(core.TableTaskByRoom, core.OwnedKey(q.RoomID, nil))
	default:
		err = h.rows.RowsBehind(core.TableTask, nil, core.IDKey(before), true, func(_, value []byte) bool {
			var t core.StoredTask
			if t, bad = view.DecodeRow[core.StoredTask](core.TableTask, value); bad != nil {
				return false
			}
			return add(t)
		})
	}
	return out, errors.Join(err, bad)
}

// Task returns one; see hub.Tasks.
func (h *Hub) Task(ctx context.Context, id hub.TaskID, viewer hub.AgentID) (hub.Task, error) {
	return h.view.Task(id, view.ViewerOf(ctx, viewer))
}

// CompleteTask ends a task as done; see hub.Tasks.
func (h *Hub) CompleteTask(ctx context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error) {
	by := taskActor(ctx, in.AgentID)
	out, err := h.changeTask(ctx, in.AgentID, len(in.Note), func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return t.Complete(id, core.CompleteCommand{By: by, Note: in.Note}, now)
	})
	if !errors.Is(err, core.ErrNotLive) {
		return out, err
	}
	stored, err := h.endedTask(id)
	if err != nil {
		return out, err
	}
	row, err := core.AnswerEndedCompletion(id, stored, by)
	return hub.Outcome[hub.Task]{Row: h.view.Redacted(row, row.BlockedBy, view.ViewerOf(ctx, in.AgentID))}, err
}

// UpdateTask changes a task; see hub.Tasks.
func (h *Hub) UpdateTask(ctx context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error) {
	c := core.UpdateCommand{By: taskActor(ctx, in.AgentID), In: in}
	if in.Assignee != nil && *in.Assignee != "" {
		var err error
		if c.Asks, err = h.handedOn(id, *in.Assignee); err != nil {
			return hub.Outcome[hub.Task]{}, err
		}
	}
	out, err := h.changeTask(ctx, in.AgentID, 0, func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return t.Update(id, c, now, taskWorld{h})
	})
	return h.refuseEnded(id, c.By, out, err)
}

// refuseEnded says why a task that is not live cannot be changed.
func (h *Hub) refuseEnded(id hub.TaskID, by core.TaskActor, out hub.Outcome[hub.Task], err error) (hub.Outcome[hub.Task], error) {
	if !errors.Is(err, core.ErrNotLive) {
		return out, err
	}
	stored, err := h.endedTask(id)
	if err != nil {
		return out, err
	}
	return out, core.RefuseEndedUpdate(id, stored, by)
}

func (h *Hub) changeTask(ctx context.Context, agent hub.AgentID, size int, decide func(*core.Tasks, core.Now) (core.Decision[hub.Task], error)) (hub.Outcome[hub.Task], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Tasks, hub.Task, hub.Task]{
		Owner: core.TasksOwner(), Agent: agent, Size: size, Decide: decide,
		Answer: func(t hub.Task, _ *core.Record) hub.Task { return t },
		Codec:  engine.JSONCodec[hub.Task](engine.EffectTask),
	})
	return hub.Outcome[hub.Task]{Row: h.view.Redacted(row, row.BlockedBy, view.ViewerOf(ctx, agent)), Replayed: replayed}, err
}

// endedTask returns the stored row of a task that is not live, or nil.
func (h *Hub) endedTask(id hub.TaskID) (*core.StoredTask, error) {
	t, err := h.view.StoredTask(id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	return &t, err
}

func taskActor(ctx context.Context, agent hub.AgentID) core.TaskActor {
	caller := hub.CallerOf(ctx)
	a := core.TaskActor{Agent: agent, Authority: hub.AuthorityAgent, Assurance: caller.Assurance()}
	if caller.Operator {
		a.Authority = hub.AuthorityOperator
	}
	return a
}

// taskWorld knows of tasks that have ended.
type taskWorld struct{ h *Hub }

// Ended reports whether id is a task that has ended and that by may see, and
// whether a direct message opened it.
func (w taskWorld) Ended(by core.TaskActor, id hub.TaskID) (sees, direct bool) {
	t, err := w.h.view.StoredTask(id)
	return err == nil && (by.Authority == hub.AuthorityOperator || core.TaskVisible(by.Agent, &t)), t.Direct
}
