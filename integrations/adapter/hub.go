package adapter

import (
	"context"

	"hubcli/hub"
)

// Hub is the part of the hub that a verification calls. The daemon passes a
// client of its own address, so that the verification takes the same path as
// every agent.
type Hub interface {
	Post(ctx context.Context, in hub.PostInput) (hub.Posted, error)
	Resolve(ctx context.Context, path string) (hub.Resolved, error)
	Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error)
	Rooms(ctx context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error)
}
