package view

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// Room returns the room with this id. room_not_found.
func (v *View) Room(id hub.RoomID) (hub.Room, error) {
	v.Places.mu.RLock()
	defer v.Places.mu.RUnlock()
	if r, ok := v.Places.index.Room(id); ok {
		return r.Room, nil
	}
	return hub.Room{}, core.ErrRoomNotFound(string(id)).
		WithFix("name a room by its id, as the list of rooms shows it")
}

// RefuseClosed refuses what is to be kept in a room that is archived. It looks when the change
// is decided: what is decided before the room is archived is in the journal before it.
// Errors: archived, room_not_found.
func (v *View) RefuseClosed(room hub.RoomID) error {
	v.Places.mu.RLock()
	defer v.Places.mu.RUnlock()
	r, ok := v.Places.index.Room(room)
	switch {
	case !ok:
		return core.ErrRoomNotFound(string(room))
	case r.Room.Archived:
		return v.Places.index.ErrArchived(r.Room.Channel)
	}
	return nil
}

// Project returns the project with this id.
func (v *View) Project(id hub.ProjectID) (hub.Project, bool) {
	v.Places.mu.RLock()
	defer v.Places.mu.RUnlock()
	return v.Places.index.Project(id)
}

// FindProject returns the project that an id, slug or name names.
// project_not_found.
func (v *View) FindProject(ref string) (hub.Project, error) {
	v.Places.mu.RLock()
	defer v.Places.mu.RUnlock()
	return v.Places.index.FindProject(ref)
}

// FindRoom returns the room that ref names. room_not_found, project_not_found.
func (v *View) FindRoom(ref hub.RoomRef) (hub.Room, error) {
	v.Places.mu.RLock()
	defer v.Places.mu.RUnlock()
	r, err := v.Places.index.FindRoom(ref)
	return r.Room, err
}

// RoomOf returns the id of the room that owns a channel, or "".
func (v *View) RoomOf(name hub.ChannelName) hub.RoomID {
	id, ok := name.Room()
	if !ok {
		return ""
	}
	if _, err := v.Room(id); err != nil {
		return ""
	}
	return id
}
