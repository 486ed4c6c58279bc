package actors

import (
	"cmp"
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// HandoffTask offers a task to another agent; see hub.Runs.
func (h *Hub) HandoffTask(ctx context.Context, id hub.TaskID, in hub.HandoffInput) (hub.Outcome[hub.Task], error) {
	c := core.HandoffCommand{By: taskActor(ctx, in.AgentID), In: in}
	var err error
	if c.In.ToAgent, err = h.view.Successor(in.ToAgent); err != nil {
		return hub.Outcome[hub.Task]{}, err
	}
	in.ToAgent = c.In.ToAgent
	if c.Asks, err = h.handedOn(id, in.ToAgent); err != nil {
		return hub.Outcome[hub.Task]{}, err
	}
	unclear := h.unclear(in.ToAgent, in.UnlessNear)
	out, err := h.changeTask(ctx, in.AgentID, len(in.Note), func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		if err := cmp.Or(unclear, h.taskPaused(ctx, in.AgentID, id, false)); err != nil {
			return core.Decision[hub.Task]{}, err
		}
		return t.Handoff(id, c, now)
	})
	return h.refuseEnded(id, c.By, out, err)
}

// AcceptTask takes an offered task over; see hub.Runs.
func (h *Hub) AcceptTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, id, in, func(t *core.Tasks, id hub.TaskID, c core.OfferCommand, now core.Now) (core.Decision[hub.Task], error) {
		if err := h.taskPaused(ctx, in.AgentID, id, false); err != nil {
			return core.Decision[hub.Task]{}, err
		}
		return t.Accept(id, c, now)
	})
}

// DeclineTask takes an offer back; see hub.Runs.
func (h *Hub) DeclineTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return h.endOffer(ctx, id, in, (*core.Tasks).Decline)
}

func (h *Hub) endOffer(ctx context.Context, id hub.TaskID, in hub.OfferInput, decide func(*core.Tasks, hub.TaskID, core.OfferCommand, core.Now) (core.Decision[hub.Task], error)) (hub.Outcome[hub.Task], error) {
	c := core.OfferCommand{By: taskActor(ctx, in.AgentID), Note: in.Note}
	out, err := h.changeTask(ctx, in.AgentID, len(in.Note), func(t *core.Tasks, now core.Now) (core.Decision[hub.Task], error) {
		return decide(t, id, c, now)
	})
	h.handover.Await(ctx, id)
	return h.refuseEnded(id, c.By, out, err)
}
