package core

import "hubcli/hub"

const factRoomArchived FactType = 877

// RoomArchived takes a room out of lists and of what all are shown, or back into them.
type RoomArchived struct {
	Room     hub.RoomID `json:"room"`
	Archived bool       `json:"archived"`
}

// FactType implements Fact.
func (*RoomArchived) FactType() FactType { return factRoomArchived }

func archiveFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factRoomArchived: func() Fact { return &RoomArchived{} }}
}

// ArchiveRoom decides whether a room is archived. If it is so already, nothing changes. Errors:
// room_not_found.
func (p *Projects) ArchiveRoom(id hub.RoomID, archived bool) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	room, d := stored.Room, Decision[hub.Room]{}
	if room.Archived != archived {
		d.Facts = []Fact{&RoomArchived{Room: id, Archived: archived}}
		room.Archived = archived
	}
	d.Answer = func(Position) hub.Room { return room }
	return d, nil
}

// set returns the room after the fact.
func (f *RoomArchived) set(r StoredRoom) StoredRoom {
	r.Room.Archived = f.Archived
	return r
}
