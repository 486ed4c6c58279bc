package actors

import "hubcli/hub"

// unclear refuses an agent that somebody has typed, if it never registered while ids like it
// are known. Where nobody asks for that, mail waits until somebody registers the id.
func (h *Hub) unclear(agent hub.AgentID, unlessNear bool) error {
	if !unlessNear || agent == "" || agent.Reserved() && agent == agent.Lower() {
		return nil
	}
	if nobody, err := h.nobody(agent); err != nil || !nobody {
		return err
	}
	r := hub.Recipient{AgentID: agent, State: hub.RecipientNeverRegistered, Near: h.view.Near(agent)}
	if agent.Reserved() {
		r.Near = []hub.AgentID{agent.Lower()}
	}
	if len(r.Near) == 0 {
		return nil
	}
	return hub.NewError(hub.CodeAgentUnclear, r.Why()).
		With("agent_id", agent).With("did_you_mean", r.Near[0]).With("near", r.Near)
}

// nobody reports whether no agent has ever registered under an id, and none acts under it.
func (h *Hub) nobody(agent hub.AgentID) (bool, error) {
	row, err := h.view.AgentRow(agent)
	return err == nil && row == nil && h.idle.last(agent) == 0 && !h.view.Acts(agent), err
}
