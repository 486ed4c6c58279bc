package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// seatRow returns the seat of an agent as another agent sees it.
func (r *rig) seatRow(room hub.RoomID, agent, by hub.AgentID) hub.Seat {
	r.t.Helper()
	s, err := r.RoomStatus(r.t.Context(), hub.StatusQuery{RoomID: room, Viewer: by, All: true})
	require.NoError(r.t, err)
	for i := range s.Seats {
		if s.Seats[i].AgentID == agent {
			return s.Seats[i]
		}
	}
	r.t.Fatalf("%s has no seat", agent)
	return hub.Seat{}
}

// roomWithSeats makes a room in which these agents have seats. The rows are put as
// an accepted invite gives them.
func (r *rig) roomWithSeats(agents ...hub.AgentID) hub.Room {
	r.t.Helper()
	if _, err := r.CreateProject(r.t.Context(), hub.ProjectInput{Name: "P"}); err != nil {
		r.t.Fatal(err)
	}
	out, err := r.CreateRoom(r.t.Context(), hub.RoomInput{Project: "p", Name: "Room"})
	require.NoError(r.t, err)
	r.seat(out.Row.RoomID, agents...)
	return out.Row
}

func (r *rig) seat(room hub.RoomID, agents ...hub.AgentID) {
	r.t.Helper()
	var rows []core.Row
	for i, agent := range agents {
		s := core.StoredSeat{SeatID: hub.SeatID(core.IDAt(core.PrefixSeat, hub.Seq(i+1))), RoomID: room, AgentID: agent, Role: "dev"}
		rows = append(rows, core.Row{Table: core.TableSeat, Key: core.SeatKey(room, agent), Value: engine.EncodeEffect(s)},
			core.Row{Table: core.TableSeatByAgent, Key: core.SeatByAgentKey(agent, s.SeatID), Value: []byte(room)})
	}
	require.NoError(r.t, r.journal.PutRows(rows))
}

// looks is a seat in short, with how long its activity has lasted.
func (r *rig) looks(room hub.RoomID, agent hub.AgentID) string {
	r.t.Helper()
	row := r.seatRow(room, agent, "")
	since := "unknown"
	if row.ActivitySince != nil {
		since = fmt.Sprint(time.Duration(hub.TimeOf(time.Now())-*row.ActivitySince) * time.Millisecond)
	}
	task := ""
	if row.CurrentTaskID != nil {
		task = fmt.Sprint(" on ", *row.CurrentTaskID)
	}
	return fmt.Sprintf("%s %s %s %s%s", row.Presence, row.Activity, since, row.Listener, task)
}

// The states of a seat through an agent's day, by the contract: presence and
// activity follow from its session, its calls, its parked calls and its tasks.
func TestSeatThroughTheDay(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("ann").RoomID
		want := func(when, want string) {
			t.Helper()
			if got := r.looks(room, "ann"); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		parked := func(agent hub.AgentID, wait time.Duration) {
			go func() {
				_, _ = r.Events(t.Context(), hub.EventsQuery{Agent: agent, Since: 1 << 50, Limit: 1, Wait: wait})
			}()
			synctest.Wait()
		}
		status := func(id hub.TaskID, s hub.TaskStatus) {
			t.Helper()
			if _, err := r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: "ann", Status: &s}); err != nil {
				t.Fatal(err)
			}
		}
		want("before it ever came", "gone idle unknown unknown")
		r.register("ann")
		time.Sleep(10 * time.Second)
		want("it has registered", "live working 10s none")
		time.Sleep(40 * time.Second)
		r.Touch("ann", false)
		time.Sleep(30 * time.Second)
		want("one call after the other", "live working 1m20s none")
		time.Sleep(29 * time.Second)
		r.Touch("ann", true)
		time.Sleep(2 * time.Second)
		want("a poll is no work", "live idle 1s none")
		time.Sleep(61 * time.Second)
		want("silent for a minute", "away idle 1m2s none")

		parked("ann", 30*time.Second)
		time.Sleep(20 * time.Second)
		want("it polls", "live waiting 20s armed")
		time.Sleep(11 * time.Second)
		want("the poll is over", "live idle 1s none")
		parked("ann", 30*time.Second)
		time.Sleep(5 * time.Second)
		want("the next poll goes on with the same wait", "live waiting 36s armed")
		time.Sleep(26 * time.Second)

		id := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "x"}).ID
		status(id, hub.TaskWorking)
		time.Sleep(20 * time.Second)
		want("it works on a task; the call was nobody's", "live working 20s none")
		status(id, hub.TaskInputRequired)
		time.Sleep(7 * time.Second)
		parked("ann", 10*time.Second)
		want("a task of it needs input, whatever else it does", "live blocked 7s armed")
		status(id, hub.TaskDone)
		time.Sleep(3 * time.Second)
		want("it is not blocked any more, and still polls", "live waiting 3s armed")
		time.Sleep(8 * time.Second)

		r.claim("bob", "k", 600)
		go func() {
			_, _ = r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 60, WaitSec: 5})
		}()
		synctest.Wait()
		want("who waits for a lease is not woken by a message", "live waiting 11s none")
		time.Sleep(6 * time.Second)
		parked("ann.watch", 50*time.Second)
		time.Sleep(40 * time.Second)
		want("a watch is no activity, but it listens", "live idle 41s armed")
		parked("ann.watch", 55*time.Second)
		time.Sleep(55 * time.Second)
		parked("ann.watch", 55*time.Second)
		time.Sleep(50 * time.Second)
		want("a watch is presence", "live idle 2m26s armed")
		time.Sleep(3 * time.Minute)
		want("its core.SessionProof has ended", "gone idle unknown unknown")
		if row := r.seatRow(room, "ann", ""); row.SessionID != nil || row.LastSeen == nil || row.Role != "dev" {
			t.Errorf("%+v", row)
		}
	})
}

// A watch shows on its agent's seat as long as it waits.
func TestSeatShowsItsWatch(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("ann", "bob")
		r.register("ann")
		r.register("bob")
		time.Sleep(hub.SeatWorkingFor)
		until := hub.Condition{Kind: hub.UntilMessageFrom, Text: "message-from:bob", Agent: "bob"}
		watch := async(func() (hub.Watched, error) {
			return r.Watch(t.Context(), hub.WatchQuery{Agent: "ann", Room: room.RoomID, Until: []hub.Condition{until}, Label: "for bob", Wait: time.Minute})
		})
		synctest.Wait()
		s := r.status(room.RoomID, "")
		if got := fmt.Sprint(s.Seats[0].Label, s.Seats[0].Watching, s.Seats[0].Listener, s.NotListening); got != "for bob[message-from:bob]armed[bob]" {
			t.Errorf("the seats show %s", got)
		}
		r.say("bob", room.Channel, "here")
		if got := <-watch; got.err != nil || !got.v.Met {
			t.Fatalf("%+v", got)
		}
		synctest.Wait()
		if s = r.status(room.RoomID, ""); s.Seats[0].Label != "" || len(s.Seats[0].Watching) != 0 || s.Seats[0].Listener != hub.ListenerNone {
			t.Errorf("afterwards %+v", s.Seats[0])
		}
	})
}

// Whose a task is decides who may see that an agent is at it, not whether it is.
func TestSeatShowsNoHiddenTask(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("ann")
		r.register("ann")
		id := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "x"}).ID
		working := hub.TaskWorking
		if _, err := r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: "ann", Status: &working}); err != nil {
			t.Fatal(err)
		}
		for viewer, sees := range map[hub.AgentID]bool{"": false, "other": false, "lead": true, "ann": true} {
			if row := r.seatRow(room.RoomID, "ann", viewer); (row.CurrentTaskID != nil) != sees || row.Activity != hub.ActivityWorking {
				t.Errorf("%q sees %+v", viewer, row)
			}
		}
	})
}

// TestSeatAtAPrompt: a room shows that the program of an agent asks its user, about which
// tool and since when, until it asks no more or the session ends.
func TestSeatAtAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.roomWithSeats("dev")
		prompt := func(asks bool, tool string) bool {
			turn := hub.TurnWorking
			if asks {
				turn = hub.TurnAtPrompt
			}
			out, err := r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: turn, Tool: tool})
			require.NoError(t, err)
			return out.Noted
		}
		if prompt(true, "Bash") {
			t.Error("a prompt of an agent without a session is noted")
		}
		r.register("dev")
		prompt(true, "Bash")
		began := hub.TimeOf(time.Now())
		time.Sleep(10 * time.Second)
		prompt(true, "Bash") // reported again
		if s := r.seatRow(room.RoomID, "dev", ""); s.Activity != hub.ActivityAtPrompt || s.PromptTool != "Bash" || *s.ActivitySince != began {
			t.Errorf("the seat is %+v", s)
		}
		prompt(false, "")
		if s := r.seatRow(room.RoomID, "dev", ""); s.Activity == hub.ActivityAtPrompt || s.PromptTool != "" {
			t.Errorf("after the prompt the seat is %+v", s)
		}
		r.stop()
	})
}

// TestAgentsAreListedWithWhatTheyDo: the list of live agents says the same of an agent as
// its seat, also if it is in no room.
func TestAgentsAreListedWithWhatTheyDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.roomWithSeats("dev")
		r.register("dev")
		check := func(state string, activity hub.Activity, presence hub.Presence, listener hub.Listener) {
			t.Helper()
			rows, _, err := r.Agents(t.Context(), hub.AgentsQuery{Prefix: "dev"})
			require.NoError(t, err)
			got, seat := rows[0], r.seatRow(room.RoomID, "dev", "")
			if got.Activity != activity || got.Presence != presence || got.Listener != listener {
				t.Errorf("%s: listed as %s, %s, %s", state, got.Activity, got.Presence, got.Listener)
			}
			if got.Activity != seat.Activity || got.Presence != seat.Presence || got.Listener != seat.Listener || got.PromptTool != seat.PromptTool ||
				*got.ActivitySince != *seat.ActivitySince {
				t.Errorf("%s: listed as %+v, and the seat is %+v", state, got, seat)
			}
		}
		r.Touch("dev", false)
		check("after a call", hub.ActivityWorking, hub.PresenceLive, hub.ListenerNone)
		turn := func(turn hub.Turn, tool string) {
			must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: turn, Tool: tool}))
		}
		turn(hub.TurnAtPrompt, "Bash")
		check("at a prompt", hub.ActivityAtPrompt, hub.PresenceLive, hub.ListenerNone)
		turn(hub.TurnWorking, "")
		check("in a turn", hub.ActivityWorking, hub.PresenceLive, hub.ListenerNone)
		polls := func(d time.Duration) { // as a bridge does that stays
			for range d / (30 * time.Second) {
				time.Sleep(30 * time.Second)
				r.Touch("dev", true)
			}
		}
		polls(5 * time.Minute)
		check("in a turn without a call", hub.ActivityWorking, hub.PresenceLive, hub.ListenerNone)
		turn(hub.TurnIdle, "")
		check("after its turn", hub.ActivityIdle, hub.PresenceLive, hub.ListenerNone)
		r.Touch("dev", false)
		time.Sleep(time.Second)
		r.Touch("dev", false)
		check("after a call behind its turn", hub.ActivityWorking, hub.PresenceLive, hub.ListenerNone)
		turn(hub.TurnWorking, "")
		polls(hub.TurnTrustedFor)
		check("in a turn without a sign of it", hub.ActivityIdle, hub.PresenceLive, hub.ListenerNone)
		r.register("alone")
		time.Sleep(hub.SeatAwayAfter + time.Second)
		check("after a silence", hub.ActivityIdle, hub.PresenceAway, hub.ListenerNone)
		rows, _, err := r.Agents(t.Context(), hub.AgentsQuery{Prefix: "alone"})
		if err != nil || rows[0].Activity != hub.ActivityIdle || rows[0].Presence != hub.PresenceAway {
			t.Errorf("the agent in no room is listed as %+v, %v", rows, err)
		}
		r.stop()
	})
}

// TestRoomIsToldOnceOfAnAgentThatIsStuck: an agent whose model failed is shown as stuck until its next
// turn, and the room is told once in a while, however often that happens.
func TestRoomIsToldOnceOfAnAgentThatIsStuck(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("dev", "ben")
		r.register("dev")
		stuck := func(why string) {
			must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnWorking}))
			must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnStuck, Error: why}))
		}
		told := func(notices int) {
			t.Helper()
			found := 0
			page := must(r.Messages(t.Context(), hub.MessagesQuery{Channel: room.Channel, Limit: 100}))
			for _, m := range decodeAll(t, page.Rows) {
				if strings.Contains(m.Body, "dev is stuck: its model failed (rate_limit), and its turn has ended.") && m.FromAgent == hub.AgentSystem {
					found++
				}
			}
			if found != notices {
				t.Errorf("the room was told %d times, want %d", found, notices)
			}
		}
		check := func(want hub.Activity, notices int) {
			t.Helper()
			if seat := r.seatRow(room.RoomID, "dev", ""); seat.Activity != want {
				t.Errorf("it is shown as %s, want %s", seat.Activity, want)
			}
			told(notices)
		}
		stuck("rate_limit")
		check(hub.ActivityStuck, 1)
		stuck("rate_limit")
		check(hub.ActivityStuck, 1)
		must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnWorking}))
		check(hub.ActivityWorking, 1)
		time.Sleep(hub.StuckTold)
		r.Touch("dev", true)
		stuck("rate_limit")
		check(hub.ActivityStuck, 2)
		must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnIdle}))
		check(hub.ActivityIdle, 2)
		// A harness that exits may end the session before its hook tells of the turn.
		time.Sleep(hub.StuckTold)
		r.register("dev")
		must(r.EndSession(asOperator(t.Context()), "dev", hub.SessionEndInput{}))
		for range 2 {
			must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnStuck, Error: "rate_limit"}))
		}
		told(3)
		time.Sleep(hub.StuckTold)
		must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "dev", Turn: hub.TurnStuck, Error: "rate_limit"}))
		told(3)
		// Of an agent in no room nobody is told, and one that is not there notes nothing.
		r.register("alone")
		if got := must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "alone", Turn: hub.TurnStuck})); !got.Noted {
			t.Error("nothing is noted of the agent in no room")
		}
		if got := must(r.NoteTurn(t.Context(), hub.TurnInput{AgentID: "nobody", Turn: hub.TurnStuck})); got.Noted {
			t.Error("something is noted of an agent that is not there")
		}
		told(3)
	})
}

// A list with details says where an agent is, what it has not seen, what it works on and
// what it watches for. A list without them does not ask.
func TestAgentsAreListedWithDetails(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("dev", "ben")
		list := func() *hub.AgentDetails {
			t.Helper()
			rows, _, err := r.Agents(t.Context(), hub.AgentsQuery{Prefix: "dev", Details: true})
			require.NoError(t, err)
			return rows[0].Details
		}
		r.register("dev")
		before := list().Unread
		id := r.task(hub.PostInput{FromAgent: "ben", ToAgent: "dev", Channel: room.Channel, Body: "work"})
		r.say("ben", room.Channel, "hello")
		must(r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: "dev", Status: new(hub.TaskWorking)}))
		got := list()
		if !slices.Equal(got.Rooms, []hub.RoomID{room.RoomID}) || got.Unread != before+2 || got.Watching == nil {
			t.Errorf("details %+v", got)
		}
		if got.CurrentTaskID != nil {
			t.Errorf("a stranger is told of the direct task %d", *got.CurrentTaskID)
		}
		rows, _, err := r.Agents(asOperator(t.Context()), hub.AgentsQuery{Prefix: "dev", Details: true})
		if err != nil || rows[0].Details.CurrentTaskID == nil || *rows[0].Details.CurrentTaskID != id {
			t.Errorf("the operator is told %+v, %v", rows[0].Details, err)
		}
		rows, _, err = r.Agents(t.Context(), hub.AgentsQuery{Prefix: "dev"})
		if err != nil || rows[0].Details != nil {
			t.Errorf("without being asked: %+v, %v", rows[0].Details, err)
		}
	})
}

// An agent that works in a room without joining it is listed with the room too, behind
// those that it has joined. Before, only joined rooms were named.
func TestAgentsAreListedWithRoomsTheyActIn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		joined := r.roomWithSeats("dev")
		other := must(r.CreateRoom(t.Context(), hub.RoomInput{Project: string(joined.ProjectID), Name: "another place"})).Row
		r.register("dev")
		r.register("guest")
		for _, agent := range []hub.AgentID{"dev", "guest"} {
			must(r.Sit(t.Context(), other.RoomID, hub.SitInput{AgentID: agent}))
		}
		rows, _, err := r.Agents(t.Context(), hub.AgentsQuery{Details: true})
		require.NoError(t, err)
		for i, want := range [][]hub.RoomID{{joined.RoomID, other.RoomID}, {other.RoomID}} {
			if !slices.Equal(rows[i].Details.Rooms, want) {
				t.Errorf("%s is in %v, want %v", rows[i].AgentID, rows[i].Details.Rooms, want)
			}
		}
	})
}
