package httpapi

import (
	"context"
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

func spawnHandlers() handlers {
	return handlers{
		"listSpawns":     listSpawns,
		"spawn":          postSpawn,
		"getSpawn":       getSpawn,
		"stopSpawn":      stopSpawn,
		"getSpawnPolicy": getSpawnPolicy,
		"setSpawnPolicy": putSpawnPolicy,
	}
}

func getSpawnPolicy(c *call) (reply, error) {
	return oneRow(c.service().SpawnPolicy(c.context()))
}

func putSpawnPolicy(c *call) (reply, error) {
	var in hub.SpawnPolicyInput
	return writeRow(c, &in, nil, anyone(api.ValidateSpawnPolicy), func(ctx context.Context, in hub.SpawnPolicyInput) (hub.Outcome[hub.SpawnPolicy], error) {
		if err := c.keepsSpawnPrograms(ctx, in.Commands); err != nil {
			return hub.Outcome[hub.SpawnPolicy]{}, err
		}
		return c.service().SetSpawnPolicy(ctx, in)
	}, changed)
}

// keepsSpawnPrograms refuses a pass that names a command which is not in the policy. It may
// take commands away, and say where those that are there may be used.
func (c *call) keepsSpawnPrograms(ctx context.Context, commands []hub.SpawnCommand) error {
	if c.caller.Pass == "" || len(commands) == 0 {
		return nil
	}
	set, err := c.service().SpawnPolicy(ctx)
	if err != nil {
		return err
	}
	for i := range commands {
		if !slices.ContainsFunc(set.Commands, func(have hub.SpawnCommand) bool { return sameCommand(&have, &commands[i]) }) {
			return c.needsSecret("say which programs are started")
		}
	}
	return nil
}

func sameCommand(a, b *hub.SpawnCommand) bool {
	return a.Harness == b.Harness && a.Dir == b.Dir && a.TimeoutSec == b.TimeoutSec && a.Connection == b.Connection &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env)
}

func postSpawn(c *call) (reply, error) {
	var in hub.SpawnInput
	return writeRow(c, &in, &in.By, api.ValidateSpawn, c.service().Spawn, created)
}

func stopSpawn(c *call) (reply, error) {
	var in hub.SpawnStopInput
	return writeRow(c, &in, &in.AgentID, api.ValidateSpawnStop, of(hub.SpawnID(c.param), c.service().StopSpawn), changed)
}

func listSpawns(c *call) (reply, error) {
	query := c.query()
	q := hub.SpawnsQuery{
		RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Status: hub.SpawnStatus(query.Text("status")),
		Active: query.Bool("active"),
		Before: hub.SpawnID(query.Name("before", hub.MaxNameChars)),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	query.Keep(api.ValidateSpawns(&q))
	c.readAs(query, c.own())
	return readList(c, query, q, c.service().Spawns)
}

func getSpawn(c *call) (reply, error) {
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return oneRow(c.service().SpawnByID(c.context(), hub.SpawnID(c.param)))
}
