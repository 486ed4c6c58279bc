package core

import "hubcli/hub"

// placeForProject refuses a project for which its creator, or the hub, has no place.
// Archived projects take none. Error: limit_reached.
func (a *ProjectIndex) placeForProject(creator hub.AgentID, by Standing) error {
	if len(a.projects) >= hub.MaxKeptProjects {
		return errKept(hub.ClearProjects, "projects", hub.MaxKeptProjects)
	}
	if by == StandingOperator {
		return nil // and nothing is counted
	}
	return projectShare.Refuse(by, holdingOf(creator, func(count func(hub.AgentID)) {
		for _, p := range a.projects {
			switch {
			case p.project.Archived:
			case p.project.Imported != nil: // its creator is an agent of another hub
				count(hub.AgentOperator)
			default:
				count(p.project.MadeBy)
			}
		}
	}))
}

// roomBase is what a room takes in memory besides its texts.
const roomBase = 1 << 10

// roomBytes returns what a room takes in memory, roughly. Each text is there twice: in the
// state of the owner and in the view.
func roomBytes(r *hub.Room) int {
	return roomBase + 2*(len(r.Name)+len(r.Topic)+len(r.ForceReason))
}

// placeForRoom is placeForProject for a room of a project.
func (a *ProjectIndex) placeForRoom(room *hub.Room, by Standing) error {
	switch {
	case a.Len() >= hub.MaxKeptRooms:
		return errKept(hub.ClearRooms, "rooms", hub.MaxKeptRooms)
	case a.bytes+roomBytes(room) > hub.MaxKeptRoomBytes:
		return errKept(hub.ClearRooms, "bytes of rooms", hub.MaxKeptRoomBytes)
	case by == StandingOperator:
		return nil // and nothing is counted
	}
	one := func(*hub.Room) int { return 1 }
	for _, s := range []struct {
		share *Share
		of    hub.ProjectID // empty: of all
		takes func(*hub.Room) int
	}{{&projectRoomShare, room.ProjectID, one}, {&roomShare, "", one}, {&roomTextShare, "", roomBytes}} {
		h := weightsOf(room.CreatedBy, func(count func(hub.AgentID, int)) {
			a.EachRoom(s.of, func(r *hub.Room) {
				switch {
				case r.Archived:
				case a.imported(r):
					count(hub.AgentOperator, s.takes(r))
				default:
					count(r.CreatedBy, s.takes(r))
				}
			})
		})
		h.Adds = s.takes(room)
		if err := s.share.Refuse(by, h); err != nil {
			return err
		}
	}
	return nil
}

// imported reports whether a capsule brought a room: its creator is an agent of another hub.
func (a *ProjectIndex) imported(r *hub.Room) bool {
	p := a.projects[r.ProjectID]
	return p.project.Imported != nil && r.CreatedAt <= p.project.Imported.At
}

// limitReached is the error for one more thing than limit allows.
func limitReached(what string, limit int) *hub.Error {
	return hub.Errorf(hub.CodeLimitReached, "the hub has as many %s as it may have", what).
		With("limit", limit).With("what", what).WithFix("use an existing one")
}

// errKept is the error for more projects or rooms than the store keeps. It is the operator's
// too, who has archived most of them.
func errKept(kind hub.ClearKind, what string, limit int) error {
	return hub.Errorf(hub.CodeLimitReached, "the store keeps %d %s, archived ones included, and takes no more", limit, what).
		With("limit", limit).With("what", what).
		WithFix("use an existing one; the operator can delete those that are archived and hold nothing with `hubcli app clear " + string(kind) + " --delete`, or export what is needed into a new store")
}
