package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// children are the subtasks of a tree.
const children = 3

// taskOp is a call about a task of a tree: a child, or with children the parent.
type taskOp struct {
	Do    string // offer, accept, decline, complete, look
	Task  int
	Agent string // that acts; of an offer: that gets it
}

// taskState is a task. It is also the answer of a call, with its code.
type taskState struct {
	Code     string
	Status   string
	Assignee string
	Offered  string
	Version  int64
}

// treeState is a parent, which is the last, and its children.
type treeState [children + 1]taskState

var taskModel = (&porcupine.NondeterministicModel{
	Init: func() []any {
		var s treeState
		for i := range s {
			s[i] = taskState{Status: "open", Version: 1}
		}
		return []any{s}
	},
	Step: func(state, input, output any) []any {
		s, o := state.(treeState), input.(*op)
		in := o.in.(taskOp)
		after, code := s.after(in)
		switch {
		case !o.known && code == "" && in.Do != "look":
			return []any{s, after}
		case !o.known:
			return []any{s}
		}
		out := output.(taskState)
		if out.Code != code || code == "" && out != after[in.Task] {
			return nil
		}
		return []any{after}
	},
	DescribeOperation: describe,
}).ToModel()

// after is the tree after a call, or the code with which the call is refused.
func (s treeState) after(in taskOp) (treeState, string) {
	t := &s[in.Task]
	done := t.Status == "done"
	switch {
	case in.Do == "look" || in.Do == "complete" && done:
		return s, ""
	case done:
		return s, "task_closed"
	case in.Do == "offer" && in.Agent == t.Assignee:
		return s, "invalid"
	case (in.Do == "accept" || in.Do == "decline") && in.Agent != t.Offered:
		return s, "not_offered"
	}
	t.Version++
	switch in.Do {
	case "offer":
		t.Offered = in.Agent
	case "accept":
		t.Assignee, t.Offered = in.Agent, ""
	case "decline":
		t.Offered = ""
	case "complete":
		t.Status, t.Offered = "done", ""
		parent := &s[children]
		for i := range children {
			if s[i].Status != "done" {
				return s, ""
			}
		}
		parent.Status = "done"
		parent.Version++
	}
	return s, ""
}

// tree is a parent and its children, which clients share.
type tree struct {
	history
	giver string
	ids   [children + 1]int64
}

// takers is how many agents take part in the work on trees.
const takers = 3

// plant makes the tasks. Nobody knows of them yet.
func plant(e *epoch, name, channel string) (*tree, error) {
	t := &tree{history: history{name: name, model: taskModel}, giver: name + "-giver"}
	for i := range t.ids {
		at := (i + children) % len(t.ids) // the parent first
		body := map[string]any{"from_agent": t.giver, "channel": channel, "kind": "task", "body": fmt.Sprintf("%s/%d", name, at)}
		if i > 0 {
			body["parent_task_id"] = t.ids[children]
		}
		a, err := e.ask(&call{path: "/v1/messages", body: body, key: fmt.Sprint(name, at)})
		if err != nil {
			return nil, err
		}
		r, err := row[messageRow](a)
		if err != nil {
			return nil, err
		}
		t.ids[at] = r.ID
	}
	return t, nil
}

func (t *tree) next(c *client) *call {
	in := taskOp{Do: "look", Task: c.random.IntN(children + 1)}
	if in.Task < children {
		in.Agent = fmt.Sprintf("%s-taker-%d", t.name, c.random.IntN(takers))
		switch r := c.random.IntN(100); {
		case r < 35:
			in.Do = "offer"
		case r < 65:
			in.Do = "accept"
		case r < 75:
			in.Do = "decline"
		case r < 77:
			in.Do = "complete"
		}
	}
	next := &call{h: &t.history, in: in, path: fmt.Sprintf("/v1/tasks/%d", t.ids[in.Task])}
	next.understand = func(a *answer) (any, error) { return understandTask(in, a) }
	switch in.Do {
	case "look":
		return next
	case "offer":
		next.path += "/handoff"
		next.body = map[string]any{"agent_id": t.giver, "to_agent": in.Agent}
	default:
		next.path += "/" + in.Do
		next.body = map[string]any{"agent_id": in.Agent}
	}
	// Of many calls about a task that may have happened or not there are too many orders.
	next.key, next.always = c.text(), true
	return next
}

func understandTask(in taskOp, a *answer) (any, error) {
	if !a.OK {
		if in.Do == "look" || !a.is("task_closed") && !a.is("not_offered") && !a.is("invalid") {
			return nil, a.unexpected()
		}
		return taskState{Code: a.Code}, nil
	}
	r, err := row[struct {
		Status   string  `json:"status"`
		Assignee *string `json:"assignee"`
		Offered  *string `json:"offered_to"`
		Version  int64   `json:"version"`
	}](a)
	out := taskState{Status: r.Status, Version: r.Version}
	if r.Assignee != nil {
		out.Assignee = *r.Assignee
	}
	if r.Offered != nil {
		out.Offered = *r.Offered
	}
	return out, err
}
