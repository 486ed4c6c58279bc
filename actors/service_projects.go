package actors

import (
	"context"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// CreateProject makes a project; see hub.Projects.
func (h *Hub) CreateProject(ctx context.Context, in hub.ProjectInput) (hub.Outcome[hub.Project], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Project, hub.Project]{
		Owner: core.ProjectsOwner(), Agent: in.CreatedBy,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) { return p.Create(in) },
		Answer: func(row hub.Project, _ *core.Record) hub.Project { return row },
		Codec:  engine.JSONCodec[hub.Project](engine.EffectProject),
	})
	return hub.Outcome[hub.Project]{Row: row, Created: true, Replayed: replayed}, err
}

// Projects lists projects by slug; see hub.Projects. They are few: there is a
// limit to them.
func (h *Hub) Projects(_ context.Context, q hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error) {
	behind, err := h.textPlace(listProjects, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	all := view.Look(h.view.Places, (*core.ProjectIndex).Projects)
	all = slices.DeleteFunc(all, func(p hub.Project) bool { return p.Slug <= behind })
	rows, next := paged(h, listProjects, all, pageRows(q.Limit), func(p *hub.Project) []byte { return []byte(p.Slug) })
	return rows, next, nil
}

// Project returns one; see hub.Projects.
func (h *Hub) Project(_ context.Context, ref string) (hub.Project, error) {
	return h.view.FindProject(ref)
}

// CreateRoom makes a room; see hub.Projects.
func (h *Hub) CreateRoom(ctx context.Context, in hub.RoomInput) (hub.Outcome[hub.Room], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: in.CreatedBy, Size: len(in.Topic) + len(in.ForceReason),
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.CreateRoom(in) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Created: true, Replayed: replayed}, err
}

// Rooms lists rooms by slug; see hub.Projects.
func (h *Hub) Rooms(_ context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	var project hub.Project
	var err error
	if q.Project != "" {
		if project, err = h.view.FindProject(q.Project); err != nil {
			return nil, "", err
		}
	}
	place, from, err := h.secrets().place(listRooms, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	slug, id, _ := strings.Cut(string(place), "\x00")
	behind, n := hub.Room{Slug: slug, RoomID: hub.RoomID(id)}, pageRows(q.Limit)
	found := view.Firsts[hub.Room]{N: n + 1, Compare: core.CompareRooms}
	h.view.Places.Rooms(project.ProjectID, func(r *hub.Room) {
		if !from || core.CompareRooms(*r, behind) > 0 {
			found.Add(*r)
		}
	})
	rows, next := paged(h, listRooms, found.Sorted(), n, func(r *hub.Room) []byte { return []byte(r.Slug + "\x00" + string(r.RoomID)) })
	return rows, next, nil
}

// Room returns one; see hub.Projects.
func (h *Hub) Room(_ context.Context, ref hub.RoomRef) (hub.Room, error) {
	return h.view.FindRoom(ref)
}
