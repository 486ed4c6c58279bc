package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var projectHandlers = handlers{
	"listProjects":  listProjects,
	"createProject": createProject,
	"getProject":    getProject,
	"listRooms":     listRooms,
	"createRoom":    createRoom,
	"getRoom":       getRoom,
}

func listProjects(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	var q hub.ProjectsQuery
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Projects(c.context(), q))
}

func createProject(c *call) (reply, error) {
	var in hub.ProjectInput
	if err := c.input(&in, &in.CreatedBy, func() error { return api.ValidateProject(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.CreateProject(c.context(), in)
	return created(out, out.Created), err
}

func getProject(c *call) (reply, error) {
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Project(c.context(), c.param)
	return reply{result: row}, err
}

func listRooms(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.RoomsQuery{Project: query.Name("project", hub.MaxNameChars)}
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Rooms(c.context(), q))
}

func createRoom(c *call) (reply, error) {
	var in hub.RoomInput
	if err := c.input(&in, &in.CreatedBy, func() error { return api.ValidateRoom(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.CreateRoom(c.context(), in)
	return created(out, out.Created), err
}

func getRoom(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	ref := hub.RoomRef{Project: query.Name("project", hub.MaxNameChars), Room: c.param}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Room(c.context(), ref)
	return reply{result: row}, err
}
