package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Bounds of the seats that are given to who acts in a room.
const (
	seatingKnown = 8_192           // pairs of room and agent that are remembered
	seatingDue   = 8_192           // that wait for their room; who comes later asks with its next act
	seatingLanes = 16              // that are asked at once: they share commits
	seatingAgain = time.Minute     // after a refusal, until the room is asked again
	seatingGrace = 5 * time.Second // that a checkpoint waits for what is due
	seatingEnds  = time.Second     // that the end of the hub does
)

// roomAgent is an agent that acts in a room.
type roomAgent struct {
	room  hub.RoomID
	agent hub.AgentID
}

// act is what a roomAgent has done there last, as far as it matters.
type act struct {
	after hub.Seq  // the record that it acted with
	at    hub.Time // 0: before this start
	taken bool     // its room is being asked
}

// seating has rooms give seats to agents that act in them and have not joined. The
// views of committed records and the calls tell it who acts; it asks the room's owner
// afterwards, so that nobody who posts waits for a second commit. It remembers whom
// it has asked for: only the first act in a room costs anything.
//
// What is due is lost with the process, and is derived again: a checkpoint waits for
// it, and a start goes through what came after the checkpoint.
type seating struct {
	view    *view.View
	mu      sync.Mutex
	known   map[roomAgent]hub.Time // when the room may be asked again; 0: it has a seat
	due     map[roomAgent]act
	derived bool          // what an earlier process has left is among it
	wake    chan struct{} // something is due; capacity 1
}

func newSeating(v *view.View) *seating {
	return &seating{view: v, known: map[roomAgent]hub.Time{}, due: map[roomAgent]act{}, wake: make(chan struct{}, 1)}
}

// acts notes that an agent acts in a room. It does not wait.
func (s *seating) acts(a roomAgent, done act) {
	if a.room == "" || a.agent == "" || a.agent.Reserved() || a.agent.Watcher() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if again, ok := s.known[a]; ok && (again == 0 || done.at < again) {
		return
	}
	if _, ok := s.due[a]; ok || len(s.due) >= seatingDue {
		return
	}
	s.due[a] = done
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sits notes that an agent has a seat, or again that the room is to be asked no
// earlier than then.
func (s *seating) sits(a roomAgent, again hub.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old := range s.known {
		if len(s.known) < seatingKnown {
			break
		}
		delete(s.known, old)
	}
	s.known[a] = again
}

// left notes that an agent has its seat no more.
func (s *seating) left(a roomAgent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, a)
}

// shown takes what a committed record says about seats, and who acted with it.
func (s *seating) shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind == core.OwnerRoom {
		room := hub.RoomID(r.Owner.Name)
		for _, f := range facts {
			switch f := f.(type) {
			case *core.SeatTaken:
				s.sits(roomAgent{room, f.Agent}, 0)
			case *core.SeatMoved:
				s.left(roomAgent{room, f.From})
				s.sits(roomAgent{room, f.Seat.AgentID}, 0)
			case *core.SeatFreed:
				s.left(roomAgent{room, f.Agent})
			}
		}
	}
	if r.Owner.Kind == core.OwnerLeases {
		for _, f := range facts {
			if f, ok := f.(*core.LeaseGranted); ok {
				s.claims(f.Agent, f.Task, act{after: r.Seq, at: r.Wall})
			}
		}
	}
	for i := range r.Messages {
		if a, ok := posterOf(&r.Messages[i]); ok {
			s.acts(a, act{after: r.Seq, at: r.Wall})
		}
	}
}

// posterOf returns who posts into a room with a message. A direct message with the
// room's label is seen by its parties only, and shows nobody where its sender is.
func posterOf(m *core.StoredMessage) (roomAgent, bool) {
	room, ok := m.Channel.Room()
	return roomAgent{room, m.From}, ok && m.To == ""
}

// claims notes who claims a task of a room. A task that a direct message opened is
// hidden, and so is who claims it.
func (s *seating) claims(agent hub.AgentID, task hub.TaskID, done act) {
	if task == 0 {
		return
	}
	if t, ok := s.view.Tasks.Get(task); ok && t.Task.RoomID != nil && (view.Viewer{}).Task(&t) {
		s.acts(roomAgent{*t.Task.RoomID, agent}, done)
	}
}

// take returns who is due and is not being asked for, and marks them.
func (s *seating) take() map[roomAgent]act {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[roomAgent]act{}
	for a, d := range s.due {
		if !d.taken {
			out[a] = d
			d.taken = true
			s.due[a] = d
		}
	}
	return out
}

// settle ends what take has begun.
func (s *seating) settle(a roomAgent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.due, a)
}

// settled reports whether nothing is due of what the records up to seq say.
func (s *seating) settled(seq hub.Seq) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.due {
		if d.after <= seq {
			return false
		}
	}
	return s.derived
}

// keepSeating asks rooms for seats until quit is closed.
func (h *Hub) keepSeating(behind core.Head, quit <-chan struct{}) {
	h.deriveSeating(behind)
	lanes := make(chan struct{}, seatingLanes)
	for {
		select {
		case <-h.seating.wake:
		case <-quit:
			return
		}
		var asked sync.WaitGroup
		for a, d := range h.seating.take() {
			lanes <- struct{}{}
			asked.Go(func() {
				if h.seatActor(a, d) {
					h.seating.settle(a)
				}
				<-lanes
			})
		}
		asked.Wait()
	}
}

// seatActor asks the room for a seat, unless the agent has one; false, if the hub
// stops before that is settled.
func (h *Hub) seatActor(a roomAgent, d act) bool {
	if _, err := h.view.SeatOf(a.room, a.agent); err == nil {
		h.seating.sits(a, 0)
		return true
	}
	_, _, err := h.takeActing(context.Background(), a, d, true)
	if errors.Is(err, &hub.Error{Code: hub.CodeRoomFull}) {
		h.seating.sits(a, h.engine.Clock.Now().Wall+hub.Time(seatingAgain.Milliseconds()))
		return true
	}
	// Whatever else refuses it, the next act asks again, or the next start.
	return err == nil || !h.engine.Stopping.Load()
}

// takeActing has the room decide; late as in write.
func (h *Hub) takeActing(ctx context.Context, a roomAgent, d act, late bool) (core.StoredSeat, bool, error) {
	c := core.ActingCommand{Agent: a.agent, After: d.after, LongGone: func(agent hub.AgentID) bool {
		heard := hub.Time(0)
		if agent == a.agent {
			heard = d.at
		}
		gone, err := h.longGone(agent, heard, h.view.Directory.Doing(agent))
		return err == nil && gone
	}}
	if row, _, live := h.view.Directory.Session(a.agent); live {
		c.Harness = string(row.Harness())
	}
	return engine.Submit(ctx, h.engine, engine.Command[*core.Room, core.StoredSeat, core.StoredSeat]{
		Owner: core.RoomOwner(a.room), Agent: a.agent, Late: late,
		Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredSeat], error) { return r.SeatActing(c, now) },
		Answer: func(s core.StoredSeat, _ *core.Record) core.StoredSeat { return s },
		Codec:  engine.JSONCodec[core.StoredSeat](engine.EffectSeat),
	})
}

// deriveSeating notes who acted after the checkpoint that this start has begun with:
// the process may have ended before its room was asked. Who holds a claim acts still.
func (h *Hub) deriveSeating(behind core.Head) {
	upTo := h.view.Ring.Visible()
	err := h.rows.Messages(view.PublicScope(), behind.Message, upTo, false, func(m *core.StoredMessage) bool {
		if a, ok := posterOf(m); ok {
			h.seating.acts(a, act{after: behind.Seq + 1})
		}
		return !h.engine.Stopping.Load()
	})
	if err == nil {
		_, err = h.view.Leases.List(core.SpaceClaim, func(l *core.Lease) bool {
			h.seating.claims(l.Agent, l.Task, act{after: behind.Seq + 1})
			return false
		})
	}
	if err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "who acted in a room before this start is seen there when it acts again", slog.Any("error", err))
	}
	h.seating.mu.Lock()
	defer h.seating.mu.Unlock()
	h.seating.derived = true
}

// settleSeating waits, no longer than grace, until nothing is due that a checkpoint up
// to seq would make the next start forget.
func (h *Hub) settleSeating(seq hub.Seq, grace time.Duration) error {
	if h.seating.settled(seq) {
		return nil
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	over := time.NewTimer(grace)
	defer over.Stop()
	for !h.seating.settled(seq) {
		select {
		case <-tick.C:
		case <-h.engine.Failed:
			return h.engine.Cause
		case <-over.C:
			return fmt.Errorf("seats of agents that acted are still to be given: the records up to %d are kept", seq)
		}
	}
	return nil
}

// Sit says that an agent works in a room; see hub.Seats.
func (h *Hub) Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	if _, err := h.view.Room(room); err != nil {
		return hub.Outcome[hub.Seat]{}, err
	}
	now := h.engine.Clock.Now().Wall
	stored, replayed, err := h.takeActing(ctx, roomAgent{room, in.AgentID}, act{at: now}, false)
	if err != nil {
		return hub.Outcome[hub.Seat]{}, err
	}
	row, err := h.seatAs(&stored, h.view.Directory.Doing(in.AgentID), view.ViewerOf(ctx, in.AgentID), now)
	if err == nil {
		row.Unread, err = h.view.Unread(in.AgentID, room)
	}
	return hub.Outcome[hub.Seat]{Row: row, Replayed: replayed}, err
}
