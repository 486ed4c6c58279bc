package gate

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// A rule refuses an act, or lets it through. state is that of the owner that decides, nil where
// no owner does.
type rule struct {
	name string
	cell func(*Row) *Cell
	ask  func(g *Gate, a *Act, caller *hub.Caller, state core.Machine, now core.Now) error
}

// rules are asked in this order, each time in the owner's turn: what is decided before a ruling
// of the operator is in the journal before it. Another user of the machine is refused at the
// edge, before all of them. The mute comes last and refuses nothing: it marks what was said.
var rules = []rule{
	{"paused", func(r *Row) *Cell { return &r.Paused }, (*Gate).paused},
	{"archived", func(r *Row) *Cell { return &r.Archived }, (*Gate).archived},
	{"loops", func(r *Row) *Cell { return &r.Loops }, (*Gate).loops},
}

// refuse asks all rules that apply to the act.
func (g *Gate) refuse(row *Row, a *Act, caller *hub.Caller, state core.Machine, now core.Now) error {
	for i := range rules {
		if !rules[i].cell(row).Applies {
			continue
		}
		if err := rules[i].ask(g, a, caller, state, now); err != nil {
			return err
		}
	}
	return nil
}

// Ask asks the rules about an act that no owner decides now: one outside of the journal, or one
// that waits for its turn.
func (g *Gate) Ask(ctx context.Context, a *Act) error {
	return g.refuse(rowOf(a.Op), a, a.caller(ctx), nil, g.engine.Clock.Now())
}

// paused refuses what an agent does while a pause stops it, or what anybody does in a paused
// room. Of a task its own room counts. Errors: paused.
func (g *Gate) paused(a *Act, caller *hub.Caller, state core.Machine, _ core.Now) error {
	room, frees := a.Room, a.Frees
	if a.Task != 0 {
		room, frees = "", false
		if t, err := g.view.AnyTask(a.Task); err == nil { // the owner refuses an id that is none
			frees = a.Frees && t.Task.Assignee != nil && *t.Task.Assignee == a.Agent
			if t.Task.RoomID != nil {
				room = *t.Task.RoomID
			}
		}
	}
	if frees || a.Asks || a.Spared != nil && state != nil && a.Spared(state) {
		return nil
	}
	return g.view.RefusePaused(caller, a.Agent, room)
}

// archived refuses what would be new in a room that is archived, or shown in a channel that
// nobody is shown. What brings something to its end goes on. Errors: archived, room_not_found.
func (g *Gate) archived(a *Act, _ *hub.Caller, _ core.Machine, _ core.Now) error {
	switch {
	case a.Frees, a.NothingNew:
		return nil
	case a.Shown != "":
		if g.view.Places.Closed(a.Shown) {
			return view.Look(g.view.Places, func(x *core.ProjectIndex) error { return x.ErrArchived(a.Shown) })
		}
		return nil
	case a.Room != "":
		return g.view.RefuseClosed(a.Room)
	}
	return nil
}

// loops refuses a post of agents that post to each other without progress, where the operator
// wants that.
func (g *Gate) loops(a *Act, _ *hub.Caller, _ core.Machine, now core.Now) error {
	if a.Enter == nil {
		return nil
	}
	return a.Enter(now)
}

// mark marks what a muted agent says, when it is decided: the mark is a part of the message, and
// stays when the mute has ended. What the operator and the hub say is never muted.
func (g *Gate) mark(row *Row, a *Act, caller *hub.Caller, now core.Now, messages []core.MessageDraft) {
	if !row.Muted.Applies || caller.Operator || a.Asks || a.Agent == hub.AgentSystem || len(messages) == 0 {
		return
	}
	if g.view.Muted(a.Agent, a.Room, now.Wall) == nil {
		return
	}
	for i := range messages {
		messages[i].Muted = messages[i].Muted || messages[i].From == a.Agent
	}
}
