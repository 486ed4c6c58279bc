package asleep

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// looked is what a look at an agent has found.
type looked struct {
	mail
	nobody bool     // nobody has ever used its id: who never was does not sleep; see Undelivered
	again  hub.Time // when it may be asleep; 0: it is asleep now
}

// mail is the direct messages to an agent that it has neither seen nor been told of.
type mail struct {
	unread int                 // up to hub.MaxUnread
	first  *core.StoredMessage // of these
	from   []hub.AgentID       // who wrote them, at most hub.MaxUndeliveredFrom

	// Of the inbox it is what keeps keeps behind since, up to head.
	since, head hub.MessageID
	keeps       func(*core.StoredMessage) bool
}

// mailOf finds the mail of an agent.
func (s *Asleep) mailOf(agent hub.AgentID) (out mail, err error) {
	u := s.view.UnreadOf(agent)
	out.since, out.head = max(u.Seen.InInbox(), u.Seen.Told), u.Head
	out.keeps = func(m *core.StoredMessage) bool {
		if !u.Keeps(m) || !s.wakes(m) {
			return false
		}
		offer, known := s.view.Offers.Of(agent, m.ID)
		return !known || offer.By != hub.OfferedByPoll // else the agent itself has fetched it
	}
	err = s.view.Later(view.InboxScope(agent), out.since, out.head, func(m *core.StoredMessage) bool {
		if !out.keeps(m) {
			return true
		}
		if out.unread++; out.first == nil {
			row := *m
			out.first = &row
		}
		if len(out.from) < hub.MaxUndeliveredFrom && !slices.Contains(out.from, m.From) {
			out.from = append(out.from, m.From)
		}
		return out.unread < hub.MaxUnread
	})
	return out, err
}

// look decides whether an agent is asleep. A call of the agent, or a poll or watch that
// waits, means that it is awake, for hub.AsleepAfter from then.
func (s *Asleep) look(agent hub.AgentID, now hub.Time) (out looked, err error) {
	if next, err := s.view.Successor(agent); err != nil || next != agent {
		return out, err // its messages go to its successor
	}
	if s.view.Retired.Since(agent) != 0 {
		return out, nil // nobody expects it to wake
	}
	if out.nobody, err = s.nobody(agent); err != nil {
		return out, err
	}
	if out.mail, err = s.mailOf(agent); err != nil || out.nobody || out.unread == 0 {
		return out, err
	}
	d := s.view.Directory.Doing(agent)
	awake := max(out.first.TS, d.Acted, s.lastCall(agent), s.started)
	if d.Parked || d.Listener() == hub.ListenerArmed {
		awake = now
	}
	if now-awake < after {
		out.again = awake + after
	}
	return out, nil
}

// tend looks at an agent that is due, and tells its room if it is asleep.
func (s *Asleep) tend(agent hub.AgentID) {
	now := s.engine.Clock.Now().Wall
	got, err := s.look(agent, now)
	if err == nil && got.unread > 0 && got.again == 0 && !got.nobody {
		err = s.tell(agent, &got)
	}
	switch {
	case err != nil:
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "a room was not told of an agent that is asleep",
			slog.String("agent", string(agent)), slog.Any("error", err))
		s.put(agent, entry{due: now + after}) // try again
	case got.unread > 0:
		s.put(agent, entry{due: got.again, since: got.first.TS})
	}
}

// stillAsleep looks again at an agent of which its room was told. nil: it has woken, or
// its messages are too old to be shown.
func (s *Asleep) stillAsleep(agent hub.AgentID) *hub.AsleepAgent {
	now := s.engine.Clock.Now().Wall
	got, err := s.look(agent, now)
	switch {
	case err != nil:
		return nil
	case got.unread == 0, now-got.first.TS > hub.Time(listedFor.Milliseconds()):
		s.forget(agent)
		return nil
	case got.nobody: // it is asleep once somebody has registered it, and is silent
		return nil
	case got.again != 0:
		s.note(agent, got.again)
		return nil
	}
	out := hub.AsleepAgent{AgentID: agent, Unread: got.unread, Since: got.first.TS}
	if room, err := s.roomOf(agent, got.first); err == nil {
		out.RoomID = core.Optional(room)
	}
	if row, err := s.view.AgentRow(agent); err == nil && row != nil {
		out.Closed = !row.Session.Active && row.EndReason == core.EndedClosed
	}
	return &out
}

// roomOf returns the room that a message is about, else the room that the agent joined
// last; empty: there is none.
func (s *Asleep) roomOf(agent hub.AgentID, m *core.StoredMessage) (hub.RoomID, error) {
	if room := s.view.RoomOf(m.Channel); room != "" {
		return room, nil
	}
	rooms, err := s.view.RoomsOf(agent)
	if err != nil || len(rooms) == 0 {
		return "", err
	}
	return rooms[0], nil
}

// tell posts the notice to the agent's room, unless it stands there already: a spell
// lasts until the agent has seen its first unread message or was told of it.
func (s *Asleep) tell(agent hub.AgentID, got *looked) error {
	room, err := s.roomOf(agent, got.first)
	if err != nil || room == "" {
		return err
	}
	told := false
	err = s.view.Later(view.ChannelScope(room.Channel()), got.first.ID, s.view.Ring.Visible(), func(m *core.StoredMessage) bool {
		told = told || isNotice(m, agent)
		return !told
	})
	if err != nil || told {
		return err
	}
	if paused, err := s.view.Paused(agent, ""); err != nil || paused != nil {
		return err // the operator knows; the notice that resumes the agent is looked at anew
	}
	r, err := s.recipient(agent)
	if err != nil {
		return err
	}
	m := core.AsleepNotice(hub.AsleepAgent{AgentID: agent, RoomID: &room, Unread: got.unread, Since: got.first.TS}, r.Why())
	_, _, err = engine.Submit(context.Background(), s.engine, engine.Command[*core.Channel, hub.MessageID, struct{}]{
		Owner: core.ChannelOwner(m.Channel), Size: len(m.Body) + len(m.Metadata),
		Decide: func(c *core.Channel, _ core.Now) (core.Decision[hub.MessageID], error) { return c.Post(m), nil },
		Answer: func(hub.MessageID, *core.Record) struct{} { return struct{}{} },
	})
	return err
}

// isNotice reports whether a message tells that the agent is asleep.
func isNotice(m *core.StoredMessage, agent hub.AgentID) bool {
	if m.From != hub.AgentSystem || !bytes.Contains(m.JSON, []byte(`"asleep"`)) {
		return false
	}
	var row struct {
		Metadata struct {
			Asleep hub.AsleepAgent `json:"asleep"`
		} `json:"metadata"`
	}
	return json.Unmarshal(m.JSON, &row) == nil && row.Metadata.Asleep.AgentID == agent
}
