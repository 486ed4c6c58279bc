package mcp

import (
	"context"

	"hubcli/hub"
)

// home is the room in which the agent works, or "".
func (c *call) home(ctx context.Context) (hub.RoomID, error) { return c.bridge.link.Home(ctx, c.at) }

// room returns the room that a call is about: the one it names, by id, as
// project/room or by its slug, else the agent's own, which is made if need be. invalid where there
// is none.
func (c *call) room(ctx context.Context, given string) (hub.RoomID, error) {
	if hub.IsRoomID(given) {
		return hub.RoomID(given), nil
	}
	if given != "" {
		row, err := hub.FindRoom(ctx, c.hub(), hub.RoomRef{Room: given})
		return row.RoomID, err
	}
	room, why, fix, err := c.bridge.link.RoomOf(ctx, c.at)
	if err != nil || room != "" {
		return room, err
	}
	sentence := "no room is named, and you are in none"
	if why != "" {
		sentence += ". " + why
	}
	ways := "name one with room_id (hub_list_rooms), or join one with hub_join and the code of an invite"
	if fix != "" {
		ways += "; or " + fix
	}
	return "", hub.Invalid("room_id", sentence).WithFix(ways)
}
