package core

import (
	"fmt"
	"slices"

	"hubcli/hub"
)

// The facts of hand-offs.
const (
	factTaskOffered FactType = 402
	factOfferEnded  FactType = 403
)

// TaskOffered offers a task to an agent, in place of an earlier offer. The
// assignee keeps the task for now.
type TaskOffered struct {
	Task hub.TaskID  `json:"task"`
	To   hub.AgentID `json:"to"`
	By   hub.AgentID `json:"by"`
}

// OfferEnded ends the offer of a task. Accepted makes the agent of the offer
// the assignee. Only this fact and an update change the assignee.
type OfferEnded struct {
	Task     hub.TaskID `json:"task"`
	Accepted bool       `json:"accepted,omitempty"`
	Passes   bool       `json:"passes,omitempty"` // the leases of the former assignee pass to the new one
}

// FactType implements Fact.
func (*TaskOffered) FactType() FactType { return factTaskOffered }

// FactType implements Fact.
func (*OfferEnded) FactType() FactType { return factOfferEnded }

// changed returns row as the fact leaves it.
func (f *TaskOffered) changed(row hub.Task, at Position) hub.Task {
	row.Version++
	row.UpdatedAt = at.Now.Wall
	row.OfferedTo = &f.To
	return row
}

// changed returns row as the fact leaves it.
func (f *OfferEnded) changed(row hub.Task, at Position) hub.Task {
	row.Version++
	row.UpdatedAt = at.Now.Wall
	if f.Accepted {
		row.Assignee, row.AssigneeGoneSince = row.OfferedTo, nil
	}
	row.OfferedTo = nil
	return row
}

func (t *Tasks) offer(f *TaskOffered, at Position, rows RowSink) {
	if task := t.live[f.Task]; task != nil {
		task.Task, task.OfferedBy = f.changed(task.Task, at), f.By
		task.put(rows)
	}
}

func (t *Tasks) endOffer(f *OfferEnded, at Position, rows RowSink) {
	if task := t.live[f.Task]; task != nil {
		was, gone := hub.Value(task.Task.Assignee), task.Task.AssigneeGoneSince != nil
		task.Task, task.OfferedBy = f.changed(task.Task, at), ""
		if f.Passes {
			task.passedFrom(was, gone, at)
		}
		task.put(rows)
	}
}

// HandoffCommand offers a task to another agent.
type HandoffCommand struct {
	By TaskActor
	In hub.HandoffInput // its AgentID is not looked at
	// Asks carries the task's request if the agent of the offer cannot read it
	// itself: the attachments of the offer, and of further messages if one
	// message cannot hold them all.
	Asks [][]hub.Attachment
}

// OfferCommand accepts or declines an offer.
type OfferCommand struct {
	By   TaskActor
	Note string
}

// handoff is the value of metadata.handoff in the messages of a hand-off.
type handoff struct {
	TaskID hub.TaskID  `json:"task_id"`
	From   hub.AgentID `json:"from"` // the agent that offers it
	To     hub.AgentID `json:"to"`   // the agent that it is offered to
	State  string      `json:"state"`
}

// The states of a hand-off in its messages.
const (
	handoffOffered   = "offered"
	handoffAccepted  = "accepted"
	handoffDeclined  = "declined"
	handoffWithdrawn = "withdrawn" // taken back, or replaced by another offer or assignee
	HandoffAssigned  = "assigned"  // without an offer
	handoffLeases    = "leases"    // claims and locks have passed
)

// Handoff offers a live task to another agent and notifies that agent. disposes
// says which actors may do so. An earlier offer ends. Errors: ErrNotLive,
// task_not_found (also if the actor may not see it), task_taken, invalid.
func (t *Tasks) Handoff(id hub.TaskID, c HandoffCommand, _ Now) (Decision[hub.Task], error) {
	task, by, err := t.findFor(id, c.By)
	if err != nil {
		return Decision[hub.Task]{}, err
	}
	if err := task.checkOffer(c, by); err != nil {
		return Decision[hub.Task]{}, err
	}
	f := &TaskOffered{Task: id, To: c.In.ToAgent, By: by}
	m := task.word(c.By, by, handoff{TaskID: id, From: by, To: f.To, State: handoffOffered},
		fmt.Sprintf("%s is offered to you. Accept it with hub_update_task {\"task_id\":%d,\"offer\":\"accept\"}; decline it with \"decline\" in that place.",
			taskName(&task.Task), id), c.In.Note)
	m.Kind, m.To = hub.KindHandoff, f.To
	messages := task.withAsks(m, c.Asks)
	if hub.Value(task.Task.OfferedTo) != f.To {
		messages = append(messages, task.withdrawn()...)
	}
	before := task.Task
	return Decision[hub.Task]{
		Draft:  Draft{Facts: []Fact{f}, Messages: messages},
		Answer: func(at Position) hub.Task { return f.changed(before, at) },
	}, nil
}

func (task *liveTask) checkOffer(c HandoffCommand, by hub.AgentID) error {
	row, to := &task.Task, c.In.ToAgent
	if err := hub.CheckRecipient("to_agent", to); err != nil {
		return err
	}
	assignee := hub.Value(row.Assignee)
	switch {
	case to == hub.AgentHub || to == hub.AgentSystem:
		return hub.Invalid("to_agent", string(to)+" accepts no tasks").WithFix("offer the task to an agent")
	case to == assignee:
		return hub.Invalid("to_agent", string(to)+" has the task already").With("task_id", row.TaskID)
	case to == by:
		return hub.Invalid("to_agent", "an agent cannot offer a task to itself").
			WithFix("make yourself its assignee instead")
	case task.disposes(c.By):
		return nil
	}
	return task.taken()
}

// Accept makes the agent of the offer the assignee, and notifies the previous
// assignee, the agent that made the offer, and the creator. Errors: ErrNotLive,
// task_not_found (also if the actor may not see it), not_offered.
func (t *Tasks) Accept(id hub.TaskID, c OfferCommand, _ Now) (Decision[hub.Task], error) {
	task, by, err := t.findFor(id, c.By)
	if err != nil {
		return Decision[hub.Task]{}, err
	}
	if hub.Value(task.Task.OfferedTo) != by {
		return Decision[hub.Task]{}, task.notOffered(by)
	}
	told := []hub.AgentID{hub.Value(task.Task.Assignee), task.OfferedBy, task.Task.CreatedBy}
	return task.endsOffer(c, by, &OfferEnded{Task: id, Accepted: true, Passes: task.passes(by)}, handoffAccepted, "I have taken over "+taskPhrase(&task.Task)+".", told), nil
}

// Decline ends the offer of a task; the assignee stays. The agent of the offer
// declines it, the agent that made the offer takes it back, and the operator
// may do either. The other side is notified. Errors: ErrNotLive, task_not_found
// (also if the actor may not see it), not_offered.
func (t *Tasks) Decline(id hub.TaskID, c OfferCommand, _ Now) (Decision[hub.Task], error) {
	task, by, err := t.findFor(id, c.By)
	if err != nil {
		return Decision[hub.Task]{}, err
	}
	to, f := hub.Value(task.Task.OfferedTo), &OfferEnded{Task: id}
	switch {
	case to == "":
	case by == to:
		told := []hub.AgentID{task.OfferedBy, hub.Value(task.Task.Assignee)}
		return task.endsOffer(c, by, f, handoffDeclined, "I decline "+taskPhrase(&task.Task)+".", told), nil
	case by == task.OfferedBy || c.By.Authority == hub.AuthorityOperator:
		return task.endsOffer(c, by, f, handoffWithdrawn, "I take the offer of "+taskPhrase(&task.Task)+" back.", []hub.AgentID{to}), nil
	}
	return Decision[hub.Task]{}, task.notOffered(by)
}

// endsOffer makes the decision of an offer's end, with a message from by to
// each agent in told.
func (task *liveTask) endsOffer(c OfferCommand, by hub.AgentID, f *OfferEnded, state, text string, told []hub.AgentID) Decision[hub.Task] {
	h := handoff{TaskID: f.Task, From: task.OfferedBy, To: hub.Value(task.Task.OfferedTo), State: state}
	d := Draft{Facts: []Fact{f}}
	for i, agent := range told {
		if agent == "" || agent == by || slices.Contains(told[:i], agent) {
			continue
		}
		m := task.word(c.By, by, h, text, c.Note)
		m.Kind, m.To = hub.KindNotice, agent
		d.Messages = append(d.Messages, m)
	}
	before := task.Task
	return Decision[hub.Task]{Draft: d, Answer: func(at Position) hub.Task { return f.changed(before, at) }}
}

// word is a message about a task from the actor. Text of an agent is never
// posted in the hub's name.
func (task *liveTask) word(actor TaskActor, by hub.AgentID, h handoff, text, note string) MessageDraft {
	if note != "" {
		text += "\n\n" + note
	}
	m := MessageDraft{
		From: by, Body: text, ReplyTo: task.Task.TaskID, Metadata: mustJSON(map[string]any{"handoff": h}),
		Authority: actor.Authority, Assurance: actor.Assurance,
	}
	task.place(&m)
	return m
}

// withdrawn notifies the agent of the offer, if there is one, that the offer
// has ended.
func (task *liveTask) withdrawn() []MessageDraft {
	to := hub.Value(task.Task.OfferedTo)
	if to == "" {
		return nil
	}
	n := systemNotice(taskName(&task.Task)+" is no longer offered to you.", map[string]any{
		"handoff": handoff{TaskID: task.Task.TaskID, From: task.OfferedBy, To: to, State: handoffWithdrawn},
	})
	task.place(&n)
	n.To, n.ReplyTo = to, task.Task.TaskID
	return []MessageDraft{n}
}

// findFor is find for commands that need a named agent or the operator as
// actor.
func (t *Tasks) findFor(id hub.TaskID, by TaskActor) (*liveTask, hub.AgentID, error) {
	task, err := t.find(id, by)
	if err != nil {
		return nil, "", err
	}
	switch {
	case by.Agent != "":
		return task, by.Agent, nil
	case by.Authority == hub.AuthorityOperator:
		return task, hub.AgentOperator, nil
	}
	return nil, "", hub.Invalid("agent_id", "agent_id is missing").WithFix("send the agent_id of the agent that acts")
}

func (task *liveTask) notOffered(by hub.AgentID) error {
	e := hub.Errorf(hub.CodeNotOffered, "task %d is not offered to %s", task.Task.TaskID, by).With("task_id", task.Task.TaskID)
	if task.Task.OfferedTo == nil {
		return e.WithFix("read the task: it is not offered to any agent now")
	}
	return e.With("offered_to", *task.Task.OfferedTo).WithFix("only the agent in offered_to may accept it")
}

// taskPhrase is taskName within a sentence.
func taskPhrase(row *hub.Task) string { return "t" + taskName(row)[1:] }
