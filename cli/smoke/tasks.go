package smoke

import (
	"context"
	"encoding/json"
	"fmt"

	"hubcli/hub"
)

// task: smoke-a asks smoke-b for work and gets the result; smoke-c sees neither.
func (p *player) task(ctx context.Context) (string, error) {
	if p.me() == RoleA {
		request, err := p.post(ctx, hub.PostInput{ToAgent: RoleB, Kind: hub.KindTaskRequest, Body: "what is six times seven?"}, note{Word: "request"})
		if err != nil {
			return "", err
		}
		if _, err := p.say(ctx, note{Word: "asked", IDs: []hub.MessageID{request.ID}}); err != nil {
			return "", err
		}
	}
	asked, err := p.await(ctx, RoleA, "asked")
	if err != nil {
		return "", err
	}
	if len(asked.note.IDs) != 1 {
		return "", wrong("message %d of smoke-a names no task", asked.ID)
	}
	id := asked.note.IDs[0]
	said := ""
	switch {
	case p.me() == RoleA:
		said, err = p.resultOf(ctx, id)
	case p.me() == RoleB:
		said, err = p.work(ctx, id)
	case p.me() == RoleC:
		_, err = p.taskRow(ctx, id)
		said = fmt.Sprintf("task %d is hidden from this agent", id)
		err = refusedAs(err, hub.CodeTaskNotFound, fmt.Sprintf("reading task %d, which is not for this agent,", id))
	}
	return said, err
}

// work: the task is this agent's; a result that names no request is refused.
func (p *player) work(ctx context.Context, id hub.TaskID) (string, error) {
	if request, ok := p.said(RoleA, "request"); !ok || request.ID != id || request.Kind != hub.KindTaskRequest {
		return "", wrong("the poll went past the task_request %d to this agent without showing it", id)
	}
	row, err := p.taskRow(ctx, id)
	if err != nil {
		return "", err
	}
	if row.Status != hub.TaskOpen || row.Assignee == nil || *row.Assignee != RoleB {
		return "", wrong("task %d is %s and assigned to %s", id, row.Status, shown(row.Assignee))
	}
	in := hub.PostInput{ToAgent: RoleA, Kind: hub.KindTaskResult, Body: "42"}
	_, err = p.post(ctx, in, note{Word: "result"})
	if err := refusedAs(err, hub.CodeReplyRequired, "posting a task_result without reply_to"); err != nil {
		return "", err
	}
	in.ReplyTo = id
	if _, err := p.post(ctx, in, note{Word: "result"}); err != nil {
		return "", err
	}
	return fmt.Sprintf("answered task %d", id), nil
}

// resultOf: the result names the request and has completed the task.
func (p *player) resultOf(ctx context.Context, id hub.TaskID) (string, error) {
	result, err := p.await(ctx, RoleB, "result")
	if err != nil {
		return "", err
	}
	if result.Kind != hub.KindTaskResult || result.ReplyTo == nil || *result.ReplyTo != id || completedBy(result.Message) != id {
		return "", wrong("the result %d of task %d is a %s with reply_to %s and metadata %s", result.ID, id, result.Kind, shown(result.ReplyTo), result.Metadata)
	}
	row, err := p.taskRow(ctx, id)
	if err != nil {
		return "", err
	}
	if row.Status != hub.TaskDone || row.ResultMessageID == nil || *row.ResultMessageID != result.ID {
		return "", wrong("task %d is %s with the result %s, want done with %d", id, row.Status, shown(row.ResultMessageID), result.ID)
	}
	return fmt.Sprintf("task %d was answered with %d", id, result.ID), nil
}

// completedBy is the task that a message says it has completed; 0 if none.
func completedBy(m hub.Message) hub.TaskID {
	var metadata struct {
		TaskCompleted hub.TaskID `json:"task_completed"`
	}
	if json.Unmarshal(m.Metadata, &metadata) != nil {
		return 0
	}
	return metadata.TaskCompleted
}

// rollup: a task is done when both its subtasks are, not earlier, and the hub says
// so once.
func (p *player) rollup(ctx context.Context) (string, error) {
	if p.me() == RoleA {
		if err := p.openTree(ctx); err != nil {
			return "", err
		}
	}
	opened, err := p.await(ctx, RoleA, "opened")
	if err != nil {
		return "", err
	}
	if len(opened.note.IDs) != 3 {
		return "", wrong("message %d of smoke-a names no task and its two subtasks", opened.ID)
	}
	parent, first, second := opened.note.IDs[0], opened.note.IDs[1], opened.note.IDs[2]
	if p.me() == RoleB {
		if err := p.finish(ctx, first); err != nil {
			return "", err
		}
	}
	if _, err := p.await(ctx, RoleB, "finished"); err != nil {
		return "", err
	}
	row, err := p.taskRow(ctx, parent)
	if err != nil {
		return "", err
	}
	if row.Status == hub.TaskDone {
		return "", wrong("task %d is %s though its subtask %d is open", parent, row.Status, second)
	}
	if err := p.together(ctx, "half"); err != nil {
		return "", err
	}
	if p.me() == RoleC {
		if err := p.finish(ctx, second); err != nil {
			return "", err
		}
	}
	if _, err := p.await(ctx, RoleC, "finished"); err != nil {
		return "", err
	}
	return p.rolledUp(ctx, parent)
}

// openTree opens a task and a subtask for each of the others.
func (p *player) openTree(ctx context.Context) error {
	parent, err := p.post(ctx, hub.PostInput{Kind: hub.KindTask, Body: "the whole"}, note{Word: "parent"})
	if err != nil {
		return err
	}
	ids := []hub.MessageID{parent.ID}
	for _, body := range []string{"the first part", "the second part"} {
		child, err := p.post(ctx, hub.PostInput{Kind: hub.KindTask, Body: body, ParentTaskID: parent.ID}, note{Word: "child"})
		if err != nil {
			return err
		}
		ids = append(ids, child.ID)
	}
	_, err = p.say(ctx, note{Word: "opened", IDs: ids})
	return err
}

// finish completes a subtask: smoke-b with the call, smoke-c with a message.
func (p *player) finish(ctx context.Context, id hub.TaskID) error {
	if p.me() == RoleC {
		if _, err := p.post(ctx, hub.PostInput{Kind: hub.KindTaskResult, ReplyTo: id, Body: "done"}, note{Word: "result"}); err != nil {
			return err
		}
	} else {
		done, err := ask(ctx, p, "completing a task", func(ctx context.Context) (hub.Outcome[hub.Task], error) {
			return p.hub.CompleteTask(ctx, id, hub.CompleteInput{AgentID: p.me()})
		})
		if err != nil {
			return err
		}
		if done.Row.TaskID != id || done.Row.Status != hub.TaskDone {
			return wrong("completing task %d gave task %d, %s", id, done.Row.TaskID, done.Row.Status)
		}
	}
	_, err := p.say(ctx, note{Word: "finished"})
	return err
}

// rolledUp: the parent is done, and one notice of the hub says so before any
// message that came after the last subtask's end.
func (p *player) rolledUp(ctx context.Context, parent hub.TaskID) (string, error) {
	row, err := p.taskRow(ctx, parent)
	if err != nil {
		return "", err
	}
	if row.Status != hub.TaskDone || row.CompletedAt == nil {
		return "", wrong("task %d is %s though both its subtasks are done", parent, row.Status)
	}
	if err := p.together(ctx, "whole"); err != nil {
		return "", err
	}
	notices := 0
	for _, l := range p.heard {
		if l.FromAgent == hub.AgentSystem && l.Kind == hub.KindNotice && completedBy(l.Message) == parent {
			notices++
		}
	}
	if notices != 1 {
		return "", wrong("%d notices of the hub say that task %d is done, want 1", notices, parent)
	}
	return fmt.Sprintf("task %d was done with its two subtasks", parent), nil
}

func (p *player) taskRow(ctx context.Context, id hub.TaskID) (hub.Task, error) {
	row, err := ask(ctx, p, "reading a task", func(ctx context.Context) (hub.Task, error) { return p.hub.Task(ctx, id, p.me()) })
	if err == nil && row.TaskID != id {
		err = wrong("task %d was answered with task %d", id, row.TaskID)
	}
	return row, err
}
