package seats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

const (
	lanes       = 16          // seats that rooms decide about at once: they share commits
	roomFullFor = time.Minute // after a refusal, until the room is asked again
)

// Acts notes that an agent acts in a room now. It does not wait.
func (s *Seats) Acts(room hub.RoomID, agent hub.AgentID) {
	s.requests.acts(roomAgent{room, agent}, act{at: s.engine.Clock.Now().Wall})
}

// Shown learns from a committed record which seats have changed and which agents acted.
func (s *Seats) Shown(r *core.Record, facts []core.Fact) { s.requests.shown(r, facts) }

// Settled reports whether no seat is due because of a record up to seq.
func (s *Seats) Settled(seq hub.Seq) bool { return s.requests.settled(seq) }

// Serve has rooms decide about the seats that are due, until quit is closed. behind is
// the checkpoint that this start began with.
func (s *Seats) Serve(behind core.Head, quit <-chan struct{}) {
	s.derive(behind)
	free := make(chan struct{}, lanes)
	for {
		select {
		case <-s.requests.wake:
		case <-quit:
			return
		}
		var asked sync.WaitGroup
		for a, d := range s.requests.take() {
			free <- struct{}{}
			asked.Go(func() {
				if s.give(a, d) {
					s.requests.done(a)
				}
				<-free
			})
		}
		asked.Wait()
	}
}

// give has the room decide about a seat, unless the agent has one. It returns false if
// the hub stops before that.
func (s *Seats) give(a roomAgent, d act) bool {
	if _, err := s.view.SeatOf(a.room, a.agent); err == nil {
		s.requests.sits(a, 0)
		return true
	}
	_, _, err := s.request(context.Background(), a, d, true)
	if errors.Is(err, &hub.Error{Code: hub.CodeRoomFull}) {
		s.requests.sits(a, s.engine.Clock.Now().Wall+hub.Time(roomFullFor.Milliseconds()))
		return true
	}
	// After any other refusal the next act requests the seat again, or the next start.
	return err == nil || !s.engine.Stopping.Load()
}

// request has the room decide. late: the hub may be stopping, see engine.Command.
func (s *Seats) request(ctx context.Context, a roomAgent, d act, late bool) (core.StoredSeat, bool, error) {
	act := gate.Act{Op: "sit", Agent: a.agent, Room: a.room}
	return gate.Do(ctx, s.gate, &act, engine.JSONCodec[core.StoredSeat](engine.EffectSeat), func() (command, error) {
		_, err := s.view.Room(a.room)
		return s.command(ctx, a, d, late), err
	})
}

type command = engine.Command[*core.Room, core.StoredSeat, core.StoredSeat]

func (s *Seats) command(ctx context.Context, a roomAgent, d act, late bool) command {
	c := core.ActingCommand{Agent: a.agent, After: d.after, LongGone: func(agent hub.AgentID) bool {
		heard := hub.Time(0)
		if agent == a.agent {
			heard = d.at
		}
		gone, err := s.longGone(agent, heard, s.view.Directory.Doing(agent))
		return err == nil && gone
	}, By: s.view.StandingOf(ctx, a.agent, s.engine.Clock.Now().Wall)}
	if row, _, live := s.view.Directory.Session(a.agent); live {
		c.Harness = string(row.Harness())
	}
	return command{
		Owner: core.RoomOwner(a.room), Late: late,
		Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredSeat], error) { return r.SeatActing(c, now) },
		Answer: func(s core.StoredSeat, _ *core.Record) core.StoredSeat { return s },
	}
}

// derive notes the agents that acted after the checkpoint: the process may have ended
// before their rooms decided. An agent that holds a claim still acts.
func (s *Seats) derive(behind core.Head) {
	upTo := s.view.Ring.Visible()
	err := s.rows.Messages(view.PublicScope(), behind.Message, upTo, false, func(m *core.StoredMessage) bool {
		if a, ok := posterOf(m); ok {
			s.requests.acts(a, act{after: behind.Seq + 1})
		}
		return !s.engine.Stopping.Load()
	})
	if err == nil {
		_, err = s.view.Leases.List(core.SpaceClaim, func(l *core.Lease) bool {
			s.requests.claims(l.Agent, l.Task, act{after: behind.Seq + 1})
			return false
		})
	}
	if err != nil {
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "who acted in a room before this start is seen there when it acts again", slog.Any("error", err))
	}
	s.requests.allDerived()
}

// Settle waits, no longer than grace, until no request is due that the next start could
// not derive behind a checkpoint at seq.
func (s *Seats) Settle(seq hub.Seq, grace time.Duration) error {
	if s.requests.settled(seq) {
		return nil
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	over := time.NewTimer(grace)
	defer over.Stop()
	for !s.requests.settled(seq) {
		select {
		case <-tick.C:
		case <-s.engine.Failed:
			return s.engine.Cause
		case <-over.C:
			return fmt.Errorf("seats of agents that acted are still to be given: the records up to %d are kept", seq)
		}
	}
	return nil
}

// Sit says that an agent works in a room; see hub.Seats.
func (s *Seats) Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	now := s.engine.Clock.Now().Wall
	stored, replayed, err := s.request(ctx, roomAgent{room, in.AgentID}, act{at: now}, false)
	if err != nil {
		return hub.Outcome[hub.Seat]{}, err
	}
	row, err := s.seatAs(&stored, s.view.Directory.Doing(in.AgentID), view.ViewerOf(ctx, in.AgentID), now)
	if err == nil {
		row.Unread, err = s.view.Unread(in.AgentID, room)
	}
	return hub.Outcome[hub.Seat]{Row: row, Replayed: replayed}, err
}
