package client

import (
	"context"

	"hubcli/hub"
)

// IdleAgents lists agents that have done nothing for a time. It carries the operator token.
func (c *Client) IdleAgents(ctx context.Context, q hub.IdleAgentsQuery) (hub.IdleAgents, error) {
	return get[hub.IdleAgents](ctx, c, to("listIdleAgents"), params("idle_sec", q.IdleSec))
}

// Retire takes an agent for gone. It carries the operator token.
func (c *Client) Retire(ctx context.Context, agent hub.AgentID, in hub.RetireInput) (hub.Outcome[hub.RetiredAgent], error) {
	return write[hub.RetiredAgent](ctx, c, at("retireAgent", agent), in)
}

// Undelivered lists mail that nobody is expected to read. It carries the operator token.
func (c *Client) Undelivered(ctx context.Context, q hub.UndeliveredQuery) ([]hub.Undelivered, hub.Cursor, error) {
	return list[hub.Undelivered](ctx, c, to("listUndelivered"), params(), q.Cursor, q.Limit)
}
