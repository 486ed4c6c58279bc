package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"hubcli/hub"
)

type doneIn struct {
	TaskID         hub.TaskID `json:"task_id,omitempty" jsonschema:"default: your only one"`
	Note           string     `json:"note,omitempty" jsonschema:"what came of it, or the answer asked of you" most:"TaskUpdateInput.note"`
	Failed         bool       `json:"failed,omitempty" jsonschema:"it could not be done"`
	IdempotencyKey string     `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// finished is the answer to hub_done.
type finished struct {
	Task     shownTask `json:"task" lean:"-"`
	Released []string  `json:"released,omitempty" lean:"-"` // claims and locks
}

func done(ctx context.Context, c *call, in doneIn) (*answer, error) {
	if in.TaskID == 0 {
		var err error
		if in.TaskID, err = c.onlyTask(ctx); err != nil {
			return nil, err
		}
	}
	released, err := c.heldFor(ctx, in.TaskID)
	if err != nil {
		return nil, err
	}
	row, err := c.finish(ctx, in)
	if err != nil {
		return nil, err
	}
	_, err = c.releaseAll(ctx, in.TaskID) // of a task that had ended before
	f := finished{Task: showTask(&row), Released: released}
	line := fmt.Sprintf("Task #%d is %s%s.", in.TaskID, row.Status, releasedWords(len(released)))
	if err != nil {
		line = fmt.Sprintf("Task #%d is %s, but not all of its claims and locks are released: %s. Call hub_done again.", in.TaskID, row.Status, asError(err).Message)
	}
	if next := c.nextReady(ctx, &row); err == nil && next > 0 {
		line += fmt.Sprintf(" %s ready: hub_take.", counted(next, "task"))
	}
	return &answer{data: f, line: line, untrusted: []string{"task.title", "task.thread_id", "released"}}, nil
}

// releasedWords ends the sentence about a task with how many leases ended with it.
func releasedWords(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; its claim or lock is released"
	}
	return fmt.Sprintf("; its %d claims and locks are released", n)
}

// mostOwn is how many of an agent's own tasks an error names.
const mostOwn = 10

// onlyTask returns the task that the agent works on. There must be just one.
func (c *call) onlyTask(ctx context.Context) (hub.TaskID, error) {
	rows, _, err := c.hub().Tasks(ctx, hub.TasksQuery{Viewer: c.agent(), Assignee: c.agent(), Active: true, Limit: mostOwn})
	if err != nil {
		return 0, err
	}
	begun := slices.DeleteFunc(slices.Clone(rows), func(t hub.Task) bool { return t.Status == hub.TaskOpen })
	if len(begun) == 0 {
		begun = rows
	}
	switch len(begun) {
	case 0:
		return 0, hub.Invalid("task_id", "you have no task that has not ended").WithFix("name the task in task_id; hub_list_tasks shows those of the room")
	case 1:
		return begun[0].TaskID, nil
	}
	ids := make([]hub.TaskID, len(begun))
	for i := range begun {
		ids[i] = begun[i].TaskID
	}
	return 0, hub.Invalid("task_id", "you have more than one task").With("tasks", ids).WithFix("name the one that is finished in task_id")
}

// finish ends the task. The note is posted as its result: to the agent that
// asked, or in the task's room.
func (c *call) finish(ctx context.Context, in doneIn) (hub.Task, error) {
	if !in.Failed {
		out, err := c.hub().CompleteTask(c.key(ctx, in.IdempotencyKey), in.TaskID, hub.CompleteInput{AgentID: c.agent(), Note: in.Note, Release: true})
		return out.Row, err
	}
	failed := hub.TaskFailed
	out, err := c.hub().UpdateTask(c.key(ctx, in.IdempotencyKey), in.TaskID, hub.TaskUpdateInput{AgentID: c.agent(), Status: &failed, Release: true})
	if err != nil || in.Note == "" {
		return out.Row, err
	}
	_, _, err = c.send(ctx, hub.PostInput{
		FromAgent: c.agent(), Kind: hub.KindNotice, Body: in.Note, ReplyTo: in.TaskID, Channel: out.Row.Channel, ThreadID: hub.Value(out.Row.ThreadID),
	}, keyOf(cmp.Or(in.IdempotencyKey, c.nonce), "note"))
	return out.Row, err
}

// heldFor returns the names of the agent's claims and locks for a task.
func (c *call) heldFor(ctx context.Context, id hub.TaskID) (names []string, err error) {
	for row, err := range hub.Walk(ctx, c.hub().Claims, c.mine()) {
		if err != nil {
			return nil, err
		}
		if hub.Value(row.TaskMessageID) == id {
			names = append(names, string(row.ClaimKey))
		}
	}
	for row, err := range hub.Walk(ctx, c.hub().Locks, c.mine()) {
		if err != nil {
			return nil, err
		}
		if ofTask(row.Metadata, id) {
			names = append(names, row.FilePath)
		}
	}
	return names, nil
}

// releaseAll releases the agent's claims on a task and the locks that were
// taken for it, and returns their names.
func (c *call) releaseAll(ctx context.Context, id hub.TaskID) (released []string, err error) {
	for row, err := range hub.Walk(ctx, c.hub().Claims, c.mine()) {
		if err != nil {
			return released, err
		}
		if hub.Value(row.TaskMessageID) != id {
			continue
		}
		if _, err := c.hub().ReleaseClaim(c.keyFor(ctx, "", "claim "+string(row.ClaimKey)), hub.ClaimHoldInput{ClaimKey: row.ClaimKey, AgentID: c.agent()}); err != nil {
			return released, err
		}
		released = append(released, string(row.ClaimKey))
	}
	for row, err := range hub.Walk(ctx, c.hub().Locks, c.mine()) {
		if err != nil {
			return released, err
		}
		if !ofTask(row.Metadata, id) {
			continue
		}
		if _, err := c.hub().ReleaseLock(c.keyFor(ctx, "", "lock "+row.FilePath), hub.LockHoldInput{FilePath: row.FilePath, AgentID: c.agent()}); err != nil {
			return released, err
		}
		released = append(released, row.FilePath)
	}
	return released, nil
}

// ofTask reports whether the metadata of a lock names the task.
func ofTask(metadata json.RawMessage, id hub.TaskID) bool { return taskOf(metadata) == id }

// taskOf returns the task that the metadata of a lock names; 0: none.
func taskOf(metadata json.RawMessage) hub.TaskID {
	var of struct {
		TaskID hub.TaskID `json:"task_id"`
	}
	if json.Unmarshal(metadata, &of) != nil {
		return 0
	}
	return of.TaskID
}

// nextReady counts the tasks that the agent could take now in the room of a
// task. It is only a remark: if the lookup fails, it says nothing.
func (c *call) nextReady(ctx context.Context, task *hub.Task) int {
	if task.RoomID == nil {
		return 0
	}
	ready, err := c.readyTasks(ctx, *task.RoomID)
	if err != nil {
		return 0
	}
	return len(ready)
}
