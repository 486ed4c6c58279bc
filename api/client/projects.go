package client

import (
	"context"
	"strings"

	"hubcli/hub"
)

// Projects lists projects.
func (c *Client) Projects(ctx context.Context, q hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error) {
	return list[hub.Project](ctx, c, to("listProjects"), params("archived", q.Archived), q.Cursor, q.Limit)
}

// Project returns the project that an id, slug or name names.
func (c *Client) Project(ctx context.Context, ref string) (hub.Project, error) {
	if !segment(ref) {
		return hub.Project{}, hub.NewError(hub.CodeProjectNotFound, "a project cannot be asked for by this name").
			With("project", ref).WithFix("name it by its slug or its id")
	}
	return get[hub.Project](ctx, c, at("getProject", ref), nil)
}

// Rooms lists the rooms of a project, or all.
func (c *Client) Rooms(ctx context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	return list[hub.Room](ctx, c, to("listRooms"), params("project", q.Project, "archived", q.Archived), q.Cursor, q.Limit)
}

// Room returns the room that ref names. A name that cannot stand in a path is
// looked for among all rooms of the project.
func (c *Client) Room(ctx context.Context, ref hub.RoomRef) (hub.Room, error) {
	if !segment(ref.Room) {
		return c.roomNamed(ctx, ref)
	}
	return get[hub.Room](ctx, c, at("getRoom", ref.Room), params("project", ref.Project))
}

// roomNamed is Room by the name alone.
func (c *Client) roomNamed(ctx context.Context, ref hub.RoomRef) (hub.Room, error) {
	notFound := hub.NewError(hub.CodeRoomNotFound, "there is no such room").
		With("room_id", ref.Room).WithFix("name it by its id, or by its project and its slug or name")
	if ref.Room == "" || ref.Project == "" {
		return hub.Room{}, notFound
	}
	var named []hub.Room
	for r, err := range hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: ref.Project, Archived: true, Limit: hub.MaxPageRows}) {
		if err != nil {
			return hub.Room{}, err
		}
		if strings.EqualFold(r.Name, strings.TrimSpace(ref.Room)) {
			named = append(named, r)
		}
	}
	switch len(named) {
	case 0:
		return hub.Room{}, notFound
	case 1:
		return named[0], nil
	}
	slugs := make([]string, 0, len(named))
	for _, r := range named {
		slugs = append(slugs, r.Slug)
	}
	return hub.Room{}, hub.NewError(hub.CodeRoomNotFound, "several rooms have this name").
		With("room_id", ref.Room).WithFix("name one by its slug: " + strings.Join(slugs, ", "))
}

// segment reports whether a name can stand in a path as one segment.
func segment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}

// SetGuard changes when agents of a room are stopped that post to each other without
// progress. It carries the operator token.
func (c *Client) SetGuard(ctx context.Context, room hub.RoomID, in hub.GuardInput) (hub.Outcome[hub.Room], error) {
	return write[hub.Room](ctx, c, at("setRoomGuard", room), in)
}

// SetLocks changes what a room wants of locks.
func (c *Client) SetLocks(ctx context.Context, room hub.RoomID, in hub.LockPolicyInput) (hub.Outcome[hub.Room], error) {
	return write[hub.Room](ctx, c, at("setRoomLocks", room), in)
}

// Resolve returns the room of the nearest bound folder at or above a path of the
// hub's machine.
func (c *Client) Resolve(ctx context.Context, path string) (hub.Resolved, error) {
	return get[hub.Resolved](ctx, c, to("resolve"), params("path", path))
}
