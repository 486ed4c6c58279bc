package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// standing returns what the hub knows of the agent that a call acts as.
func (h *Hub) standing(ctx context.Context, agent hub.AgentID) core.Standing {
	return h.view.Standing(ctx, agent, h.engine.Clock.Now().Wall)
}
