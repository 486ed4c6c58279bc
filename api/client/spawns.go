package client

import (
	"context"

	"hubcli/hub"
)

// Spawns lists spawns, newest first.
func (c *Client) Spawns(ctx context.Context, q hub.SpawnsQuery) ([]hub.Spawn, hub.Cursor, error) {
	return list[hub.Spawn](ctx, c, to("listSpawns"), params("room_id", q.RoomID, "status", q.Status, "active", q.Active,
		"before", q.Before), q.Cursor, q.Limit)
}

// SpawnByID returns a spawn.
func (c *Client) SpawnByID(ctx context.Context, id hub.SpawnID) (hub.Spawn, error) {
	if !segment(string(id)) || id == "policy" {
		return hub.Spawn{}, hub.NewError(hub.CodeSpawnNotFound, "there is no such spawn").With("spawn_id", id).
			WithFix("name it by its spawn_id")
	}
	return get[hub.Spawn](ctx, c, at("getSpawn", id), nil)
}
