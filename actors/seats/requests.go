package seats

import (
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// Bounds of the requests.
const (
	maxKnown = 8_192 // pairs of room and agent whose seat is remembered
	maxDue   = 8_192 // requests that are due; an agent beyond it requests with its next act
)

// roomAgent is an agent that acts in a room.
type roomAgent struct {
	room  hub.RoomID
	agent hub.AgentID
}

// act is the last act of an agent in a room.
type act struct {
	after hub.Seq  // the record of the act
	at    hub.Time // 0: before this start
	taken bool     // the room decides now
}

// requests are the seats that are due: an agent has acted in a room and may have no
// seat there. requests remembers which agents have one, so that only the first act of
// an agent in a room costs anything.
//
// Requests are lost with the process and are derived again: a checkpoint waits for
// them, and a start goes through the records behind the checkpoint.
type requests struct {
	view    *view.View
	mu      sync.Mutex
	known   *bounded.Map[roomAgent, hub.Time] // when the room may be asked again; 0: it has a seat
	due     map[roomAgent]act
	derived bool          // the requests that an earlier process has left are among due
	wake    chan struct{} // something is due; capacity 1
}

func newRequests(v *view.View) *requests {
	return &requests{view: v, known: bounded.New[roomAgent, hub.Time](maxKnown), due: map[roomAgent]act{}, wake: make(chan struct{}, 1)}
}

// acts notes that an agent acts in a room. It does not wait.
func (q *requests) acts(a roomAgent, done act) {
	if a.room == "" || a.agent == "" || a.agent.Reserved() || a.agent.Watcher() || a.agent.Trial() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if again, ok := q.known.Get(a); ok && (again == 0 || done.at < again) {
		return
	}
	if _, ok := q.due[a]; ok || len(q.due) >= maxDue {
		return
	}
	q.due[a] = done
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// sits notes that an agent has a seat. If again is not 0, the agent has none, and the
// room is not asked before that time.
func (q *requests) sits(a roomAgent, again hub.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known.Put(a, again)
}

// left notes that an agent no longer has its seat.
func (q *requests) left(a roomAgent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known.Delete(a)
}

// shown learns from a committed record which seats have changed and which agents acted.
func (q *requests) shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind == core.OwnerRoom {
		room := hub.RoomID(r.Owner.Name)
		for _, f := range facts {
			switch f := f.(type) {
			case *core.SeatTaken:
				q.sits(roomAgent{room, f.Agent}, 0)
			case *core.SeatMoved:
				q.left(roomAgent{room, f.From})
				q.sits(roomAgent{room, f.Seat.AgentID}, 0)
			case *core.SeatFreed:
				q.left(roomAgent{room, f.Agent})
			}
		}
	}
	if r.Owner.Kind == core.OwnerLeases {
		for _, f := range facts {
			if f, ok := f.(*core.LeaseGranted); ok {
				q.claims(f.Agent, f.Task, act{after: r.Seq, at: r.Wall})
			}
		}
	}
	for i := range r.Messages {
		if a, ok := posterOf(&r.Messages[i]); ok {
			q.acts(a, act{after: r.Seq, at: r.Wall})
		}
	}
}

// posterOf returns the agent that posts into a room with a message. A direct message
// with the room's label counts for no room: it must not show where its sender is.
func posterOf(m *core.StoredMessage) (roomAgent, bool) {
	room, ok := m.Channel.Room()
	return roomAgent{room, m.From}, ok && m.To == ""
}

// claims notes that an agent claims a task of a room. A task that a direct message
// opened is hidden, and so is the agent that claims it.
func (q *requests) claims(agent hub.AgentID, task hub.TaskID, done act) {
	if task == 0 {
		return
	}
	if t, ok := q.view.Tasks.Get(task); ok && t.Task.RoomID != nil && (view.Viewer{}).Task(&t) {
		q.acts(roomAgent{*t.Task.RoomID, agent}, done)
	}
}

// take returns the requests that no room decides yet, and marks them.
func (q *requests) take() map[roomAgent]act {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := map[roomAgent]act{}
	for a, d := range q.due {
		if !d.taken {
			out[a] = d
			d.taken = true
			q.due[a] = d
		}
	}
	return out
}

// done ends a request that take returned.
func (q *requests) done(a roomAgent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.due, a)
}

// settled reports whether no request is due because of a record up to seq.
func (q *requests) settled(seq hub.Seq) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.due {
		if d.after <= seq {
			return false
		}
	}
	return q.derived
}

// allDerived notes that the requests of an earlier process are among those due.
func (q *requests) allDerived() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.derived = true
}
