package core

import (
	"cmp"
	"maps"
	"slices"

	"hubcli/hub"
)

// A store that others have made is adopted: the operator takes it over. What its maker had
// the hub run, call or allow goes, by ordinary facts of the owners; what agents have
// written stays. Each of these drafts is empty where nothing is left to go, so that an
// adoption that was interrupted can begin again.

// Disowned decides that the operator is told of nothing, no pass is in force and no
// harness has a surface of its own.
func (s *Settings) Disowned() (d Draft) {
	if n := s.notify; len(n.Command) > 0 || n.Webhook != "" || n.Remote {
		to := NoNotify()
		to.Version = n.Version + 1
		d.Facts = append(d.Facts, &NotifySet{Notify: to})
	}
	for _, row := range s.Passes.List() {
		d.Facts = append(d.Facts, &PassEnded{Pass: row.PassID})
	}
	for _, h := range slices.Sorted(maps.Keys(s.surfaces)) {
		d.Facts = append(d.Facts, &ToolSurfaceSet{Harness: h})
	}
	return d
}

// Disowned decides that nothing may be spawned. Running spawns are no matter of the
// policy: their processes ended with the hub that had them.
func (s *Spawns) Disowned() (d Draft) {
	p := s.policy
	if len(p.Commands) == 0 && len(p.Allow) == 0 && !p.Remote {
		return d
	}
	to := NoSpawns()
	to.Version = p.Version + 1
	d.Facts = append(d.Facts, &SpawnPolicySet{Policy: to})
	return d
}

// Disowned decides that permission prompts are not the hub's.
func (a *Asks) Disowned() (d Draft) {
	if p := a.permissions; p.On || len(p.Rules) > 0 {
		to := NoPermissions()
		to.Version = p.Version + 1
		d.Facts = append(d.Facts, &PermissionsSet{Policy: to})
	}
	return d
}

// Disowned decides that there are no connections. The keys that they name are left alone:
// they are not those of this machine.
func (c *Connections) Disowned() (d Draft) {
	for _, id := range slices.Sorted(maps.Keys(c.held)) {
		d.Facts = append(d.Facts, &ConnectionModelsSet{ConnectionID: id}, &ConnectionDeleted{ConnectionID: id})
	}
	return d
}

// Disowned decides that no room has a folder of this machine, and none allows its browser
// a host.
func (p *Projects) Disowned() (d Draft) {
	rooms := slices.SortedFunc(maps.Values(p.index.rooms), func(a, b *StoredRoom) int { return cmp.Compare(a.Room.RoomID, b.Room.RoomID) })
	for _, r := range rooms {
		if len(r.Folders) > 0 {
			f := &RoomUnbound{Room: r.Room.RoomID, By: hub.AgentOperator}
			for _, folder := range r.Folders {
				f.Plain = append(f.Plain, folder.Plain)
			}
			d.Facts = append(d.Facts, f)
		}
		for _, host := range r.Room.AllowedHosts {
			d.Facts = append(d.Facts, &HostAllowed{Room: r.Room.RoomID, Host: host, Removed: true})
		}
	}
	return d
}

// Disowned decides that no invite is active: their codes were made with a key that others
// know.
func (r *Room) Disowned() (d Draft) {
	for _, id := range slices.Sorted(maps.Keys(r.invites)) {
		d.Facts = append(d.Facts, &InviteEnded{Invite: id, State: hub.InviteRevoked})
	}
	return d
}
