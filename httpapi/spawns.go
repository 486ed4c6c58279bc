package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var spawnHandlers = handlers{
	"listSpawns":     listSpawns,
	"spawn":          postSpawn,
	"getSpawn":       getSpawn,
	"stopSpawn":      stopSpawn,
	"getSpawnPolicy": getSpawnPolicy,
	"setSpawnPolicy": putSpawnPolicy,
}

func getSpawnPolicy(c *call) (reply, error) {
	return oneRow(c.service().SpawnPolicy(c.context()))
}

func putSpawnPolicy(c *call) (reply, error) {
	var in hub.SpawnPolicyInput
	return writeRow(c, &in, nil, anyone(api.ValidateSpawnPolicy), c.service().SetSpawnPolicy, changed)
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
