package mcp

import (
	"context"
	"errors"
	"fmt"

	"hubcli/hub"
)

// unheard says why nobody may read what is sent to an agent; empty where somebody
// does or will. It is a remark: what cannot be found out is not said.
func (c *call) unheard(ctx context.Context, to hub.AgentID) string {
	switch to {
	case c.agent():
		return "That is you: you are not shown what you send, so nobody reads it."
	case hub.AgentSystem, hub.AgentHub:
		return fmt.Sprintf("Nobody reads what is sent to %s: it is the hub itself. hub_list_agents shows who can be written to.", to)
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
		return fmt.Sprintf("%s is not live now; check the id with hub_list_agents. It reads this when it comes.", word(string(to)))
	}
	asked, err := hub.ParseCondition("to_agent", string(hub.UntilMessageFrom)+":"+string(to))
	if err == nil { // a look that does not wait: it is refused where the name is nobody's
		_, err = c.hub().Watch(ctx, hub.WatchQuery{Agent: c.agent(), Room: room, Until: []hub.Condition{asked}})
	}
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionNotFound}) {
		return fmt.Sprintf("Nobody has ever been %s: check the id with hub_list_agents. Only who registers so will read it.", word(string(to)))
	}
	return fmt.Sprintf("%s is not live now; it reads this when it comes.", word(string(to)))
}
