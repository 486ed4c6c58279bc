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
	row, err := c.server.config.Service.SpawnPolicy(c.context())
	return reply{result: row}, err
}

func putSpawnPolicy(c *call) (reply, error) {
	var in hub.SpawnPolicyInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateSpawnPolicy(&in); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.SetSpawnPolicy(c.context(), in)
	return created(out, false), err
}

func postSpawn(c *call) (reply, error) {
	var in hub.SpawnInput
	if err := c.input(&in, &in.By, func() error { return api.ValidateSpawn(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.Spawn(c.context(), in)
	return created(out, out.Created), err
}

func stopSpawn(c *call) (reply, error) {
	var in hub.SpawnStopInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateSpawnStop(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.StopSpawn(c.context(), hub.SpawnID(c.param), in)
	return created(out, false), err
}

func listSpawns(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.SpawnsQuery{
		RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Status: hub.SpawnStatus(query.Text("status")),
		Active: query.Bool("active"),
		Before: hub.SpawnID(query.Name("before", hub.MaxNameChars)),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	query.Keep(api.ValidateSpawns(&q))
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Spawns(c.context(), q))
}

func getSpawn(c *call) (reply, error) {
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.SpawnByID(c.context(), hub.SpawnID(c.param))
	return reply{result: row}, err
}
