package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func bindingHandlers() handlers {
	return handlers{
		"resolve":      resolve,
		"setRoomGuard": setRoomGuard,
		"setRoomLocks": setRoomLocks,
		"unbindRoom":   unbindRoom,
		"bindRoom":     bindRoom,
	}
}

func bindRoom(c *call) (reply, error) {
	var in hub.BindingInput
	return writeRow(c, &in, &in.AgentID, api.ValidateBinding, of(hub.RoomID(c.param), c.service().BindRoom), created)
}

func setRoomLocks(c *call) (reply, error) {
	var in hub.LockPolicyInput
	return writeRow(c, &in, &in.AgentID, api.ValidateLockPolicy, of(hub.RoomID(c.param), c.service().SetLocks), changed)
}

func setRoomGuard(c *call) (reply, error) {
	var in hub.GuardInput
	return writeRow(c, &in, nil, anyone(api.ValidateGuard), of(hub.RoomID(c.param), c.service().SetGuard), changed)
}

func unbindRoom(c *call) (reply, error) {
	var in hub.BindingInput
	return writeRow(c, &in, &in.AgentID, api.ValidateBinding, of(hub.RoomID(c.param), c.service().UnbindRoom), changed)
}

func resolve(c *call) (reply, error) {
	query := c.query()
	path := query.Text("path")
	if path == "" {
		query.Keep(hub.Invalid("path", "path is missing").WithFix("name an absolute path of the hub's machine: ?path=/home/me/project"))
	}
	c.readAs(query, c.own())
	return readRow(c, query, path, c.service().Resolve)
}
