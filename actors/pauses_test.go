package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) pause(t hub.PauseTarget, words string) {
	r.t.Helper()
	_, err := r.Pause(asOperator(context.Background()), hub.PauseInput{AgentID: t.AgentID, RoomID: t.RoomID, All: t.All, Words: words})
	require.NoError(r.t, err)
}

func (r *rig) resume(t hub.PauseTarget) {
	r.t.Helper()
	_, err := r.EndPause(asOperator(context.Background()), hub.PauseEndInput(t))
	require.NoError(r.t, err)
}

func pausedBy(err error, words string) bool {
	return errors.Is(err, &hub.Error{Code: hub.CodePaused}) && strings.HasSuffix(err.Error(), ": "+words)
}

// TestPauseStopsAnAgent: what begins something is refused with the operator's words; what
// reads, renews, releases or ends goes on; the operator and other agents are not stopped.
func TestPauseStopsAnAgent(t *testing.T) {
	ctx := context.Background()
	for name, target := range map[string]func(hub.Room) hub.PauseTarget{
		"the agent":  func(hub.Room) hub.PauseTarget { return hub.PauseTarget{AgentID: "ann"} },
		"its room":   func(room hub.Room) hub.PauseTarget { return hub.PauseTarget{RoomID: room.RoomID} },
		"everything": func(hub.Room) hub.PauseTarget { return hub.PauseTarget{All: true} },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, newMemStore())
			room := r.roomWithSeats("ann")
			mine := r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "mine"})
			other := r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "other"})
			offered := r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "offered"})
			third := r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "third"})
			require.NoError(t, r.assign(mine, "ben", "ann"))
			require.NoError(t, r.assign(third, "ben", "ann"))
			_, err := r.HandoffTask(ctx, offered, hub.HandoffInput{AgentID: "ben", ToAgent: "ann"})
			require.NoError(t, err)
			r.claim("ann", "held", 600)
			before, err := r.tryPost(withKey(ctx, "k", "x"), hub.PostInput{FromAgent: "ann", Body: "before"})
			require.NoError(t, err)
			r.pause(target(room), "merge first")

			working, done, nobody, ben := hub.TaskWorking, hub.TaskDone, hub.AgentID(""), hub.AgentID("ben")
			refused := map[string]func() error{
				"post": func() error { _, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Body: "x"}); return err },
				"direct": func() error {
					_, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "x"})
					return err
				},
				"task": func() error {
					_, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "x"})
					return err
				},
				"result": func() error {
					_, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Kind: hub.KindTaskResult, ReplyTo: other, Body: "x"})
					return err
				},
				"claim": func() error {
					_, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "free"})
					return err
				},
				"lock": func() error { _, err := r.Lock(ctx, hub.LockInput{AgentID: "ann", FilePath: "/a"}); return err },
				"begin": func() error {
					_, err := r.UpdateTask(ctx, mine, hub.TaskUpdateInput{AgentID: "ann", Status: &working})
					return err
				},
				"give": func() error {
					_, err := r.UpdateTask(ctx, mine, hub.TaskUpdateInput{AgentID: "ann", Assignee: &ben})
					return err
				},
				"complete": func() error { _, err := r.CompleteTask(ctx, other, hub.CompleteInput{AgentID: "ann"}); return err },
				"accept":   func() error { _, err := r.AcceptTask(ctx, offered, hub.OfferInput{AgentID: "ann"}); return err },
				"handoff": func() error {
					_, err := r.HandoffTask(ctx, mine, hub.HandoffInput{AgentID: "ann", ToAgent: "ben"})
					return err
				},
				"run": func() error { _, err := r.CreateRun(ctx, hub.RunInput{CreatedBy: "ann", Title: "x"}); return err },
				"decision": func() error {
					_, err := r.AddDecision(ctx, hub.DecisionInput{RoomID: room.RoomID, By: "ann", Title: "x"})
					return err
				},
				"memory": func() error {
					_, err := r.Remember(ctx, hub.MemoryInput{RoomID: room.RoomID, By: "ann", Text: "x"})
					return err
				},
			}
			for what, call := range refused {
				if err := call(); !pausedBy(err, "merge first") {
					t.Errorf("%s: %v", what, err)
				}
			}
			allowed := map[string]func() error{
				"repetition": func() error {
					again, err := r.tryPost(withKey(ctx, "k", "x"), hub.PostInput{FromAgent: "ann", Body: "before"})
					if err == nil && again.ID != before.ID {
						return fmt.Errorf("posted again as %d", again.ID)
					}
					return err
				},
				"renewal": func() error {
					_, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "held", TTLSec: 600})
					return err
				},
				"refresh": func() error {
					_, err := r.RefreshClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: "ann", ClaimKey: "held", TTLSec: 600})
					return err
				},
				"decline":  func() error { _, err := r.DeclineTask(ctx, offered, hub.OfferInput{AgentID: "ann"}); return err },
				"complete": func() error { _, err := r.CompleteTask(ctx, mine, hub.CompleteInput{AgentID: "ann"}); return err },
				"return": func() error {
					_, err := r.UpdateTask(ctx, third, hub.TaskUpdateInput{AgentID: "ann", Assignee: &nobody})
					return err
				},
				"register": func() error { _, err := r.Register(ctx, hub.RegisterInput{AgentID: "ann"}); return err },
				"poll":     func() error { _, err := r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 10}); return err },
				"operator": func() error {
					_, err := r.tryPost(asOperator(ctx), hub.PostInput{FromAgent: hub.AgentOperator, Body: "x"})
					return err
				},
			}
			for what, call := range allowed {
				if err := call(); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			r.release("ann", "held")
			_, err = r.tryPost(ctx, hub.PostInput{FromAgent: "dan", Body: "x"})
			if stopped := target(room).All; pausedBy(err, "merge first") != stopped {
				t.Errorf("another agent posts: %v", err)
			}
			if _, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "x"}); pausedBy(err, "merge first") != (name != "the agent") {
				t.Errorf("another agent posts to the room: %v", err)
			}
			r.resume(target(room))
			_, err = r.UpdateTask(ctx, other, hub.TaskUpdateInput{AgentID: "ann", Status: &done})
			require.NoError(t, err)
			for what, call := range refused {
				if err := call(); errors.Is(err, &hub.Error{Code: hub.CodePaused}) {
					t.Errorf("%s after the pause: %v", what, err)
				}
			}
		})
	}
}

// TestPauseEndsTheWaitForALease: a paused agent leaves the queue at once with the words, is
// not granted what becomes free, and the next in line is.
func TestPauseEndsTheWaitForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ben", "key", 600)
		ann := r.waitFor(context.Background(), "ann", "key", 60)
		cleo := r.waitFor(context.Background(), "cleo", "key", 60)
		r.pause(hub.PauseTarget{AgentID: "ann"}, "wait")
		synctest.Wait()
		select {
		case got := <-ann:
			if !pausedBy(got.err, "wait") {
				t.Errorf("the paused agent got %+v", got)
			}
		default:
			t.Error("the paused agent still waits")
		}
		parked(t, cleo)
		r.release("ben", "key")
		if got := <-cleo; got.err != nil || !got.v.Acquired {
			t.Errorf("the next one got %+v", got)
		}
		r.stop()
	})
}

// TestPauseHoldsWatches: nothing wakes a paused agent, and what came meanwhile wakes it when
// it is resumed.
func TestPauseHoldsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ann")
		r.pause(hub.PauseTarget{AgentID: "ann"}, "wait")
		answer := async(func() (hub.Watched, error) {
			return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "for-me"))
		})
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "look"})
		synctest.Wait()
		parked(t, answer)
		now := r.look(watchOf(t, room.RoomID, 0, "for-me"))
		if now.Met || !strings.HasSuffix(now.Conditions[0].Why, ": wait") {
			t.Errorf("a look says %+v", now)
		}
		r.resume(hub.PauseTarget{AgentID: "ann"})
		if got := <-answer; got.err != nil || !got.v.Met || len(got.v.Messages) != 3 {
			t.Errorf("after the pause the watch says %+v", got)
		}
		r.stop()
	})
}

// TestResumeWakesARoom: the notice of the operator wakes who waits in the room, also
// after a pause of everything.
func TestResumeWakesARoom(t *testing.T) {
	for name, target := range map[string]hub.PauseTarget{"room": {RoomID: "?"}, "everything": {All: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				room := r.roomWithSeats("ann")
				r.register("ann")
				if target.RoomID != "" {
					target.RoomID = room.RoomID
				}
				answer := async(func() (hub.Watched, error) {
					return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "for-me"))
				})
				synctest.Wait()
				r.pause(target, "wait")
				synctest.Wait()
				parked(t, answer)
				r.resume(target)
				if got := <-answer; got.err != nil || !got.v.Met || got.v.Messages[0].FromAgent != hub.AgentOperator {
					t.Errorf("the watch says %+v", got)
				}
				r.stop()
			})
		})
	}
}

// TestPauseSurvivesCrashAtEveryStep: a pause that was acknowledged holds after a loss of power at any
// step of a write, and what a restart shows is what its owner decides by.
func TestPauseSurvivesCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) {
				crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
				r := start(t, crash.store, crash.option)
				r.pause(hub.PauseTarget{AgentID: "ann"}, "wait")
				crash.arm()
				r.pause(hub.PauseTarget{AgentID: "ben"}, "wait")
				r.resume(hub.PauseTarget{AgentID: "ben"})
				again := start(t, crash.over())
				if _, err := again.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", Body: "x"}); !pausedBy(err, "wait") {
					t.Errorf("the paused agent posts: %v", err)
				}
				shown, err := again.Pauses(context.Background())
				require.NoError(t, err)
				decided, err := again.loadPauses()
				require.NoError(t, err)
				if got, want := inJSON(t, shown), inJSON(t, decided.List()); got != want {
					t.Errorf("shown are %s, decided %s", got, want)
				}
			})
		}
	}
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// TestPauseOfARoomStopsWhoWorksThere without having joined a room, also outside of it; an agent
// that joined another room last is stopped in the paused room alone.
func TestPauseOfARoomStopsWhoWorksThere(t *testing.T) {
	ctx := context.Background()
	r := start(t, newMemStore())
	room := r.roomWithSeats("ann")
	other := r.newRoom("other")
	r.seat(other.RoomID, "cleo")
	r.say("ben", room.Channel, "I work here")
	r.say("cleo", room.Channel, "I visit")
	r.seatsSettled()
	r.pause(hub.PauseTarget{RoomID: room.RoomID}, "wait")
	for agent, stopped := range map[hub.AgentID]bool{"ann": true, "ben": true, "cleo": false, "dan": false} {
		_, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: hub.ClaimKey(agent), TTLSec: 600})
		if pausedBy(err, "wait") != stopped {
			t.Errorf("%s claims: %v", agent, err)
		}
		if _, err := r.tryPost(ctx, hub.PostInput{FromAgent: agent, Channel: room.Channel, Body: "x"}); !pausedBy(err, "wait") {
			t.Errorf("%s posts to the room: %v", agent, err)
		}
	}
}

// TestPauseAndMuteHoldForSubAgents: what the operator says of an agent holds for its sub-agents,
// and not for agents whose ids only begin like its own.
func TestPauseAndMuteHoldForSubAgents(t *testing.T) {
	ctx := context.Background()
	r := start(t, newMemStore())
	r.pause(hub.PauseTarget{AgentID: "ann"}, "wait")
	r.mute(hub.MuteInput{AgentID: "ben", Reason: "too loud"})
	for _, from := range []hub.AgentID{"ann:a1", "ann:a1:b2"} {
		if _, err := r.tryPost(ctx, hub.PostInput{FromAgent: from, Body: "x"}); !pausedBy(err, "wait") {
			t.Errorf("a post of %s: %v", from, err)
		}
	}
	if out := r.posted(hub.PostInput{FromAgent: "ben:a1", Body: "x"}); out.Muted == nil {
		t.Error("a post of ben:a1 is not muted")
	}
	for _, from := range []hub.AgentID{"ann-a1", "anna:a1", "benn:a1"} {
		if out := r.posted(hub.PostInput{FromAgent: from, Body: "x"}); out.Muted != nil {
			t.Errorf("a post of %s is muted: %+v", from, out.Muted)
		}
	}
}
