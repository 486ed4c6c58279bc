package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// HandoffTask offers a task to another agent; see hub.Runs.
func (h *Hub) HandoffTask(ctx context.Context, id hub.TaskID, in hub.HandoffInput) (hub.Outcome[hub.Task], error) {
	c := core.HandoffCommand{By: taskActor(ctx, in.AgentID), In: in}
	act := gate.Act{Op: "handoffTask", Agent: in.AgentID, Task: id}
	prepare := func() (err error) {
		if c.In.ToAgent, err = h.view.Successor(in.ToAgent); err == nil {
			err = h.unclear(c.In.ToAgent, in.UnlessNear)
		}
		if err == nil {
			c.Asks, err = h.handedOn(id, c.In.ToAgent)
		}
		return err
	}
	out, err := h.changeTask(ctx, &act, len(in.Note), prepare, func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return t.Handoff(id, c, now)
	})
	return h.refuseEnded(id, c.By, out, err)
}

// AcceptTask takes an offered task over; see hub.Runs.
func (h *Hub) AcceptTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, "acceptTask", id, in, (*core.Tasks).Accept)
}

// DeclineTask takes an offer back; see hub.Runs.
func (h *Hub) DeclineTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, "declineTask", id, in, (*core.Tasks).Decline)
}

func (h *Hub) endOffer(ctx context.Context, op string, id hub.TaskID, in hub.OfferInput, decide func(*core.Tasks, hub.TaskID, core.OfferCommand, core.Now) (core.Decision[hub.Task], error)) (hub.Outcome[hub.Task], error) {
	c := core.OfferCommand{By: taskActor(ctx, in.AgentID), Note: in.Note}
	act := gate.Act{Op: op, Agent: in.AgentID, Task: id}
	out, err := h.changeTask(ctx, &act, len(in.Note), nil, func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return decide(t, id, c, now)
	})
	h.handover.Await(ctx, id)
	return h.refuseEnded(id, c.By, out, err)
}
