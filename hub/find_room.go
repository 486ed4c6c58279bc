package hub

import (
	"context"
	"fmt"
	"strings"
)

// manyRooms bounds the rooms that an error names.
const manyRooms = 5

// FindRoom returns the room that a person or a model names: by its id; as
// project/room; or, if no other room of the hub has it, by its slug or its name. With
// ref.Project it is Projects.Room. Errors: project_not_found; room_not_found, also if several
// rooms are meant.
func FindRoom(ctx context.Context, of Projects, ref RoomRef) (Room, error) {
	if ref.Project != "" || IsRoomID(ref.Room) {
		return of.Room(ctx, ref)
	}
	if project, room, ok := strings.Cut(ref.Room, "/"); ok {
		return of.Room(ctx, RoomRef{Project: project, Room: room})
	}
	var bySlug, byName []Room
	for r, err := range Walk(ctx, of.Rooms, RoomsQuery{Archived: true, Limit: MaxPageRows}) {
		switch {
		case err != nil:
			return Room{}, err
		case r.Slug == ref.Room:
			bySlug = append(bySlug, r)
		case strings.EqualFold(r.Name, strings.TrimSpace(ref.Room)):
			byName = append(byName, r)
		}
	}
	if len(bySlug) == 0 {
		bySlug = byName
	}
	switch len(bySlug) {
	case 0:
		return Room{}, NewError(CodeRoomNotFound, "there is no such room").With("room_id", ref.Room)
	case 1:
		return bySlug[0], nil
	}
	return Room{}, severalRooms(ctx, of, ref.Room, bySlug)
}

// severalRooms is the error for a name that several rooms have. It names them.
func severalRooms(ctx context.Context, of Projects, name string, rooms []Room) error {
	var names []string
	for _, r := range rooms[:min(len(rooms), manyRooms)] {
		project := string(r.ProjectID)
		if p, err := of.Project(ctx, project); err == nil {
			project = p.Slug
		}
		names = append(names, project+"/"+r.Slug)
	}
	if more := len(rooms) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("or one of %d others", more))
	}
	return Errorf(CodeRoomNotFound, "%d rooms are called this", len(rooms)).With("room_id", name).
		WithFix("name one with its project: " + strings.Join(names, ", "))
}
