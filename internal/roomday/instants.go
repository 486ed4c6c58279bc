package roomday

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"hubcli/hub"
)

// Instant is what the ordinary reads said of the room at a moment, as texts that are
// compared one by one.
type Instant struct {
	Seq   hub.Seq
	TS    hub.Time
	Lists map[string]string
	ends  map[string]hub.Time // when the leases would have ended
}

// endsWithin is by how much the end of a lease may differ, in milliseconds: both are made of
// two clocks, which are read one after the other.
const endsWithin = 50

// log logs an instant, unless something happens by itself while the room is looked at: a
// lease expires, or an agent that has posted gets its seat. The store may show a record to
// the ordinary reads before it counts as shown. So a record of the day's own follows: if it
// is the next one, there was none in between.
func (d *Day) log() {
	d.work.Lock()
	defer d.work.Unlock()
	before := d.now()
	at := Instant{Seq: before.LastSeq, TS: before.LastTS, Lists: map[string]string{}, ends: map[string]hub.Time{}}
	d.look(&at)
	spin(at.TS)
	_, err := d.hub.Agents.Remember(d.tb.Context(), hub.MemoryInput{
		RoomID: d.Room.RoomID, Scope: hub.ScopeRoom, Key: "looked", Text: fmt.Sprint("up to ", at.Seq), By: agent(0),
	})
	d.must(err)
	if d.now().LastSeq == at.Seq+1 {
		d.Log = append(d.Log, at)
	}
}

func (d *Day) now() hub.RoomMoment {
	m, err := d.hub.Operator.Moment(d.hub.AsOperator(d.tb.Context()), hub.MomentQuery{RoomID: d.Room.RoomID, Limit: 1})
	d.must(err)
	return m
}

// look reads the room as others do.
func (d *Day) look(at *Instant) {
	ctx, s, room := d.hub.AsOperator(d.tb.Context()), d.hub.Operator, d.Room.RoomID
	live, err := hub.All(ctx, s.Tasks, hub.TasksQuery{RoomID: room, Active: true, Limit: 1000})
	d.must(err)
	at.put("tasks", live[:min(len(live), 200)])
	all, _, err := s.Tasks(ctx, hub.TasksQuery{RoomID: room, Limit: 200})
	d.must(err)
	ended := slices.DeleteFunc(all, func(t hub.Task) bool { return !t.Status.Terminal() })
	at.put("ended tasks", ended[:min(len(ended), 50)])
	runs, _, err := s.Runs(ctx, hub.RunsQuery{RoomID: room})
	d.must(err)
	at.put("runs", runs)
	claims, err := hub.All(ctx, s.Claims, hub.LeasesQuery{RoomID: room, ActiveOnly: true})
	d.must(err)
	at.claims(claims)
	locks, err := hub.All(ctx, s.Locks, hub.LeasesQuery{RoomID: room, ActiveOnly: true})
	d.must(err)
	at.locks(locks)
	decisions, _, err := s.Decisions(ctx, hub.DecisionsQuery{RoomID: room, Limit: 50})
	d.must(err)
	at.put("decisions", decisions)
	artifacts, _, err := s.Artifacts(ctx, hub.ArtifactsQuery{RoomID: room, Latest: true, Limit: 50})
	d.must(err)
	at.put("artifacts", artifacts)
	memories, _, err := s.Recall(ctx, hub.MemoryQuery{RoomID: room, Limit: 50})
	d.must(err)
	at.put("memories", memories)
	status, err := s.RoomStatus(ctx, hub.StatusQuery{RoomID: room, All: true})
	d.must(err)
	seats, seated := []hub.MomentSeat{}, map[hub.AgentID]bool{}
	for _, seat := range status.Seats {
		seated[seat.AgentID] = true
		seats = append(seats, hub.MomentSeat{SeatID: seat.SeatID, AgentID: seat.AgentID, Role: seat.Role, Harness: seat.Harness, JoinedAt: seat.JoinedAt})
	}
	at.seats(seats)
	pauses, err := s.Pauses(ctx)
	d.must(err)
	at.put("pauses", slices.DeleteFunc(pauses, func(p hub.Pause) bool {
		return !p.All && (p.RoomID == nil || *p.RoomID != room) && (p.AgentID == nil || !seated[*p.AgentID])
	}))
	page, err := s.Messages(ctx, hub.MessagesQuery{Channel: d.Room.Channel, Tail: true, Limit: 100})
	d.must(err)
	at.put("messages", page.Rows)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range d.told {
		if id > page.NextSinceID {
			d.tb.Errorf("message %d was acknowledged and is not shown", id)
		}
	}
}

func (at *Instant) put(name string, rows any) { at.Lists[name] = Rows(rows) }

// Rows is a list in the form of the log.
func Rows(list any) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	if string(b) == "null" { // a list without rows
		return "[]"
	}
	return string(b)
}

func (at *Instant) seats(seats []hub.MomentSeat) {
	slices.SortFunc(seats, func(a, b hub.MomentSeat) int { return cmp.Compare(a.AgentID, b.AgentID) })
	at.put("seats", seats)
}

func (at *Instant) claims(claims []hub.Claim) {
	for i := range claims {
		c := &claims[i]
		at.ends["claim "+string(c.ClaimKey)] = c.ExpiresAt
		c.ExpiresAt, c.Waiters = 0, nil
	}
	slices.SortFunc(claims, func(a, b hub.Claim) int { return cmp.Compare(a.ClaimKey, b.ClaimKey) })
	at.put("claims", claims)
}

func (at *Instant) locks(locks []hub.Lock) {
	for i := range locks {
		l := &locks[i]
		at.ends["lock "+l.FilePath] = l.ExpiresAt
		l.ExpiresAt, l.Waiters = 0, nil
	}
	slices.SortFunc(locks, func(a, b hub.Lock) int { return cmp.Compare(a.FilePath, b.FilePath) })
	at.put("locks", locks)
}

// of is what a replay says, in the form of the log.
func of(m *hub.RoomMoment) Instant {
	at := Instant{Seq: m.Seq, TS: m.TS, Lists: map[string]string{}, ends: map[string]hub.Time{}}
	at.put("tasks", m.Tasks)
	at.put("ended tasks", m.EndedTasks)
	runs := slices.Clone(m.Runs)
	slices.SortFunc(runs, func(a, b hub.Run) int {
		return cmp.Or(cmp.Compare(len(b.RunID), len(a.RunID)), cmp.Compare(b.RunID, a.RunID))
	})
	at.put("runs", runs)
	at.claims(m.Claims)
	at.locks(m.Locks)
	at.put("decisions", m.Decisions)
	at.put("artifacts", m.Artifacts)
	at.put("memories", m.Memories)
	at.seats(m.Seats)
	at.put("pauses", m.Pauses)
	at.put("messages", m.Messages)
	return at
}

// Compare asks for each of these instants, by its record or by its time, and reports every
// difference from the log. It returns how many it has found.
//
// What the hub does by itself may have been decided before an instant, and be visible after
// it: the record has the earlier time. Such an instant is not compared by its time. There
// must be few of them.
func (d *Day) Compare(tb testing.TB, instants []Instant, byTime bool) (differences int) {
	tb.Helper()
	ctx := d.hub.AsOperator(tb.Context())
	late := 0
	for _, want := range instants {
		q := hub.MomentQuery{RoomID: d.Room.RoomID, Seq: want.Seq}
		if byTime {
			q.Seq, q.At = 0, want.TS
		}
		m, err := d.hub.Operator.Moment(ctx, q)
		if err != nil {
			tb.Fatalf("the moment after record %d: %v", want.Seq, err)
		}
		if byTime && m.Seq > want.Seq && m.TS <= want.TS {
			late++
			continue
		}
		got := of(&m)
		if !m.Kept || got.Seq != want.Seq {
			tb.Errorf("the moment %d is %d, kept %t", want.Seq, got.Seq, m.Kept)
			differences++
		}
		for name, rows := range want.Lists {
			if got.Lists[name] != rows {
				differences++
				if differences < 5 {
					tb.Errorf("%s after record %d (by time: %t):\n%s\nand were\n%s", name, want.Seq, byTime, got.Lists[name], rows)
				}
			}
		}
		for name, end := range want.ends {
			if by := got.ends[name] - end; by > endsWithin || by < -endsWithin {
				differences++
				tb.Errorf("the %s after record %d ends %d ms later", name, want.Seq, by)
			}
		}
	}
	if late > 2+len(instants)/10 {
		tb.Errorf("before %d of %d instants something was decided that was visible after them", late, len(instants))
		differences++
	}
	return differences
}
