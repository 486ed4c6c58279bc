package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// suggestedName is what an agent is called that names none.
func suggestedName(invite *core.StoredInvite) hub.AgentID {
	if invite.Handle != "" {
		return invite.Handle
	}
	name := hub.SuggestAgentID(invite.Role)
	if hub.CheckAgentID("role", name) != nil || name.Reserved() || name.Watcher() {
		return "agent"
	}
	return name
}

// speaksFor reports whether the call has shown that it is agent's: by its session,
// or by the spool that it came through.
func speaksFor(ctx context.Context, agent hub.AgentID) bool {
	return agent != "" && (proves(ctx, agent) || hub.CallerOf(ctx).Relay == agent)
}

// proves reports whether the call has proved the session of agent. Only then may
// an answer carry secrets of a session that it did not make: which spool a call
// came through, any program on this machine can say.
func proves(ctx context.Context, agent hub.AgentID) bool {
	return agent != "" && hub.CallerOf(ctx).Agent == agent
}

// mayBe reports whether the call may take the seat that agent has already. On
// this machine an agent is who it says it is; from another one it must show it,
// unless nobody but the seat knows of such an agent: then a call has ended between
// its two steps.
func (h *Hub) mayBe(ctx context.Context, agent hub.AgentID) (bool, error) {
	if agent == "" || !hub.CallerOf(ctx).Remote || speaksFor(ctx, agent) {
		return agent != "", nil
	}
	row, err := h.agentRow(agent)
	if err != nil || row != nil {
		return false, err
	}
	lives, err := h.lives(agent)
	return !lives, err
}

// takenBy says which names are somebody else's: for the name that the call asks
// for, those of live agents; for a name that the hub chooses, also of agents that
// may come back, and of those that never registered and act all the same; for a
// call from another machine, of every agent that there ever was, and that anything
// is meant for. On this machine a name that has only been written to or given work
// is free: whoever is let in under it is meant. What cannot be read counts as taken.
func (h *Hub) takenBy(ctx context.Context, asked hub.AgentID) func(hub.AgentID) bool {
	remote := hub.CallerOf(ctx).Remote
	return func(name hub.AgentID) bool {
		if speaksFor(ctx, name) {
			return false
		}
		if _, _, live := h.views.directory.session(name); live || name.Reserved() {
			return true
		}
		row, err := h.agentRow(name)
		switch {
		case err != nil:
			return true
		case row == nil && remote:
			return h.known(name)
		case row == nil:
			return name != asked && h.acts(name)
		}
		return remote || row.Session.Active || name != asked && row.EndReason == core.EndedIdle
	}
}

// known reports whether anything in the hub is meant for an agent that has never
// registered: a seat in any room, or what lives says. Who got its name would get
// that too. What cannot be read counts as known.
func (h *Hub) known(agent hub.AgentID) bool {
	rooms, err := h.roomsOf(agent)
	if err != nil || len(rooms) > 0 {
		return true
	}
	lives, err := h.lives(agent)
	return err != nil || lives
}

// acts reports whether somebody goes by a name that was never registered: has a
// seat in any room, a cursor of what it has seen, a lease, or a task that it has
// posted. What cannot be read counts as acting.
func (h *Hub) acts(agent hub.AgentID) bool {
	rooms, err := h.roomsOf(agent)
	seen := h.seen.of(agent)
	return err != nil || len(rooms) > 0 || seen.Begun() || h.views.leases.holds(agent) || h.views.tasks.posted(agent)
}

// lives reports whether an agent has been written to, has a cursor of what it has
// seen, holds a lease, or has, is offered or has given a task that has not ended.
// It costs a few look-ups, however many of each there are.
func (h *Hub) lives(agent hub.AgentID) (bool, error) {
	if seen := h.seen.of(agent); seen.Begun() || h.views.leases.holds(agent) || h.views.tasks.concerns(agent) {
		return true, nil
	}
	written := false
	err := h.rows.Messages(inboxScope(agent), 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		written = true
		return false
	})
	return written, err
}
