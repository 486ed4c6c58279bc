package mcp

import (
	"context"
	"fmt"
)

func agentTools() []tool {
	return []tool{
		define(tool{
			name: "hub_whoami", title: "Who am I", reads: true, idempotent: true,
			description: "Use first, or when unsure: says which agent you are, who else is live, and where messages are. " +
				"Everything posted before counts as seen from then on.",
		}, whoami),
	}
}

func whoami(ctx context.Context, c *call, _ struct{}) (*answer, error) {
	b, err := c.hub().Bootstrap(ctx, c.agent())
	if err != nil {
		return nil, err
	}
	others := 0
	for _, s := range b.LiveAgents {
		if s.AgentID != c.agent() {
			others++
		}
	}
	line := fmt.Sprintf("You are %s. %d other agents are live; the latest message is %d.", c.agent(), others, b.LatestVisibleID)
	if say := c.at.remark; say != "" {
		line += " " + say
	}
	return &answer{data: b, line: line + " Next: hub_poll_messages to hear, hub_post_message to speak."}, nil
}
