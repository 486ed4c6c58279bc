package seats

import (
	"cmp"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// seatAs shows a seat to a viewer, without the count of unread messages.
func (s *Seats) seatAs(seat *core.StoredSeat, d view.Doing, sees view.Viewer, now hub.Time) (hub.Seat, error) {
	row := hub.Seat{
		SeatID: seat.SeatID, RoomID: seat.RoomID, AgentID: seat.AgentID, Role: seat.Role, Harness: seat.Harness,
		JoinedAt: seat.JoinedAt, Presence: d.Presence(now), Listener: d.Listener(), Watching: []string{},
		SpawnID: core.Optional(seat.SpawnID),
	}
	if label, conditions, parked := s.watching(seat.AgentID); parked {
		row.Label, row.Watching = label, conditions
	}
	tasks := s.view.Tasks.Of(seat.AgentID, func(*core.StoredTask) bool { return true })
	var since hub.Time
	row.Activity, since = d.Activity(tasks, now)
	row.ActivitySince, row.PromptTool = core.Optional(since), d.PromptTool()
	row.CurrentTaskID = view.CurrentTask(tasks, sees)
	if d.Session != nil {
		row.Folder, row.Branch = d.Session.Place()
		row.SessionID, row.LastSeen = &d.Session.SessionID, &d.Session.LastSeen
		return row, nil
	}
	stored, err := s.view.AgentRow(seat.AgentID)
	if err != nil {
		return row, err
	}
	if stored == nil {
		row.LastSeen = core.Optional(s.lastCall(seat.AgentID))
		return row, nil
	}
	seen := stored.EndedAt
	if stored.EndReason == core.EndedIdle {
		seen -= hub.Time(hub.SessionIdleAfter.Milliseconds())
	}
	row.LastSeen = core.Optional(max(seen, s.lastCall(seat.AgentID)))
	return row, nil
}

// longGone reports whether an agent has been gone for so long that no page shows it.
// heard is when the caller heard of the agent last. The store does not say when an
// agent that never had a session called last: the start of the hub counts instead.
func (s *Seats) longGone(agent hub.AgentID, heard hub.Time, d view.Doing) (bool, error) {
	shown := s.engine.Clock.Now().Wall - hub.Time(hub.SeatListedFor.Milliseconds())
	if d.Session != nil || d.Parked || d.Watched || max(heard, s.lastCall(agent)) > shown {
		return false, nil
	}
	row, err := s.view.AgentRow(agent)
	switch {
	case err != nil:
		return false, err
	case row == nil || row.Session.Active:
		return s.started <= shown, nil
	}
	return row.EndedAt <= shown, nil
}

// seated is a seat with what its agent does.
type seated struct {
	core.StoredSeat
	doing    view.Doing
	presence hub.Presence
	longGone bool
}

// seatedIn returns the seats of a room: live agents first, then those that are away.
func (s *Seats) seatedIn(room hub.RoomID, now hub.Time) ([]seated, error) {
	stored, err := s.view.SeatsOf(room)
	if err != nil {
		return nil, err
	}
	rank := map[hub.Presence]int{hub.PresenceLive: 0, hub.PresenceAway: 1, hub.PresenceGone: 2}
	seats := make([]seated, len(stored))
	for i, seat := range stored {
		d := s.view.Directory.Doing(seat.AgentID)
		gone, err := s.longGone(seat.AgentID, seat.JoinedAt, d)
		if err != nil {
			return nil, err
		}
		seats[i] = seated{seat, d, d.Presence(now), gone}
	}
	slices.SortStableFunc(seats, func(a, b seated) int { return cmp.Compare(rank[a.presence], rank[b.presence]) })
	return seats, nil
}

// tailRows is how many of the latest messages of a room are read once for all its
// seats. The messages of an agent that has seen less are counted alone.
const tailRows = hub.MaxUnread + 200

// countUnreadOf fills in how many messages of the room the agent of each seat has not
// seen.
func (s *Seats) countUnreadOf(seats []hub.Seat, room hub.RoomID) error {
	counts := make([]view.UnreadIn, len(seats))
	since := hub.MessageID(hub.MaxMessageID)
	for i := range seats {
		counts[i] = s.view.UnreadOf(seats[i].AgentID)
		since = min(since, counts[i].Seen.InChannel(room.Channel()))
	}
	if len(seats) == 0 {
		return nil
	}
	tail, err := s.view.Tail(view.ChannelScope(room.Channel()), since, counts[0].Head, tailRows)
	if err != nil {
		return err
	}
	for i := range seats {
		u, n := &counts[i], 0
		count := func(m *core.StoredMessage) bool {
			if m.ID <= u.Head && u.Keeps(m) {
				n++
			}
			return n < hub.MaxUnread
		}
		if err := s.view.Later(view.InboxScope(u.Agent), u.Seen.InInbox(), u.Head, count); err != nil {
			return err
		}
		for j := 0; j < len(tail) && n < hub.MaxUnread; j++ {
			count(tail[j])
		}
		cut := len(tail) == tailRows && u.Seen.InChannel(room.Channel()) < tail[tailRows-1].ID
		if seats[i].Unread = n; cut && n < hub.MaxUnread {
			if seats[i].Unread, err = s.view.CountUnread(u, room); err != nil {
				return err
			}
		}
	}
	return nil
}
