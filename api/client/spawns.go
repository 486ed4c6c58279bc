package client

import (
	"context"
	"net/http"
	"net/url"

	"hubcli/hub"
)

// Spawn starts a harness.
func (c *Client) Spawn(ctx context.Context, in hub.SpawnInput) (hub.Outcome[hub.Spawn], error) {
	return post[hub.Spawn](ctx, c, "/v1/spawn", in)
}

// StopSpawn asks for the end of a spawn.
func (c *Client) StopSpawn(ctx context.Context, id hub.SpawnID, in hub.SpawnStopInput) (hub.Outcome[hub.Spawn], error) {
	return post[hub.Spawn](ctx, c, "/v1/spawn/"+url.PathEscape(string(id))+"/stop", in)
}

// Spawns lists spawns, newest first.
func (c *Client) Spawns(ctx context.Context, q hub.SpawnsQuery) ([]hub.Spawn, hub.Cursor, error) {
	v := values{}
	v.text("room_id", string(q.RoomID))
	v.text("status", string(q.Status))
	v.flag("active", q.Active)
	v.text("before", string(q.Before))
	return list[hub.Spawn](ctx, c, "/v1/spawn", v, q.Cursor, q.Limit)
}

// SpawnByID returns one.
func (c *Client) SpawnByID(ctx context.Context, id hub.SpawnID) (hub.Spawn, error) {
	if !segment(string(id)) || id == "policy" {
		return hub.Spawn{}, hub.NewError(hub.CodeSpawnNotFound, "there is no such spawn").With("spawn_id", id).
			WithFix("name it by its spawn_id")
	}
	row, _, err := get[hub.Spawn](ctx, c, "/v1/spawn/"+url.PathEscape(string(id)), nil, 0)
	return row, err
}

// SpawnPolicy returns what the operator allows. It carries the operator token.
func (c *Client) SpawnPolicy(ctx context.Context) (hub.SpawnPolicy, error) {
	row, _, err := result[hub.SpawnPolicy](ctx, c, call{method: http.MethodGet, path: "/v1/spawn/policy", operator: true})
	return row, err
}

// SetSpawnPolicy replaces it. It carries the operator token.
func (c *Client) SetSpawnPolicy(ctx context.Context, in hub.SpawnPolicyInput) (hub.Outcome[hub.SpawnPolicy], error) {
	row, got, err := result[hub.SpawnPolicy](ctx, c, call{
		method: http.MethodPut, path: "/v1/spawn/policy", body: in, operator: true,
	})
	return hub.Outcome[hub.SpawnPolicy]{Row: row, Replayed: got.replayed}, err
}
