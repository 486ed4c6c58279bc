package mcp

import (
	"context"
	"errors"
	"fmt"

	"hubcli/hub"
)

// unheard says why a message to an agent may stay unread, or returns "" if the
// agent reads it now or later. It is only a remark: if a lookup fails, it says
// nothing.
func (c *call) unheard(ctx context.Context, to hub.AgentID) string {
	switch to {
	case c.agent():
		return "That is you: your own messages are not shown to you, so no agent reads this."
	case hub.AgentSystem, hub.AgentHub:
		return fmt.Sprintf("%s is the hub itself and reads no messages. hub_list_agents shows the agents that you can write to.", to)
	case hub.AgentOperator:
		return "" // the human, who reads
	}
	live, _, err := c.hub().Agents(ctx, hub.AgentsQuery{Prefix: string(to), Limit: 1}) // it is the first of its prefix
	if err != nil {
		return ""
	}
	for i := range live {
		if live[i].AgentID == to {
			return ""
		}
	}
	room, err := c.home(ctx)
	if err != nil || room == "" {
		return fmt.Sprintf("%s is not live now; check the id with hub_list_agents. It reads this when it is back.", word(string(to)))
	}
	asked, err := hub.ParseCondition("to_agent", string(hub.UntilMessageFrom)+":"+string(to))
	if err == nil { // a look that does not wait: it is refused where the name is nobody's
		_, err = c.hub().Watch(ctx, hub.WatchQuery{Agent: c.agent(), Room: room, Until: []hub.Condition{asked}})
	}
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionNotFound}) {
		return fmt.Sprintf("There has never been an agent %s: check the id with hub_list_agents. Only an agent that registers under this id will read it.", word(string(to)))
	}
	return fmt.Sprintf("%s is not live now; it reads this when it comes.", word(string(to)))
}
