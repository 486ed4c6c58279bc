package core

import (
	"fmt"

	"hubcli/hub"
)

// disposes reports whether the actor may give the task to another agent. The
// assignee, the creator and the operator may. Any agent may while the task has
// no assignee.
func (task *liveTask) disposes(by TaskActor) bool {
	assignee := hub.Value(task.Task.Assignee)
	return by.Authority == hub.AuthorityOperator || assignee == "" ||
		by.Agent != "" && (by.Agent == assignee || by.Agent == task.Task.CreatedBy)
}

// taken is the error for an actor that may not give the task to another agent.
func (task *liveTask) taken() *hub.Error {
	row := &task.Task
	return hub.Errorf(hub.CodeTaskTaken, "%s has task %d: only %s, who gave it (%s) and the operator may give it to another",
		*row.Assignee, row.TaskID, *row.Assignee, row.CreatedBy).
		With("task_id", row.TaskID).With("assignee", *row.Assignee).With("created_by", row.CreatedBy).
		WithFix("name who acts in agent_id; others ask " + string(*row.Assignee) + " to hand the task over")
}

// checkAssignee refuses an assignee that the actor may not set. An empty
// assignee means none. A task whose assignee has gone goes to the agent that takes it.
func (task *liveTask) checkAssignee(to hub.AgentID, c *UpdateCommand) error {
	if to != "" {
		if err := hub.CheckAssignee("assignee", to); err != nil {
			return err
		}
	}
	if !task.disposes(c.By) && !task.takesOver(to, c.By, c.Gone) {
		return task.taken()
	}
	return nil
}

// asked brings the note of an update to the assignee that it names, where that agent has the task
// already. The caller has checked that the update names who acts.
func (task *liveTask) asked(c *UpdateCommand) []MessageDraft {
	to := hub.Value(c.In.Assignee)
	if c.In.Note == "" || to == "" || to == c.By.Agent || to != hub.Value(task.Task.Assignee) {
		return nil
	}
	h := handoff{TaskID: task.Task.TaskID, From: c.By.Agent, To: to, State: HandoffAssigned}
	m := task.word(c.By, c.By.Agent, h, taskName(&task.Task)+" is yours.", c.In.Note)
	m.Kind, m.To = hub.KindNotice, to
	return []MessageDraft{m}
}

// assigned notifies the agents that a new assignee concerns, except the actor:
// the new assignee, the previous one, and the agent that the task was offered
// to.
func (task *liveTask) assigned(c UpdateCommand, to hub.AgentID) []MessageDraft {
	by, was := c.By.Agent, hub.Value(task.Task.Assignee)
	if by == "" && c.By.Authority == hub.AuthorityOperator {
		by = hub.AgentOperator
	}
	actor := c.By
	if by == "" { // the call names no agent, so the notice carries none of its text
		by, actor.Authority, actor.Assurance = hub.AgentSystem, hub.AuthoritySystem, hub.AssuranceSession
	}
	h := handoff{TaskID: task.Task.TaskID, From: by, To: to, State: HandoffAssigned}
	tell := func(agent hub.AgentID, text, note string) MessageDraft {
		m := task.word(actor, by, h, text, note)
		m.Kind, m.To = hub.KindNotice, agent
		return m
	}
	var messages []MessageDraft
	ends := c.In.Status != nil && c.In.Status.Terminal() // then nothing is left to do
	if to != "" && to != by && !ends {
		messages = task.withAsks(tell(to, taskName(&task.Task)+" is yours now.", c.In.Note), c.Asks)
	}
	if was != "" && was != by && !ends {
		text := taskName(&task.Task) + " is no longer yours: nobody has it now."
		if to != "" {
			text = taskName(&task.Task) + " is no longer yours: " + string(to) + " has it now."
		}
		messages = append(messages, tell(was, text, ""))
	}
	if maker := task.Task.CreatedBy; task.takesOver(to, c.By, c.Gone) && maker != was && maker != by && !maker.Reserved() && !ends {
		messages = append(messages, tell(maker, fmt.Sprintf("%s is mine now: %s, which had it, is gone.", taskName(&task.Task), was), ""))
	}
	if to != hub.Value(task.Task.OfferedTo) {
		messages = append(messages, task.withdrawn()...)
	}
	return messages
}

// withAsks returns a message with the first of asks, and one further message
// for each of the others.
func (task *liveTask) withAsks(m MessageDraft, asks [][]hub.Attachment) []MessageDraft {
	messages := []MessageDraft{m}
	for i, attachments := range asks {
		if i > 0 {
			m.Kind, m.Body = hub.KindNotice, taskName(&task.Task)+": more of what it asks for."
			messages = append(messages, m)
		}
		messages[i].Attachments = attachments
	}
	return messages
}
