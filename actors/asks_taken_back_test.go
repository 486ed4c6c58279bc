package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// answeredAsk asks a question of ann and answers it with a word that nothing else has.
func (r *rig) answeredAsk(in hub.AskInput) hub.Ask {
	r.t.Helper()
	in.AgentID, in.Question = "ann", "Which?"
	q := r.ask(in)
	out, err := r.AnswerAsk(asOperator(r.t.Context()), q.AskID, hub.AskAnswerInput{Answer: "quokka", By: "Eva"})
	require.NoError(r.t, err)
	return out.Row
}

func (r *rig) takeBack(id hub.AskID) (hub.Ask, error) {
	out, err := r.TakeBackAnswer(asOperator(r.t.Context()), id, hub.AskTakeBackInput{By: "Eva"})
	return out.Row, err
}

func wantKept(t *testing.T, err error, reason string) {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != hub.CodeNotTakenBack || e.Detail["reason"] != reason {
		t.Errorf("%v, want not_taken_back for %q", err, reason)
	}
}

// waysToRead are all ways by which an agent may be shown an answer. Each returns what it was shown.
func waysToRead(r *rig, room hub.RoomID, q hub.Ask) map[string]func() string {
	ctx := r.t.Context()
	say := func(v any, err error) string { return fmt.Sprintf("%+v %v", v, err) }
	text := func(page hub.Page, err error) string {
		return fmt.Sprintf("%s %v", page.Rows, err)
	}
	return map[string]func() string{
		"poll":  func() string { return text(r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 100})) },
		"peek":  func() string { return text(r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 100, Peek: true})) },
		"room":  func() string { return text(r.Events(ctx, hub.EventsQuery{Agent: "ann", RoomID: room, Limit: 100})) },
		"inbox": func() string { return text(r.Inbox(ctx, hub.InboxQuery{Agent: "ann", Limit: 100})) },
		"tail":  func() string { return text(r.Inbox(ctx, hub.InboxQuery{Agent: "ann", Limit: 100, Tail: true})) },
		"message": func() string {
			m, err := r.Message(ctx, *q.AnswerMessageID, "ann")
			return fmt.Sprintf("%s %v", m, err)
		},
		"hook":  func() string { return say(r.Attention(ctx, hub.AttentionQuery{Agent: "ann"})) },
		"watch": func() string { return say(r.Watch(ctx, watchOf(r.t, room, 0, "for-me"))) },
		"answered": func() string {
			got, err := r.Watch(ctx, watchOf(r.t, room, 0, fmt.Sprint("answered:", q.MessageID)))
			if err == nil && !got.Met {
				return "not met"
			}
			return say(got, err)
		},
		"question": func() string { a, err := r.AskByID(ctx, q.AskID, "ann"); return askSays(a, err) },
		"questions": func() string {
			all, _, err := r.Asks(ctx, hub.AsksQuery{AgentID: "ann", Limit: 10})
			require.NoError(r.t, err)
			return askSays(all[0], nil)
		},
		"withdrawal": func() string {
			_, err := r.WithdrawAsk(ctx, q.AskID, hub.AskWithdrawInput{AgentID: "ann"})
			var e *hub.Error
			if errors.As(err, &e) {
				return fmt.Sprint(e.Detail)
			}
			return fmt.Sprint(err)
		},
	}
}

func askSays(a hub.Ask, err error) string {
	if a.Answer != nil {
		return *a.Answer
	}
	return fmt.Sprint(a.State, err)
}

// An agent that has been shown the answer keeps it from being taken back, whatever the way.
func TestReadAnswerStays(t *testing.T) {
	for way := range waysToRead(&rig{t: t}, "", hub.Ask{}) {
		bubble(t, func(t *testing.T, r *rig) {
			r.register("ann")
			room := r.makeRoom("room")
			q := r.answeredAsk(hub.AskInput{RoomID: room.RoomID})
			if said := waysToRead(r, room.RoomID, q)[way](); !strings.Contains(said, "quokka") && !strings.Contains(said, fmt.Sprint("message ", *q.AnswerMessageID)) {
				t.Fatalf("%s: %s", way, said)
			}
			_, err := r.takeBack(q.AskID)
			wantKept(t, err, core.KeptRead)
			if a := r.askRow(q.AskID); a.State != hub.AskAnswered {
				t.Errorf("%s: %+v", way, a)
			}
		})
	}
}

// An answer that was taken back is shown by no way, and none counts it, also after a restart;
// the operator's log has it. The question is open, and the next answer is read by every way.
func TestTakenBackAnswerIsNowhere(t *testing.T) {
	for way := range waysToRead(&rig{t: t}, "", hub.Ask{}) {
		for _, restart := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				r := start(t, store)
				r.register("ann")
				room := r.makeRoom("room")
				q := r.answeredAsk(hub.AskInput{RoomID: room.RoomID, DeadlineSec: 600})
				before, err := r.takeBack(q.AskID)
				if err != nil || before.State != hub.AskOpen || before.Answer != nil || before.DeadlineAt == nil {
					t.Fatalf("%+v, %v", before, err)
				}
				if restart {
					r.stop()
					r = start(t, store.restarted())
				}
				defer r.stop()
				if said := waysToRead(r, room.RoomID, q)[way](); strings.Contains(said, "quokka") || strings.Contains(said, fmt.Sprint("message ", *q.AnswerMessageID, " is")) || strings.Contains(said, "answers message") {
					t.Fatalf("%s: %s", way, said)
				}
				if way == "withdrawal" {
					return // it was open
				}
				page, err := r.Log(asOperator(t.Context()), hub.LogQuery{Direct: true, Limit: 100})
				if err != nil || !strings.Contains(fmt.Sprintf("%s", page.Rows), "taken back") {
					t.Errorf("the log of the operator: %s, %v", page.Rows, err)
				}
				_, err = r.takeBack(q.AskID)
				wantKept(t, err, core.KeptOpen)
				must(r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "quokka"}))
				if way == "message" {
					q.AnswerMessageID = r.askRow(q.AskID).AnswerMessageID
				}
				if said := waysToRead(r, room.RoomID, q)[way](); !strings.Contains(said, "quokka") && !strings.Contains(said, "is for you") {
					t.Errorf("%s, the second answer: %s", way, said)
				}
			})
		}
	}
}

// It is too late after a minute, and after a restart nobody knows who has read the answer.
func TestTakeBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		early, late := r.answeredAsk(hub.AskInput{}), r.answeredAsk(hub.AskInput{})
		time.Sleep(time.Minute)
		if _, err := r.takeBack(early.AskID); err != nil {
			t.Errorf("after a minute: %v", err)
		}
		time.Sleep(time.Millisecond)
		_, err := r.takeBack(late.AskID)
		wantKept(t, err, core.KeptLate)
		again := r.answeredAsk(hub.AskInput{})
		r.stop()
		r = start(t, store.restarted())
		defer r.stop()
		_, err = r.takeBack(again.AskID)
		wantKept(t, err, core.KeptUnknown)
		if a := r.askRow(again.AskID); a.State != hub.AskAnswered || a.Answer == nil {
			t.Errorf("the answer is %+v", a)
		}
		time.Sleep(2 * time.Minute)
		_, err = r.takeBack(again.AskID)
		wantKept(t, err, core.KeptLate)
	})
}

// A question that is open again expires, also if the deadline of its first time had passed.
func TestTakenBackQuestionExpires(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		q := r.answeredAsk(hub.AskInput{DeadlineSec: 20, Default: "x"})
		time.Sleep(30 * time.Second)
		if _, err := r.takeBack(q.AskID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if a := r.askRow(q.AskID); a.State != hub.AskOpen {
			t.Errorf("early: %+v", a)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if a := r.askRow(q.AskID); a.State != hub.AskExpired || *a.Answer != "x" {
			t.Errorf("late: %+v", a)
		}
	})
}

// Of an agent that reads and an operator who takes back at the same moment one comes first: either
// the agent gets the answer and it stays, or the question is open and the agent gets nothing.
func TestTakeBackAgainstReaders(t *testing.T) {
	r := start(t, newMemStore())
	defer r.stop()
	r.register("ann")
	room := r.makeRoom("room")
	for i := range 200 {
		q := r.answeredAsk(hub.AskInput{RoomID: room.RoomID})
		got := make(chan string, 3)
		ways := waysToRead(r, room.RoomID, q)
		for _, way := range []string{"message", "tail", "answered"} {
			go func() { got <- ways[way]() }()
		}
		_, err := r.takeBack(q.AskID)
		for range 3 {
			said := <-got
			shown := strings.Contains(said, "answers message "+fmt.Sprint(q.MessageID)) || strings.Contains(said, fmt.Sprintf(`"id":%d,`, *q.AnswerMessageID))
			if shown && err == nil {
				t.Fatalf("%d: taken back, and shown: %s", i, said)
			}
		}
		if a := r.askRow(q.AskID); (a.State == hub.AskOpen) != (err == nil) {
			t.Fatalf("%d: %v, and the question is %+v", i, err, a)
		}
		if err == nil {
			_, err = r.WithdrawAsk(context.Background(), q.AskID, hub.AskWithdrawInput{AgentID: "ann"})
			require.NoError(t, err)
		}
	}
}

// A hub that is killed at any step of a take-back has the answer, which the agent reads, or the open
// question, and never both or neither. What was acknowledged is so after the next start.
func TestTakeBackIsWholeAfterAKill(t *testing.T) {
	for _, at := range steps {
		store := newMemStore()
		var armed atomic.Bool
		var mu sync.Mutex
		var disks []*disk
		r := start(t, store, func(o *Options) {
			o.Step = func(s engine.Step) {
				if s == at && armed.Load() {
					mu.Lock()
					defer mu.Unlock()
					disks = append(disks, store.clone())
				}
			}
		})
		r.register("ann")
		q := r.answeredAsk(hub.AskInput{})
		armed.Store(true)
		_, err := r.takeBack(q.AskID)
		require.NoError(t, err)
		r.idle()
		armed.Store(false)
		mu.Lock()
		disks = append(disks, store.clone())
		mu.Unlock()
		r.stop()
		for i, d := range disks {
			r := start(t, &memStore{disk: d})
			a := r.askRow(q.AskID)
			page, err := r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 10})
			require.NoError(t, err)
			shown := strings.Contains(fmt.Sprintf("%s", page.Rows), "quokka")
			if answered := a.State == hub.AskAnswered; answered != shown || !answered && a.State != hub.AskOpen {
				t.Errorf("%s, %d: the question is %s, and the answer is shown: %v", at, i, a.State, shown)
			}
			if i == len(disks)-1 && a.State != hub.AskOpen {
				t.Errorf("%s: what was acknowledged is lost: %s", at, a.State)
			}
			r.stop()
		}
	}
}
