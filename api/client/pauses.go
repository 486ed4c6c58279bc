package client

import (
	"context"

	"hubcli/hub"
)

// Pause stops an agent, a room or everything. It carries the operator token.
func (c *Client) Pause(ctx context.Context, in hub.PauseInput) (hub.Outcome[hub.Pause], error) {
	return write[hub.Pause](ctx, c, to("pause"), in)
}

// EndPause ends a pause. It carries the operator token.
func (c *Client) EndPause(ctx context.Context, in hub.PauseEndInput) (hub.Outcome[hub.Pause], error) {
	return write[hub.Pause](ctx, c, to("endPause"), in)
}

// Pauses lists what is paused.
func (c *Client) Pauses(ctx context.Context) ([]hub.Pause, error) {
	return get[[]hub.Pause](ctx, c, to("listPauses"), nil)
}
