package actors

import (
	"context"

	"hubcli/hub"
)

// Watch waits until conditions hold; see hub.Watches.
func (h *Hub) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	return h.watches.Watch(ctx, q)
}
