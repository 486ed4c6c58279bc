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

// Recipient says whether an agent would notice a message now. It carries the operator token.
func (c *Client) Recipient(ctx context.Context, agent hub.AgentID) (hub.Recipient, error) {
	return get[hub.Recipient](ctx, c, at("getRecipient", agent), nil)
}

// Undelivered lists mail that nobody is expected to read. It carries the operator token.
func (c *Client) Undelivered(ctx context.Context, q hub.UndeliveredQuery) ([]hub.Undelivered, hub.Cursor, error) {
	return list[hub.Undelivered](ctx, c, to("listUndelivered"), params(), q.Cursor, q.Limit)
}
