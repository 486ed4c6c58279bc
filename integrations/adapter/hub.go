package adapter

import (
	"context"

	"hubcli/hub"
)

// Hub is what a verification asks of the hub. The daemon hands it a client of its
// own address: the same way in as everybody's.
type Hub interface {
	Post(ctx context.Context, in hub.PostInput) (hub.Outcome[hub.EncodedMessage], error)
	Resolve(ctx context.Context, path string) (hub.Resolved, error)
	Rooms(ctx context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error)
}
