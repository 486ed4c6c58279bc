package actors

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// CompleteTask ends a task as done; see hub.Tasks.
func (h *Hub) CompleteTask(ctx context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error) {
	by := taskActor(ctx, in.AgentID)
	act := gate.Act{Op: "completeTask", Agent: in.AgentID, Task: id, Frees: true}
	out, err := h.changeTask(ctx, &act, len(in.Note), nil, func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return t.Complete(id, core.CompleteCommand{By: by, Note: in.Note, Force: in.Force, Release: in.Release}, now)
	})
	h.handover.Await(ctx, id)
	if !errors.Is(err, core.ErrNotLive) {
		return out, err
	}
	stored, err := h.endedTask(id)
	if err != nil {
		return out, err
	}
	row, err := core.AnswerEndedCompletion(id, stored, by)
	return hub.Outcome[hub.Task]{Row: h.view.Linked(row, row.BlockedBy, view.ViewerOf(ctx, in.AgentID))}, err
}

// UpdateTask changes a task; see hub.Tasks.
func (h *Hub) UpdateTask(ctx context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error) {
	c := core.UpdateCommand{By: taskActor(ctx, in.AgentID), In: in, Standing: h.standing(ctx, in.AgentID)}
	act := gate.Act{Op: "updateTask", Agent: in.AgentID, Task: id, Frees: frees(&in)}
	prepare := func() (err error) {
		if in.Assignee == nil || *in.Assignee == "" {
			return nil
		}
		if err = h.unclear(*in.Assignee, in.UnlessNear); err == nil {
			c.Asks, err = h.handedOn(id, *in.Assignee)
		}
		return err
	}
	out, err := h.changeTask(ctx, &act, len(in.Note), prepare, func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		if task, live := t.Get(id); live && task.Task.AssigneeGoneSince != nil {
			since, err := h.goneSince(*task.Task.Assignee)
			if err != nil {
				return core.Decision[hub.Task]{}, err
			}
			c.Gone = since == *task.Task.AssigneeGoneSince
		}
		return t.Update(id, c, now, taskWorld{h})
	})
	h.handover.Await(ctx, id)
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

// changeTask has the owner of tasks decide. prepare looks up what the decision needs; nil: nothing.
func (h *Hub) changeTask(ctx context.Context, act *gate.Act, size int, prepare func() error, decide func(*core.Tasks, core.Now) (core.Decision[hub.Task], error)) (hub.Outcome[hub.Task], error) {
	row, replayed, err := gate.Do(ctx, h.gate, act, engine.JSONCodec[hub.Task](engine.EffectTask), func() (c engine.Command[*core.Tasks, hub.Task, hub.Task], err error) {
		if prepare != nil {
			err = prepare()
		}
		return engine.Command[*core.Tasks, hub.Task, hub.Task]{Owner: core.TasksOwner(), Size: size, Decide: decide, Answer: asDecided[hub.Task]}, err
	})
	return hub.Outcome[hub.Task]{Row: h.view.Linked(row, row.BlockedBy, view.ViewerOf(ctx, act.Agent)), Replayed: replayed}, err
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

// Ended returns the ended task with this id; see core.TaskWorld.
func (w taskWorld) Ended(by core.TaskActor, id hub.TaskID) (core.StoredTask, bool) {
	t, err := w.h.view.StoredTask(id)
	return t, err == nil && (by.Authority == hub.AuthorityOperator || core.TaskVisible(by.Agent, &t))
}

// handedOn returns the text and attachments of a direct task for an agent to which the
// opening message was not addressed: the attachments of one message or more.
func (h *Hub) handedOn(id hub.TaskID, to hub.AgentID) ([][]hub.Attachment, error) {
	m, err := h.view.Message(id)
	if err != nil || hub.Visible(to, m.From, m.To) {
		if errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}) {
			err = nil // the owner refuses the id
		}
		return nil, err
	}
	row, err := m.JSON.Decode()
	if err != nil {
		return nil, hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read")
	}
	info, limits := &h.options.Info, hub.DefaultLimits()
	limits.MaxAttachmentChars = cmp.Or(info.MaxAttachmentChars, limits.MaxAttachmentChars)
	limits.MaxAttachments = cmp.Or(info.MaxAttachments, limits.MaxAttachments)
	return packAsks(row.Body, row.Attachments, limits), nil
}

// packAsks turns a body into attachments, puts them before the given ones, and
// distributes all to messages. Each message keeps the limits of posted messages
// if the given attachments do.
func packAsks(body string, attachments []hub.Attachment, limits hub.Limits) [][]hub.Attachment {
	var all []hub.Attachment
	for body != "" {
		n := fitting(body, limits.MaxAttachmentChars)
		all = append(all, hub.Attachment{Type: hub.AttachmentText, Content: hub.AppendJSONString(nil, body[:n])})
		body = body[n:]
	}
	return slices.Collect(slices.Chunk(append(all, attachments...), max(1, limits.MaxAttachments)))
}

// fitting returns how many bytes of text fit into a JSON string of at most
// chars characters. It counts whole characters, at least one.
func fitting(text string, chars int) int {
	left, quoted := chars-len(`""`), make([]byte, 0, 16)
	for i, r := range text {
		quoted = hub.AppendJSONString(quoted[:0], string(r))
		if left -= utf8.RuneCount(quoted) - len(`""`); left < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}
