package core

import "hubcli/hub"

// placeForInvite refuses an invite for which its maker, or the room, has no place. The
// invites that facts end take none. Error: room_full.
func (r *Room) placeForInvite(maker hub.AgentID, by Standing, facts []Fact) error {
	ends := map[hub.InviteID]bool{}
	for _, f := range facts {
		if f, ok := f.(*InviteEnded); ok {
			ends[f.Invite] = true
		}
	}
	return inviteShare.Refuse(by, holdingOf(maker, func(count func(hub.AgentID)) {
		for id, i := range r.invites {
			if !ends[id] {
				count(i.By)
			}
		}
	}))
}

// placeForSeat decides whether an agent may join by an invite. Where there is no
// place, an earlier seat may be freed for it, which it returns: of the same maker if that
// one has its share, else the one that makesRoom says. Error: room_full.
func (r *Room) placeForSeat(invite *StoredInvite, c *AcceptCommand, now Now) (freed *StoredSeat, err error) {
	maker, by := invite.By, c.Standing(invite.By, invite.Proved)
	h := holdingOf(maker, func(count func(hub.AgentID)) {
		for _, s := range r.seats {
			if s.InviteID != "" {
				count(s.By)
			}
		}
	})
	h.All = len(r.seats)
	refusal := seatShare.Refuse(by, h)
	if refusal == nil && len(r.seats) < hub.MaxRoomSeats {
		return nil, nil
	}
	var seat StoredSeat
	var ok bool
	h.All = 0
	if seatShare.Refuse(by, h) != nil { // the maker has its share, however many others there are
		seat, ok = r.oldestGone(c.Gone, now, func(s *StoredSeat) bool { return s.InviteID != "" && s.By == maker })
	} else {
		seat, ok = r.makesRoom(c.Gone, now)
	}
	if ok {
		return &seat, nil
	}
	return nil, refusal // nil for the operator, who gets a seat beyond the limit
}
