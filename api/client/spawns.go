package client

import (
	"context"

	"hubcli/hub"
)

// Spawn starts a harness.
func (c *Client) Spawn(ctx context.Context, in hub.SpawnInput) (hub.Outcome[hub.Spawn], error) {
	return write[hub.Spawn](ctx, c, to("spawn"), in)
}

// StopSpawn requests the end of a spawn.
func (c *Client) StopSpawn(ctx context.Context, id hub.SpawnID, in hub.SpawnStopInput) (hub.Outcome[hub.Spawn], error) {
	return write[hub.Spawn](ctx, c, at("stopSpawn", id), in)
}

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

// SpawnPolicy returns the operator's policy. It carries the operator token.
func (c *Client) SpawnPolicy(ctx context.Context) (hub.SpawnPolicy, error) {
	return get[hub.SpawnPolicy](ctx, c, to("getSpawnPolicy"), nil)
}

// SetSpawnPolicy replaces the operator's policy. It carries the operator token.
func (c *Client) SetSpawnPolicy(ctx context.Context, in hub.SpawnPolicyInput) (hub.Outcome[hub.SpawnPolicy], error) {
	return write[hub.SpawnPolicy](ctx, c, to("setSpawnPolicy"), in)
}
