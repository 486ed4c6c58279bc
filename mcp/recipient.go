package mcp

import (
	"fmt"

	"hubcli/hub"
	"hubcli/mcp/session"
)

// unheard says why a message to an agent may stay unread, or returns "" if the
// agent reads it now or later. r is the agent if it cannot be reached now, else nil.
func (c *call) unheard(to hub.AgentID, r *hub.Recipient) string {
	switch to {
	case c.agent():
		return "That is you: your own messages are not shown to you, so no agent reads this."
	case hub.AgentOperator: // people are told as agents are
	case hub.AgentSystem, hub.AgentHub:
		return fmt.Sprintf("%s is the hub itself and reads no messages. hub_list_agents shows the agents that you can write to.", to)
	}
	if r == nil || r.Reachable {
		return ""
	}
	switch r.State {
	case hub.RecipientNeverRegistered:
		return fmt.Sprintf("There has never been an agent %s: check the id with hub_list_agents. Only an agent that registers under this id will read it.", word(string(to)))
	case hub.RecipientGone:
		return fmt.Sprintf("%s is not live now; it reads this when it comes.", word(string(to)))
	case hub.RecipientAsleep, hub.RecipientListening, hub.RecipientLive:
	}
	return session.Sentence(r.Why(), "hub_get_message says later whether it has seen this.")
}
