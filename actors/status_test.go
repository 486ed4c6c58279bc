package actors

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// The longest lists of a room's status, and the messages that are read for all seats.
const (
	statusSeats     = 100
	statusTasks     = 50
	statusRuns      = 20
	statusDecisions = 10
	tailRows        = hub.MaxUnread + 200
)

func (r *rig) status(room hub.RoomID, viewer hub.AgentID) hub.RoomStatus {
	r.t.Helper()
	s, err := r.RoomStatus(r.t.Context(), hub.StatusQuery{RoomID: room, Viewer: viewer})
	if err != nil {
		r.t.Fatalf("status: %v", err)
	}
	return s
}

// The page of a room: what belongs to it and nothing else, for each viewer what it
// may see, lists cut and counts whole.
func TestRoomStatus(t *testing.T) {
	r := start(t, newMemStore())
	room := r.roomWithSeats(names[hub.AgentID]("seat", 130)...)
	r.register("seat7")
	r.register("other")
	inRoom := func(in hub.PostInput) hub.MessageID {
		in.FromAgent, in.Channel = "lead", room.Channel
		return r.post(in).ID
	}
	var last hub.TaskID
	for range statusTasks + 3 {
		last = inRoom(hub.PostInput{Kind: hub.KindTask, Body: "open"})
	}
	secret := inRoom(hub.PostInput{ToAgent: "seat7", Kind: hub.KindTaskRequest, Body: "secret"})
	ended := inRoom(hub.PostInput{Kind: hub.KindTask, Body: "ended"})
	if _, err := r.CompleteTask(t.Context(), ended, hub.CompleteInput{}); err != nil {
		t.Fatal(err)
	}
	r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "elsewhere"})
	for i := range statusRuns + 2 { // every other one ends
		out, err := r.CreateRun(t.Context(), hub.RunInput{Title: fmt.Sprint(i), RoomID: room.RoomID})
		require.NoError(t, err)
		if id := r.inRun(out.Row.RunID, "x"); i%2 == 0 {
			if _, err := r.CompleteTask(t.Context(), id, hub.CompleteInput{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.claim("seat7", "held by a seat", 600)
	r.claim("stranger", "nothing to do with it", 600)
	if _, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "other", TaskMessageID: last, TTLSec: 600}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(t.Context(), hub.LockInput{AgentID: "seat7", FilePath: `a\b`, TTLSec: 600}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(t.Context(), hub.LockInput{AgentID: "stranger", FilePath: "c", TTLSec: 600}); err != nil {
		t.Fatal(err)
	}

	for i := range statusDecisions + 2 {
		if _, err := r.AddDecision(t.Context(), hub.DecisionInput{RoomID: room.RoomID, Title: fmt.Sprint(i), By: "seat7"}); err != nil {
			t.Fatal(err)
		}
	}

	r.seatsSettled() // lead has posted, other has a claim on a task
	s := r.status(room.RoomID, "seat7")
	if len(s.Decisions) != statusDecisions || s.Decisions[0].Title != "11" {
		t.Errorf("decisions %+v", s.Decisions)
	}
	if len(s.Seats) != statusSeats || s.SeatCount != 132 || s.GoneCount != 0 || s.Seats[1].AgentID != "seat7" || s.Seats[1].Presence != hub.PresenceLive {
		t.Errorf("%d of %d seats, second %+v", len(s.Seats), s.SeatCount, s.Seats[1])
	}
	if len(s.NotListening) != 0 {
		t.Errorf("%v have just called, and are not said to listen to nothing", s.NotListening)
	}
	if len(s.OpenTasks) != statusTasks || s.OpenTaskCount != statusTasks+4 || s.OpenTasks[0].TaskID != secret {
		t.Errorf("%d of %d tasks, first %+v", len(s.OpenTasks), s.OpenTaskCount, s.OpenTasks[0])
	}
	if len(s.Runs) != statusRuns || s.RunCount != statusRuns/2+1 || s.Runs[0].Title != "21" || s.Runs[s.RunCount].Title != "20" || s.Runs[s.RunCount].Status != hub.RunComplete {
		t.Errorf("%d runs, %d running: %+v", len(s.Runs), s.RunCount, s.Runs)
	}
	if s.ClaimCount != 2 || s.Claims[0].Key != "held by a seat" || s.Claims[1].TaskMessageID == nil || *s.Claims[1].TaskMessageID != last {
		t.Errorf("claims %+v", s.Claims)
	}
	if s.LockCount != 1 || s.Locks[0].Key != `a\b` || s.Locks[0].ExpiresInSec < 500 || s.Locks[0].AgeSec > 60 {
		t.Errorf("locks %+v", s.Locks)
	}
	if want := statusTasks + 3 + 1 + 1 + statusRuns/2 + 1; s.Unread != want || s.Seats[1].Unread != want || s.Seats[3].Unread != want-1+statusDecisions+2 {
		t.Errorf("unread %d, of the seats %d and %d, want %d: the tasks, the direct one, the ends of runs; and its own decisions are not", s.Unread, s.Seats[1].Unread, s.Seats[3].Unread, want)
	}
	if got := s.More.Lists(); !slices.Equal(got, []string{"open_tasks", "seats"}) {
		t.Errorf("these lists lack rows: %v", got)
	}
	if b, err := json.Marshal(s); err != nil || len(b) > 256<<10 {
		t.Errorf("a page of %d bytes, %v", len(b), err)
	}
	if other := r.status(room.RoomID, ""); other.OpenTaskCount != statusTasks+3 || other.OpenTasks[0].TaskID == secret || other.Unread != 0 {
		t.Errorf("nobody in particular sees %d tasks, first %+v", other.OpenTaskCount, other.OpenTasks[0])
	}
	_, err := r.RoomStatus(t.Context(), hub.StatusQuery{RoomID: "r_zz"})
	wantCode(t, err, hub.CodeRoomNotFound)
}

// What is unread of a seat is counted alone or with the others alike, whether its
// messages are in the ring or not.
func TestUnreadOfSeats(t *testing.T) {
	for _, ring := range []int{0, 20_000} {
		r := start(t, newMemStore(), func(o *Options) { o.RingBytes = ring })
		room := r.roomWithSeats("ann", "bob", "cid")
		for i := range tailRows + 100 {
			from := hub.AgentID("ann")
			if i < 500 {
				from = "bob"
			}
			m := hub.PostInput{FromAgent: from, Channel: room.Channel, Body: "x"}
			if i%100 == 0 {
				m.ToAgent = "cid"
			}
			r.post(m)
		}
		if _, err := r.Events(t.Context(), hub.EventsQuery{Agent: "cid", RoomID: room.RoomID, Since: 900, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		for _, seat := range r.status(room.RoomID, "").Seats {
			want, err := r.view.Unread(seat.AgentID, room.RoomID)
			if err != nil || seat.Unread != want || want == 0 {
				t.Errorf("ring of %d: %s has %d unread, %v, want %d", ring, seat.AgentID, seat.Unread, err, want)
			}
		}
	}
}
