package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func projectHandlers() handlers {
	return handlers{
		"listProjects":   listProjects,
		"createProject":  createProject,
		"getProject":     getProject,
		"listRooms":      listRooms,
		"createRoom":     createRoom,
		"getRoom":        getRoom,
		"renameProject":  renameProject,
		"renameRoom":     renameRoom,
		"archiveRoom":    archiveRoom,
		"archiveProject": archiveProject,
	}
}

func listProjects(c *call) (reply, error) {
	query := c.query()
	q := hub.ProjectsQuery{Archived: query.Bool("archived")}
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	c.readAs(query, c.own())
	return readList(c, query, q, c.service().Projects)
}

func createProject(c *call) (reply, error) {
	var in hub.ProjectInput
	return writeRow(c, &in, &in.CreatedBy, api.ValidateProject, c.service().CreateProject, created)
}

func getProject(c *call) (reply, error) {
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return oneRow(c.service().Project(c.context(), c.param))
}

func listRooms(c *call) (reply, error) {
	query := c.query()
	q := hub.RoomsQuery{Project: query.Name("project", hub.MaxNameChars), Archived: query.Bool("archived")}
	q.Cursor, q.Limit = query.Page(hub.MaxPageRows)
	c.readAs(query, c.own())
	return readList(c, query, q, c.service().Rooms)
}

func createRoom(c *call) (reply, error) {
	var in hub.RoomInput
	return writeRow(c, &in, &in.CreatedBy, api.ValidateRoom, c.service().CreateRoom, created)
}

func getRoom(c *call) (reply, error) {
	query := c.query()
	ref := hub.RoomRef{Project: query.Name("project", hub.MaxNameChars), Room: c.param}
	c.readAs(query, c.own())
	return readRow(c, query, ref, c.service().Room)
}

func renameProject(c *call) (reply, error) {
	var in hub.RenamedInput
	return writeRow(c, &in, nil, anyone(api.ValidateRenamed), of(c.param, c.service().RenameProject), changed)
}

func renameRoom(c *call) (reply, error) {
	var in hub.RenamedInput
	return writeRow(c, &in, nil, anyone(api.ValidateRenamed), of(hub.RoomID(c.param), c.service().RenameRoom), changed)
}

func archiveRoom(c *call) (reply, error) {
	var in hub.ArchiveInput
	return writeRow(c, &in, nil, anyone(func(*hub.ArchiveInput) error { return nil }), of(hub.RoomID(c.param), c.service().ArchiveRoom), changed)
}

func archiveProject(c *call) (reply, error) {
	var in hub.ArchiveInput
	return writeRow(c, &in, nil, anyone(func(*hub.ArchiveInput) error { return nil }), of(c.param, c.service().ArchiveProject), changed)
}
