package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// CreateProject makes a project; see hub.Projects.
func (h *Hub) CreateProject(ctx context.Context, in hub.ProjectInput) (hub.Outcome[hub.Project], error) {
	row, replayed, err := submit(ctx, h, write[*core.Projects, hub.Project, hub.Project]{
		owner: projectsOwner(), agent: in.CreatedBy,
		decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) { return p.Create(in) },
		answer: func(row hub.Project, _ *core.Record) hub.Project { return row },
		codec:  jsonCodec[hub.Project](effectProject),
	})
	return hub.Outcome[hub.Project]{Row: row, Created: true, Replayed: replayed}, err
}

// Projects lists projects by slug; see hub.Projects.
func (h *Hub) Projects(context.Context) ([]hub.Project, error) {
	return look(h.views.places, (*core.Atlas).Projects), nil
}

// Project returns one; see hub.Projects.
func (h *Hub) Project(_ context.Context, ref string) (hub.Project, error) { return h.findProject(ref) }

// CreateRoom makes a room; see hub.Projects.
func (h *Hub) CreateRoom(ctx context.Context, in hub.RoomInput) (hub.Outcome[hub.Room], error) {
	row, replayed, err := submit(ctx, h, write[*core.Projects, hub.Room, hub.Room]{
		owner: projectsOwner(), agent: in.CreatedBy, size: len(in.Topic) + len(in.ForceReason),
		decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.CreateRoom(in) },
		answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		codec:  jsonCodec[hub.Room](effectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Created: true, Replayed: replayed}, err
}

// Rooms lists rooms by slug; see hub.Projects.
func (h *Hub) Rooms(_ context.Context, project string) ([]hub.Room, error) {
	if project == "" {
		return look(h.views.places, func(a *core.Atlas) []hub.Room { return a.Rooms("") }), nil
	}
	found, err := h.findProject(project)
	if err != nil {
		return nil, err
	}
	return look(h.views.places, func(a *core.Atlas) []hub.Room { return a.Rooms(found.ProjectID) }), nil
}

// Room returns one; see hub.Projects.
func (h *Hub) Room(_ context.Context, ref hub.RoomRef) (hub.Room, error) { return h.findRoom(ref) }
