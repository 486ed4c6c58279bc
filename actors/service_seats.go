package actors

import (
	"context"

	"hubcli/hub"
)

// Sit says that an agent works in a room; see hub.Seats.
func (h *Hub) Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	return h.seats.Sit(ctx, room, in)
}

// RoomStatus shows the work in a room; see hub.Seats.
func (h *Hub) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	return h.seats.RoomStatus(ctx, q)
}
