package lists

import (
	"context"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Projects lists projects by slug; see hub.Projects. They are few: there is a
// limit to them.
func (s *Lists) Projects(_ context.Context, q hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error) {
	behind, err := s.cursors.textPlace(listProjects, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	all := view.Look(s.view.Places, (*core.ProjectIndex).Projects)
	all = slices.DeleteFunc(all, func(p hub.Project) bool { return p.Slug <= behind || p.Archived && !q.Archived })
	page := newPage[hub.Project](q.Limit)
	for _, p := range all {
		if !page.add(p, []byte(p.Slug)) {
			break
		}
	}
	return page.end(s.cursors, listProjects, nil)
}

// Project returns a project; see hub.Projects.
func (s *Lists) Project(_ context.Context, ref string) (hub.Project, error) {
	return s.view.FindProject(ref)
}

// Rooms lists rooms by slug; see hub.Projects.
func (s *Lists) Rooms(_ context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	var project hub.Project
	var err error
	if q.Project != "" {
		if project, err = s.view.FindProject(q.Project); err != nil {
			return nil, "", err
		}
	}
	place, from, err := s.cursors.place(listRooms, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	slug, id, _ := strings.Cut(string(place), "\x00")
	behind, p := hub.Room{Slug: slug, RoomID: hub.RoomID(id)}, newPage[hub.Room](q.Limit)
	found := view.Firsts[hub.Room]{N: p.limit() + 1, Compare: core.CompareRooms}
	s.view.Places.Rooms(project.ProjectID, func(r *hub.Room) {
		if r.Archived && !q.Archived {
			return
		}
		if !from || core.CompareRooms(*r, behind) > 0 {
			found.Add(*r)
		}
	})
	for _, r := range found.Sorted() {
		if !p.add(r, []byte(r.Slug+"\x00"+string(r.RoomID))) {
			break
		}
	}
	return p.end(s.cursors, listRooms, nil)
}

// Room returns a room; see hub.Projects.
func (s *Lists) Room(_ context.Context, ref hub.RoomRef) (hub.Room, error) {
	return s.view.FindRoom(ref)
}
