package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var bindingHandlers = handlers{
	"resolve":    resolve,
	"unbindRoom": unbindRoom,
	"bindRoom":   bindRoom,
}

func bindRoom(c *call) (reply, error) {
	room, in, err := c.binding()
	if err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.BindRoom(c.context(), room, in)
	return created(out, out.Created), err
}

func unbindRoom(c *call) (reply, error) {
	room, in, err := c.binding()
	if err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.UnbindRoom(c.context(), room, in)
	return created(out, false), err
}

// binding reads the room and the folder that a call names.
func (c *call) binding() (hub.RoomID, hub.BindingInput, error) {
	var in hub.BindingInput
	if err := c.decode(&in); err != nil {
		return "", in, err
	}
	c.name(&in.AgentID)
	if err := api.ValidateBinding(&in, c.caller.Operator); err != nil {
		return "", in, err
	}
	return hub.RoomID(c.param), in, c.actAs(in.AgentID)
}

func resolve(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	path := query.Text("path")
	if path == "" {
		query.Keep(hub.Invalid("path", "path is missing").WithFix("name an absolute path of the hub's machine: ?path=/home/me/project"))
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Resolve(c.context(), path)
	return reply{result: row}, err
}
