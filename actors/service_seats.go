package actors

import (
	"context"

	"hubcli/hub"
)

// Sit says that an agent works in a room; see hub.Seats.
func (h *Hub) Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	return h.seats.Sit(ctx, room, in)
}

// Moment shows what a room was like at a moment; see hub.Replays.
func (h *Hub) Moment(ctx context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	return h.replay.Moment(ctx, q)
}

// RoomStatus shows the work in a room; see hub.Seats.
func (h *Hub) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	return h.seats.RoomStatus(ctx, q)
}
