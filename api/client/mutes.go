package client

import (
	"context"

	"hubcli/hub"
)

// Mute keeps what an agent posts from waking others. It carries the operator token.
func (c *Client) Mute(ctx context.Context, in hub.MuteInput) (hub.Outcome[hub.Mute], error) {
	return write[hub.Mute](ctx, c, to("mute"), in)
}

// EndMute ends a mute. It carries the operator token.
func (c *Client) EndMute(ctx context.Context, in hub.MuteEndInput) (hub.Outcome[hub.Mute], error) {
	return write[hub.Mute](ctx, c, to("endMute"), in)
}

// Mutes lists who is muted.
func (c *Client) Mutes(ctx context.Context) ([]hub.Mute, error) {
	return get[[]hub.Mute](ctx, c, to("listMutes"), nil)
}
