package lists

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Tasks lists tasks, newest first; see hub.Tasks.
func (s *Lists) Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	if q.RunID != "" {
		if _, err := s.view.Run(q.RunID); err != nil {
			return nil, "", err
		}
	}
	place, err := s.cursors.numberPlace(listTasks, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	sees, p := view.ViewerOf(ctx, q.Viewer), newPage[hub.Task](q.Limit)
	before, keeps := hub.TaskID(min(place, hub.MaxMessageID+1)), taskFilter(&q, sees)
	add := func(t *core.StoredTask) bool {
		return !p.full() && p.add(s.view.TaskRow(t, sees), core.IDKey(t.Task.TaskID))
	}
	live := q.Active || q.Status != "" && !q.Status.Terminal() || q.Ready != nil && *q.Ready
	if !live {
		return p.end(s.cursors, listTasks, s.storedTasks(q, before, keeps, add))
	}
	found := s.view.Tasks.Page(q.RoomID, before, p.limit()+1, keeps)
	for i := range found {
		if !add(&found[i]) {
			break
		}
	}
	return p.end(s.cursors, listTasks, nil)
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

// storedTasks calls take with the tasks before an id from the store, newest first, by the
// narrowest index that the query allows, until take returns false.
func (s *Lists) storedTasks(q hub.TasksQuery, before hub.TaskID, keeps, take func(*core.StoredTask) bool) (err error) {
	visible := s.view.Ring.Visible()
	add := func(t *core.StoredTask) bool { return t.Task.TaskID > visible || !keeps(t) || take(t) }
	var bad error
	byIndex := func(table core.Table, prefix []byte) error {
		behind := append(slices.Clip(prefix), core.IDKey(before)...)
		return s.rows.RowsBehind(table, prefix, behind, true, func(key, _ []byte) bool {
			var t core.StoredTask
			if t, bad = s.view.StoredTask(hub.TaskID(core.KeyEnd(key))); bad != nil {
				return false
			}
			return add(&t)
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
		err = s.rows.RowsBehind(core.TableTask, nil, core.IDKey(before), true, func(_, value []byte) bool {
			var t core.StoredTask
			if t, bad = view.DecodeRow[core.StoredTask](core.TableTask, value); bad != nil {
				return false
			}
			return add(&t)
		})
	}
	return errors.Join(err, bad)
}

// Task returns one; see hub.Tasks.
func (s *Lists) Task(ctx context.Context, id hub.TaskID, viewer hub.AgentID) (hub.Task, error) {
	return s.view.Task(id, view.ViewerOf(ctx, viewer))
}

// TaskLeases returns what is held for one; see hub.Tasks.
func (s *Lists) TaskLeases(ctx context.Context, id hub.TaskID, viewer hub.AgentID) (hub.TaskLeases, error) {
	t, err := s.Task(ctx, id, viewer)
	if err != nil {
		return hub.TaskLeases{}, err
	}
	held := map[core.LeaseKey]*core.Lease{}
	add := func(l *core.Lease) {
		if l.ForTask() == id {
			held[l.LeaseKey()] = l
		}
	}
	err = s.view.Leases.Of("", id, add)
	if t.Assignee != nil {
		err = errors.Join(err, s.view.Leases.Of(*t.Assignee, 0, add))
	}
	now, out := s.engine.Clock.Now(), hub.TaskLeases{TaskID: id, Claims: []hub.Claim{}, Locks: []hub.Lock{}}
	byKey := func(a, b core.LeaseKey) int { return strings.Compare(a.Key, b.Key) }
	for _, k := range slices.SortedFunc(maps.Keys(held), byKey) {
		if k.Space == core.SpaceClaim {
			if out.ClaimCount++; out.ClaimCount <= hub.MaxTaskLeases {
				out.Claims = append(out.Claims, held[k].Claim(now))
			}
		} else if out.LockCount++; out.LockCount <= hub.MaxTaskLeases {
			out.Locks = append(out.Locks, held[k].Lock(now))
		}
	}
	return out, err
}
