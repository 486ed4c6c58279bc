package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// guarded makes a room with seats in which the operator wants agents refused after so many turns.
func (r *rig) guarded(hops int, agents ...hub.AgentID) hub.Room {
	r.t.Helper()
	room := r.roomWithSeats(agents...)
	out, err := r.SetGuard(asOperator(r.t.Context()), room.RoomID, hub.GuardInput{Hops: &hops})
	require.NoError(r.t, err)
	return out.Row
}

// thank has two agents answer each other until the hub refuses it for more than a minute. It
// waits as long as it is told. It returns how many messages were posted, and the last refusal.
func (r *rig) thank(a, b hub.AgentID, in hub.PostInput) (posted int, last *hub.Error) {
	r.t.Helper()
	for posted < 100 {
		in.FromAgent, in.Body = a, "Thank you!"
		if in.Channel == "" || in.ToAgent != "" {
			in.ToAgent = b
		}
		_, err := r.tryPost(r.t.Context(), in)
		switch {
		case err == nil:
			posted++
			a, b = b, a
		case !errors.As(err, &last), last.Code != hub.CodeSlowed:
			return posted, last
		case last.RetryAfter < 1:
			r.t.Fatalf("slowed for %d s", last.RetryAfter)
		case last.RetryAfter > 60:
			return posted, last
		default:
			time.Sleep(time.Duration(last.RetryAfter) * time.Second)
		}
		synctest.Wait()
	}
	return posted, last
}

func (r *rig) openAsks() []hub.Ask {
	r.t.Helper()
	rows, _, err := r.Asks(asOperator(r.t.Context()), hub.AsksQuery{State: hub.AskOpen, Limit: 100})
	require.NoError(r.t, err)
	return rows
}

func (r *rig) toldTo(agent hub.AgentID) (bodies []string) {
	r.t.Helper()
	page, err := r.Inbox(r.t.Context(), hub.InboxQuery{Agent: agent, Limit: 1000})
	require.NoError(r.t, err)
	for _, m := range decodeAll(r.t, page.Rows) {
		bodies = append(bodies, string(m.FromAgent)+": "+m.Body)
	}
	return bodies
}

// Where the operator wants it, two agents that thank each other for ever are told once, then slowed and
// stopped after twelve messages, and the operator is asked once; in a room and its threads as
// well. In a channel that belongs to no room they are left alone.
func TestRunawayIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		if posted, last := r.thank("ann", "ben", hub.PostInput{Channel: "general"}); last != nil || posted < 100 {
			t.Errorf("outside of rooms: %d messages, then %v", posted, last)
		}
	})
	for name, in := range map[string]hub.PostInput{"direct": {}, "room": {Channel: "room"}, "thread": {Channel: "room", ThreadID: "t"}} {
		bubble(t, func(t *testing.T, r *rig) {
			if room := r.guarded(12, "ann", "ben"); in.Channel != "" {
				in.Channel = room.Channel
			}
			began := time.Now()
			posted, last := r.thank("ann", "ben", in)
			if posted != 12 || last == nil || last.Code != hub.CodeLoopStopped {
				t.Errorf("%s: %d messages, then %v", name, posted, last)
			}
			if took := time.Since(began); took != 75*time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			asks := r.openAsks()
			if len(asks) != 1 || asks[0].AgentID != hub.AgentSystem || !strings.Contains(asks[0].Question, "ann and ben") || len(asks[0].Options) != 2 {
				t.Fatalf("%s: the questions are %+v", name, asks)
			}
			for _, agent := range []hub.AgentID{"ann", "ben"} {
				if n := strings.Count(strings.Join(r.toldTo(agent), "\n"), "system: "); n != 1 {
					t.Errorf("%s: %s was told %d times", name, agent, n)
				}
			}
			// Others may post, and these two what shows progress or asks the operator.
			r.post(hub.PostInput{FromAgent: "cid", ToAgent: "ann", Body: "hello"})
			r.post(hub.PostInput{FromAgent: "ann", ToAgent: "cid", Body: "hello"})
			r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "Test it"})
			r.post(hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Body: "May I?"})
			if _, last = r.thank("ben", "ann", in); last == nil || last.Code != hub.CodeLoopStopped || last.Detail["ask_id"] != asks[0].AskID {
				t.Errorf("%s: before an answer: %v", name, last)
			}
		})
	}
}

// The answer of the operator lifts the stop or keeps it for an hour, and so do silence and
// a dismissal. The agents are told. A later runaway is asked about anew.
func TestAnswerAboutARunaway(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*rig, hub.AskID)
		says string
		held time.Duration
	}{
		"go on": {func(r *rig, id hub.AskID) {
			must(r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopGoOn}))
		}, "operator: About what ann and ben post in direct messages: let them go on", 0},
		"apart": {func(r *rig, id hub.AskID) {
			must(r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopApart}))
		}, "operator: About what ann and ben post in direct messages: keep them apart", time.Hour},
		"apart, then go on": {func(r *rig, id hub.AskID) {
			must(r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopApart}))
			_, err := r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopApart})
			wantCode(r.t, err, hub.CodeAskClosed)
			must(r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopGoOn}))
			_, err = r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: core.LoopGoOn})
			wantCode(r.t, err, hub.CodeAskClosed)
		}, "operator: About what ann and ben post in direct messages: let them go on", 0},
		"other words": {func(r *rig, id hub.AskID) {
			must(r.AnswerAsk(asOperator(r.t.Context()), id, hub.AskAnswerInput{Answer: "stop it"}))
		}, "post in direct messages: stop it", time.Hour},
		"dismissed": {func(r *rig, id hub.AskID) {
			must(r.WithdrawAsk(asOperator(r.t.Context()), id, hub.AskWithdrawInput{}))
		}, "without an answer", 0},
		"silence": {func(*rig, hub.AskID) { time.Sleep(time.Hour) }, "Nobody answered", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			r := start(t, store)
			r.guarded(12, "ann", "ben")
			r.thank("ann", "ben", hub.PostInput{})
			r.stop()
			r = start(t, store.restarted()) // a stop survives it
			_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "x"})
			wantCode(t, err, hub.CodeLoopStopped)
			tt.end(r, r.openAsks()[0].AskID)
			synctest.Wait()
			for _, agent := range []hub.AgentID{"ann", "ben"} {
				if all := r.toldTo(agent); !strings.Contains(all[len(all)-1], tt.says) {
					t.Errorf("%s: the last word to %s is %q", name, agent, all[len(all)-1])
				}
			}
			left := r.store
			r.stop()
			r = start(t, left.restarted()) // and so does an answer
			defer r.stop()
			if tt.held > 0 {
				time.Sleep(tt.held - time.Second)
				_, err = r.tryPost(t.Context(), hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"})
				wantCode(t, err, hub.CodeLoopStopped)
				time.Sleep(time.Second)
			}
			posted, last := r.thank("ann", "ben", hub.PostInput{})
			if posted != 12 || last.Code != hub.CodeLoopStopped || len(r.openAsks()) != 1 {
				t.Errorf("%s: then %d messages, %v and %d questions", name, posted, last, len(r.openAsks()))
			}
		})
	}
}

// What shows progress begins a new count, whatever it is.
func TestProgressIsNoRunaway(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		ctx := t.Context()
		task := r.task(hub.PostInput{FromAgent: "ann", Channel: "general", Body: "work"})
		for name, step := range map[string]func(i int){
			"task":     func(int) { r.post(hub.PostInput{FromAgent: "ann", ToAgent: "cid", Kind: hub.KindTask, Body: "x"}) },
			"decision": func(int) { must(r.AddDecision(ctx, hub.DecisionInput{RoomID: room.RoomID, Title: "t", By: "ben"})) },
			"memory": func(i int) {
				must(r.Remember(ctx, hub.MemoryInput{RoomID: room.RoomID, Key: "k", Text: fmt.Sprint(i), By: "ann"}))
			},
			"claim": func(i int) { r.claim("ann", hub.ClaimKey(fmt.Sprint("k", i)), 60) },
			"status": func(i int) {
				status := []hub.TaskStatus{hub.TaskWorking, hub.TaskInputRequired}[i%2]
				must(r.UpdateTask(ctx, task, hub.TaskUpdateInput{AgentID: "cid", Status: &status}))
			},
			"human": func(int) {
				_, err := r.tryPost(asOperator(ctx), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: "ben", Body: "go on"})
				require.NoError(t, err)
			},
			"other": func(int) { r.post(hub.PostInput{FromAgent: "cid", ToAgent: "ben", Body: "hello"}) },
			"pause": func(int) { time.Sleep(10 * time.Minute) },
		} {
			for i := range 20 {
				r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "question " + name})
				r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "answer"})
				step(i)
				synctest.Wait()
			}
			if n := strings.Count(strings.Join(append(r.toldTo("ann"), r.toldTo("ben")...), "\n"), "system: ann and ben"); n > 0 {
				t.Fatalf("%s: %d notices", name, n)
			}
		}
	})
}

// A release is progress of the agent that held the lease.
func TestReleaseIsProgress(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range 10 {
			r.claim("ann", hub.ClaimKey(fmt.Sprint("k", i)), 6000)
		}
		for i := range 10 {
			r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "q"})
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "a"})
			r.release("ann", hub.ClaimKey(fmt.Sprint("k", i)))
		}
	})
}

// A room has hops of its own, for its channel and for direct messages of its members. By
// default nothing is refused.
func TestGuardOfARoom(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		hops := func(n *int) {
			out, err := r.SetGuard(asOperator(t.Context()), room.RoomID, hub.GuardInput{Hops: n})
			if err != nil || (n == nil) != (out.Row.GuardHops == nil) {
				t.Fatalf("set: %+v, %v", out, err)
			}
		}
		in := hub.PostInput{Channel: room.Channel}
		six, off := 6, 0
		hops(&six)
		if posted, last := r.thank("ann", "ben", in); posted != 6 || last.Code != hub.CodeLoopStopped {
			t.Errorf("%d messages in a room with 6 hops, then %v", posted, last)
		}
		if posted, last := r.thank("ann", "ben", hub.PostInput{}); posted != 6 || last.Code != hub.CodeLoopStopped {
			t.Errorf("%d direct messages of members of a room with 6 hops, then %v", posted, last)
		}
		asked := r.openAsks()
		hops(nil) // what was stopped passes, but not more than where nothing is refused
		if posted, last := r.thank("ann", "ben", in); posted != 5 || last.Code != hub.CodeSlowed {
			t.Errorf("%d messages in a room with no hops of its own, then %v", posted, last)
		}
		if loops := must(r.Loops(asOperator(t.Context()))); len(asked) != 2 || len(loops) != 2 || loops[0].Stage != hub.LoopSlowed || loops[1].Stage == hub.LoopStopped {
			t.Errorf("%d questions, and the loops are %+v", len(asked), loops)
		}
		hops(&off)
		if posted, last := r.thank("ann", "ben", in); posted != 100 {
			t.Errorf("%d messages in a room without a guard, then %v", posted, last)
		}
		if posted, last := r.thank("ann", "ben", hub.PostInput{}); posted != 100 {
			t.Errorf("%d direct messages of members of a room without a guard, then %v", posted, last)
		}
		if posted, last := r.thank("ann", "cid", hub.PostInput{}); posted != 11 || last.Code != hub.CodeSlowed {
			t.Errorf("%d direct messages to an agent of no room, then %v", posted, last)
		}
		_, err := r.SetGuard(asOperator(t.Context()), "r_zz", hub.GuardInput{})
		wantCode(t, err, hub.CodeRoomNotFound)
	})
}

// What the operator has answered holds, although the room refuses nothing any more.
func TestApartWithoutRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.guarded(4, "ann", "ben")
		in := hub.PostInput{Channel: room.Channel}
		r.thank("ann", "ben", in)
		must(r.AnswerAsk(asOperator(t.Context()), r.openAsks()[0].AskID, hub.AskAnswerInput{Answer: core.LoopApart}))
		must(r.SetGuard(asOperator(t.Context()), room.RoomID, hub.GuardInput{}))
		in.FromAgent, in.Body = "ann", "What now?"
		_, err := r.tryPost(t.Context(), in)
		wantCode(t, err, hub.CodeLoopStopped)
		time.Sleep(time.Hour)
		r.post(in)
	})
}

// Each stage says how to go on.
func TestStagesSayHowToGoOn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		_, last := r.thank("ann", "ben", hub.PostInput{})
		told := strings.Join(r.toldTo("ann"), "\n")
		for _, want := range []string{"open a task", "record a decision", "ask the operator", "end here", "After 8 turns the hub slows down posts that come fast, or that repeat"} {
			if !strings.Contains(told, want) || strings.Contains(told, "refuses") {
				t.Errorf("the notice is %s", told)
			}
		}
		if !strings.Contains(last.Message, "something new passes") || !strings.Contains(last.FixFor(hub.ForModel), "open a task") {
			t.Errorf("a slowed agent is told %v", last)
		}
		room := r.guarded(12, "cid", "dan")
		_, last = r.thank("cid", "dan", hub.PostInput{Channel: room.Channel})
		if told := strings.Join(r.toldTo("cid"), "\n"); !strings.Contains(told, "After 12 it refuses all of them") {
			t.Errorf("the notice is %s", told)
		}
		if asked := r.openAsks()[0].Question; !strings.Contains(asked, "hubcli room guard "+string(room.RoomID)+" default") || !strings.Contains(last.Message, "the operator is asked") {
			t.Errorf("the question is %s, and the refusal %v", asked, last)
		}
	})
}

// A post that was stored is answered again to the same key, although its chain is stopped.
func TestStoppedPostIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.guarded(12, "ann", "ben")
		key := func(i int) context.Context { return withKey(t.Context(), fmt.Sprint("k", i), "body") }
		agents := []hub.AgentID{"ann", "ben"}
		post := func(i int) (hub.Message, error) {
			return r.tryPost(key(i), hub.PostInput{FromAgent: agents[i%2], ToAgent: agents[(i+1)%2], Body: "thanks"})
		}
		var last hub.Message
		for i := range 12 {
			time.Sleep(time.Minute)
			var err error
			last, err = post(i)
			require.NoError(t, err)
		}
		again, err := post(11)
		if err != nil || again.ID != last.ID {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		_, err = post(12)
		wantCode(t, err, hub.CodeLoopStopped)
	})
}

// handRound has agents hand a message on in a circle until the hub refuses it, as thank does.
func (r *rig) handRound(agents ...hub.AgentID) (posted int, last *hub.Error) {
	r.t.Helper()
	for posted < 200 {
		n := len(agents)
		_, err := r.tryPost(r.t.Context(), hub.PostInput{FromAgent: agents[posted%n], ToAgent: agents[(posted+1)%n], Body: "over to you"})
		switch {
		case err == nil:
			posted++
		case !errors.As(err, &last), last.Code != hub.CodeSlowed, last.RetryAfter > 60:
			return posted, last
		default:
			time.Sleep(time.Duration(last.RetryAfter) * time.Second)
		}
		synctest.Wait()
	}
	return posted, last
}

// Where the operator wants it, agents that hand direct messages on in a circle are told once, slowed and
// stopped, and the operator is asked once. The stop survives a restart and holds for these agents alone.
func TestRingIsStopped(t *testing.T) {
	for _, agents := range [][]hub.AgentID{{"ann", "ben", "cid"}, {"dan", "ann", "cid", "ben", "eve"}} {
		synctest.Test(t, func(t *testing.T) {
			n := len(agents)
			names := map[int]string{3: "ann, ben and cid", 5: "ann, ben, cid, dan and eve"}[n]
			r := start(t, newMemStore())
			r.guarded(12, agents...)
			posted, last := r.handRound(agents...)
			if posted != n*12 || last.Code != hub.CodeLoopStopped || !strings.HasPrefix(last.Message, names+" have posted") {
				t.Errorf("%d agents: %d messages, then %v", n, posted, last)
			}
			asks := r.openAsks()
			if len(asks) != 1 || !strings.HasPrefix(asks[0].Question, names+" have posted") {
				t.Fatalf("the questions are %+v", asks)
			}
			for _, agent := range agents {
				if told := strings.Count(strings.Join(r.toldTo(agent), "\n"), "system: "+names); told != 1 {
					t.Errorf("%s was told %d times", agent, told)
				}
			}
			left := r.store
			r.stop()
			r = start(t, left.restarted())
			defer r.stop()
			if posted, last := r.handRound(agents...); posted != 0 || last.Code != hub.CodeLoopStopped || last.Detail["ask_id"] != asks[0].AskID {
				t.Errorf("after a restart %d messages, then %v", posted, last)
			}
			r.post(hub.PostInput{FromAgent: "zoe", ToAgent: agents[0], Body: "hello"})
			r.post(hub.PostInput{FromAgent: agents[0], ToAgent: "zoe", Body: "hello"})
			r.post(hub.PostInput{FromAgent: agents[0], ToAgent: agents[1], Kind: hub.KindTaskRequest, Body: "Test it"})
			must(r.AnswerAsk(asOperator(t.Context()), asks[0].AskID, hub.AskAnswerInput{Answer: core.LoopGoOn}))
			synctest.Wait()
			if posted, last := r.handRound(agents...); posted != n*12 || last.Code != hub.CodeLoopStopped {
				t.Errorf("after the answer %d messages, then %v", posted, last)
			}
		})
	}
}

// A room in which all agents of a ring sit sets its turns; progress of one of them begins a new
// count, and so does a pause.
func TestRingOfARoom(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("ann", "ben", "cid")
		hops := func(n int) {
			_, err := r.SetGuard(asOperator(t.Context()), room.RoomID, hub.GuardInput{Hops: &n})
			require.NoError(t, err)
		}
		hops(4)
		if posted, _ := r.handRound("ann", "ben", "cid"); posted != 12 {
			t.Errorf("%d messages in a room with 4 hops", posted)
		}
		if posted, _ := r.handRound("ann", "dan", "zoe"); posted != 11 {
			t.Errorf("%d messages of a ring with an agent of no room", posted)
		}
		hops(0)
		if posted, last := r.handRound("ann", "ben", "cid"); posted != 200 {
			t.Errorf("%d messages in a room without a guard, then %v", posted, last)
		}
		agents := []hub.AgentID{"eve", "fay", "gus"}
		for i := range 200 {
			if i%8 == 0 {
				r.claim(agents[i/8%3], hub.ClaimKey(fmt.Sprint("k", i)), 60)
			}
			r.post(hub.PostInput{FromAgent: agents[i%3], ToAgent: agents[(i+1)%3], Body: "over to you"})
		}
	})
}

// Each stage of a loop is listed until it ends, with its agents and its place.
func TestLoopsAreListed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		list := func() string {
			all, err := r.Loops(asOperator(t.Context()))
			require.NoError(t, err)
			var out []string
			for _, l := range all {
				where := "direct"
				if l.RoomID != nil {
					where = string(*l.RoomID) + " " + string(*l.Channel)
				}
				out = append(out, fmt.Sprintf("%s %v %s %d/%d %v", l.Stage, l.Agents, where, l.Turns, l.StopAfter, l.AskID != nil))
			}
			return strings.Join(out, "\n")
		}
		want := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := list(); got != want {
				t.Errorf("the loops are\n%s\nwant\n%s", got, want)
			}
		}
		say := func(n int, in hub.PostInput) {
			for i := range n {
				in.FromAgent, in.Body = []hub.AgentID{"ann", "ben"}[i%2], "thanks"
				if in.Channel == "" || in.ToAgent != "" {
					in.ToAgent = []hub.AgentID{"ben", "ann"}[i%2]
				}
				time.Sleep(time.Minute)
				r.post(in)
			}
		}
		say(5, hub.PostInput{})
		want("")
		say(6, hub.PostInput{Channel: room.Channel})
		want("told [ann ben] " + string(room.RoomID+" "+hub.RoomID(room.Channel)) + " 6/0 false")
		r.claim("ann", "k", 60)
		want("")
		say(8, hub.PostInput{})
		want("slowed [ann ben] direct 8/0 false")
		say(3, hub.PostInput{})
		_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "thanks"})
		wantCode(t, err, hub.CodeSlowed)
		time.Sleep(5 * time.Minute)
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "thanks"})
		_, err = r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "thanks"})
		wantCode(t, err, hub.CodeSlowed)
		time.Sleep(30 * time.Minute) // longer than a pause
		want("slowed [ann ben] direct 12/0 false")
		if l := must(r.Loops(asOperator(t.Context())))[0]; l.Until == nil || *l.Until-hub.Time(time.Now().UnixMilli()) != 1_800_000 {
			t.Errorf("the words rest until %v", l.Until)
		}
		r.claim("ben", "k2", 60)
		r.guarded(12, "ann", "ben")
		say(8, hub.PostInput{})
		want("slowed [ann ben] direct 8/12 false")
		say(4, hub.PostInput{})
		want("stopped [ann ben] direct 12/12 true")
		must(r.AnswerAsk(asOperator(t.Context()), r.openAsks()[0].AskID, hub.AskAnswerInput{Answer: core.LoopApart}))
		want("apart [ann ben] direct 0/12 true")
		time.Sleep(time.Hour)
		want("")
		for i := range 18 {
			time.Sleep(time.Minute)
			agents := []hub.AgentID{"ann", "ben", "cid"}
			r.post(hub.PostInput{FromAgent: agents[i%3], ToAgent: agents[(i+1)%3], Body: strings.Repeat(string(rune('a'+i)), 3) + " is yours"})
		}
		want("told [ann ben cid] direct 18/0 false")
	})
}
