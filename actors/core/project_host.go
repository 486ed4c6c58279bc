package core

import (
	"slices"

	"hubcli/hub"
)

// HostAllowed says that the operator allows the browser of a room a host, or no more.
type HostAllowed struct {
	Room    hub.RoomID      `json:"room"`
	Host    hub.AllowedHost `json:"host"`
	Removed bool            `json:"removed,omitempty"`
}

// FactType implements Fact.
func (*HostAllowed) FactType() FactType { return factHostAllowed }

// set returns the room after the fact.
func (f *HostAllowed) set(r StoredRoom) StoredRoom {
	hosts := slices.Clone(r.Room.AllowedHosts) // the row that is shown is not changed
	at, found := slices.BinarySearch(hosts, f.Host)
	switch {
	case f.Removed && found:
		hosts = slices.Delete(hosts, at, at+1)
	case !f.Removed && !found:
		hosts = slices.Insert(hosts, at, f.Host)
	}
	r.Room.AllowedHosts = hosts
	return r
}

// AllowHost decides what the browser of a room may reach. The host is in its canonical
// form. If that is so already, nothing changes. Errors: room_not_found, limit_reached.
func (p *Projects) AllowHost(id hub.RoomID, in hub.AllowHostInput) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	room := stored.Room
	if slices.Contains(room.AllowedHosts, in.Host) != in.Remove {
		return answering(room), nil
	}
	if !in.Remove && len(room.AllowedHosts) >= hub.MaxAllowedHosts {
		return Decision[hub.Room]{}, hub.Errorf(hub.CodeLimitReached, "the room allows %d hosts, and there cannot be more", hub.MaxAllowedHosts).
			With("limit", hub.MaxAllowedHosts).WithFix("take back one that is not needed")
	}
	f := &HostAllowed{Room: id, Host: in.Host, Removed: in.Remove}
	return answering(f.set(stored).Room, f), nil
}
