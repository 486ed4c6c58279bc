package actors

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// ask asks the operator and returns the row.
func (r *rig) ask(in hub.AskInput) hub.Ask {
	r.t.Helper()
	out, err := r.Ask(r.t.Context(), in)
	require.NoError(r.t, err)
	return out.Row
}

func (r *rig) askRow(id hub.AskID) hub.Ask {
	r.t.Helper()
	row, err := r.AskByID(asOperator(r.t.Context()), id, "")
	require.NoError(r.t, err)
	return row
}

// An answer is a message that wakes the agent by every condition that waits for one. The
// second answer is refused and says what the first was.
func TestAnswerWakesItsAgent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		room := r.makeRoom("room")
		var q hub.Ask
		for _, until := range []string{"for-me", "answered:"} {
			q = r.ask(hub.AskInput{AgentID: "ann", Question: "Deploy?", Options: []string{"yes", "no"}, RoomID: room.RoomID})
			if until == "answered:" {
				until += fmt.Sprint(q.MessageID)
			}
			query := watchOf(t, room.RoomID, time.Minute, until)
			woken := r.parked(query)
			must(r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "yes", By: "Eva"}))
			if got := <-woken; got.err != nil || !got.v.Met {
				t.Errorf("%s: %+v", until, got)
			}
			_, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Since: q.MessageID + 1, Limit: 10})
			require.NoError(t, err)
		}
		_, err := r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "no", By: "Bob"})
		var e *hub.Error
		if !errors.As(err, &e) || e.Code != hub.CodeAskClosed || e.Detail["closed_by"] != "Eva" || e.Detail["answer"] != "yes" {
			t.Errorf("the second answer: %v", err)
		}
		if row := r.askRow(q.AskID); *row.Answer != "yes" || row.ClosedBy != "Eva" {
			t.Errorf("the row is %+v", row)
		}
	})
}

// A question expires at its deadline, to the millisecond, also when the hub was down in
// between; the time while it was down does not count. That the default was taken is said,
// and it counts as the answer.
func TestQuestionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		room := r.makeRoom("room")
		q := r.ask(hub.AskInput{AgentID: "ann", Question: "Deploy?", Default: "no", DeadlineSec: 60})
		plain := r.ask(hub.AskInput{AgentID: "ann", Question: "Which?", DeadlineSec: 61})
		never := r.ask(hub.AskInput{AgentID: "ann", Question: "Ever?"})
		time.Sleep(20 * time.Second)
		r.stop()
		time.Sleep(time.Hour)

		r = start(t, store.restarted())
		defer r.stop()
		woken := r.parked(watchOf(t, room.RoomID, time.Minute, fmt.Sprint("answered:", q.MessageID)))
		time.Sleep(38 * time.Second)
		synctest.Wait()
		if row := r.askRow(q.AskID); row.State != hub.AskOpen || row.DeadlineAt == nil {
			t.Fatalf("before its deadline: %+v", row)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if got := <-woken; got.err != nil || !got.v.Met {
			t.Errorf("answered: %+v", got)
		}
		if row := r.askRow(q.AskID); row.State != hub.AskExpired || *row.Answer != "no" || row.DeadlineAt != nil || row.AnswerMessageID == nil {
			t.Errorf("with a default: %+v", row)
		}
		if row := r.askRow(plain.AskID); row.State != hub.AskExpired || row.Answer != nil {
			t.Errorf("without a default: %+v", row)
		}
		if row := r.askRow(never.AskID); row.State != hub.AskOpen {
			t.Errorf("without a deadline: %+v", row)
		}
		_, err := r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "yes"})
		wantCode(t, err, hub.CodeAskClosed)
	})
}

// A question that is answered at its deadline has one end, and the hub does not go on
// looking for it.
func TestAnswerAtTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			q := r.ask(hub.AskInput{AgentID: "ann", Question: "x", Default: "d", DeadlineSec: 1})
			time.Sleep(time.Second)
			_, err := r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "yes"})
			synctest.Wait()
			row := r.askRow(q.AskID)
			if answered := err == nil; answered != (row.State == hub.AskAnswered) || row.State == hub.AskOpen {
				t.Fatalf("%d: answered %v, and the row is %+v", i, err, row)
			}
		}
		page, err := r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 100})
		require.NoError(t, err)
		if n := len(page.Rows); n != 20 {
			t.Errorf("%d messages tell of 20 ends", n)
		}
		records := r.records()
		time.Sleep(time.Hour)
		if n := r.records(); n != records {
			t.Errorf("%d more records in an idle hour", n-records)
		}
	})
}

// A direct message to the operator is a question, unless it opens a task or is the
// operator's own. The row of the message is as the agent sent it.
func TestDirectMessageToTheOperatorIsAQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		m := r.post(hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Body: "may I?", Metadata: []byte(`{"a":1}`)})
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Kind: hub.KindTask, Body: "review this"})
		_, err := r.Post(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: hub.AgentOperator, Kind: hub.KindChat, Body: "note"})
		require.NoError(t, err)
		rows, _, err := r.Asks(asOperator(t.Context()), hub.AsksQuery{State: hub.AskOpen})
		require.NoError(t, err)
		if len(rows) != 1 || rows[0].MessageID != m.ID || rows[0].Question != "may I?" || string(m.Metadata) != `{"a":1}` {
			t.Fatalf("the questions are %+v", rows)
		}
		key := withKey(t.Context(), "k", "body")
		first, err := r.tryPost(key, hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Body: "once"})
		require.NoError(t, err)
		again, err := r.tryPost(key, hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Body: "once"})
		if err != nil || first.ID != again.ID {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		if rows, _, _ := r.Asks(asOperator(t.Context()), hub.AsksQuery{State: hub.AskOpen}); len(rows) != 2 {
			t.Errorf("a repeated message makes %d questions", len(rows))
		}
	})
}

// Only its agent and the operator see a question, and only they may close it.
func TestQuestionsArePrivate(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		q := r.ask(hub.AskInput{AgentID: "ann", Question: "secret?"})
		if rows, _, err := r.Asks(t.Context(), hub.AsksQuery{AgentID: "ben"}); err != nil || len(rows) != 0 {
			t.Errorf("another agent is shown %+v, %v", rows, err)
		}
		if rows, _, err := r.Asks(t.Context(), hub.AsksQuery{}); err != nil || len(rows) != 0 {
			t.Errorf("a caller without a name is shown %+v, %v", rows, err)
		}
		_, err := r.AskByID(t.Context(), q.AskID, "ben")
		wantCode(t, err, hub.CodeAskNotFound)
		_, err = r.WithdrawAsk(t.Context(), q.AskID, hub.AskWithdrawInput{AgentID: "ben"})
		wantCode(t, err, hub.CodeAskNotFound)
		_, err = r.Message(t.Context(), q.MessageID, "ben")
		wantCode(t, err, hub.CodeMessageNotFound)
		must(r.WithdrawAsk(t.Context(), q.AskID, hub.AskWithdrawInput{AgentID: "ann"}))
		_, err = r.WithdrawAsk(t.Context(), q.AskID, hub.AskWithdrawInput{AgentID: "ben"})
		wantCode(t, err, hub.CodeAskNotFound)
		_, err = r.WithdrawAsk(t.Context(), q.AskID, hub.AskWithdrawInput{AgentID: "ann"})
		wantCode(t, err, hub.CodeAskClosed)
	})
}

// What a question names is checked, and a task that its agent may not see is not there.
func TestAskNames(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		private := r.task(hub.PostInput{FromAgent: "ben", ToAgent: "cid", Body: "x"})
		for code, in := range map[hub.Code]hub.AskInput{
			hub.CodeRoomNotFound:     {RoomID: "r_zz"},
			hub.CodeTaskNotFound:     {Blocks: private},
			hub.CodeArtifactNotFound: {ArtifactID: "a_zz"},
		} {
			in.AgentID, in.Question = "ann", "x"
			_, err := r.Ask(t.Context(), in)
			wantCode(t, err, code)
		}
		public := r.task(hub.PostInput{FromAgent: "ben", Channel: "general", Body: "x"})
		if row := r.ask(hub.AskInput{AgentID: "ann", Question: "x", Blocks: public}); row.Blocks == nil || *row.Blocks != public {
			t.Errorf("the row is %+v", row)
		}
	})
}

// A paused agent may ask the operator, who paused it, by either way.
func TestPausedAgentMayAsk(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.pause(hub.PauseTarget{All: true}, "wait")
		r.ask(hub.AskInput{AgentID: "ann", Question: "why?"})
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: hub.AgentOperator, Body: "how long?"})
		_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "hello"})
		wantCode(t, err, hub.CodePaused)
		if rows, _, err := r.Asks(asOperator(t.Context()), hub.AsksQuery{State: hub.AskOpen}); err != nil || len(rows) != 2 {
			t.Errorf("%d questions, %v", len(rows), err)
		}
	})
}

// An answer that names what it answers is taken by that question alone: not by another one, not
// by one that has come to the same id in another store, and not by one that has changed.
func TestAnswerNamesItsQuestion(t *testing.T) {
	var before hub.Ask
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		before = r.ask(hub.AskInput{AgentID: "ann", Question: "Run the tests?", Options: []string{"yes", "no"}})
	})
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		defer func() { r.stop() }()
		r.register("ann")
		q := r.ask(hub.AskInput{AgentID: "ann", Question: "Delete the database?", Options: []string{"yes", "no"}})
		other := r.ask(hub.AskInput{AgentID: "ann", Question: "Deploy?", Options: []string{"yes", "no"}})
		if q.AskID != before.AskID || q.Digest == before.Digest || len(q.Digest) != 64 {
			t.Fatalf("%s %q in one store, %s %q in the other", before.AskID, before.Digest, q.AskID, q.Digest)
		}
		answer := func(id hub.AskID, in hub.AskAnswerInput) error {
			_, err := r.AnswerAsk(asOperator(t.Context()), id, in)
			return err
		}
		for _, wrong := range []string{before.Digest, other.Digest} {
			wantCode(t, answer(q.AskID, hub.AskAnswerInput{Answer: "yes", Digest: wrong}), hub.CodeAskChanged)
			_, err := r.WithdrawAsk(asOperator(t.Context()), q.AskID, hub.AskWithdrawInput{Digest: wrong})
			wantCode(t, err, hub.CodeAskChanged)
		}
		if row := r.askRow(q.AskID); row.State != hub.AskOpen || row.Digest != q.Digest {
			t.Errorf("the row is %+v", row)
		}
		r.stop()
		r = start(t, store.restarted())
		require.NoError(t, answer(q.AskID, hub.AskAnswerInput{Answer: "no", Digest: q.Digest}))
		if row := r.askRow(q.AskID); *row.Answer != "no" || row.Digest != q.Digest {
			t.Errorf("the row is %+v", row)
		}
		// A closed question is told to those alone who mean it.
		wantCode(t, answer(q.AskID, hub.AskAnswerInput{Answer: "yes", Digest: q.Digest}), hub.CodeAskClosed)
		wantCode(t, answer(q.AskID, hub.AskAnswerInput{Answer: "yes", Digest: before.Digest}), hub.CodeAskChanged)
		list, _, err := r.Asks(asOperator(t.Context()), hub.AsksQuery{State: hub.AskOpen, Limit: 10})
		require.NoError(t, err)
		if len(list) != 1 || list[0].Digest != other.Digest {
			t.Errorf("the list is %+v", list)
		}
	})
}

// A word that is nearly a choice is refused where the caller asks for that, and taken as it is
// where not. A choice with space around it is the choice.
func TestNearlyAnOptionIsNotTaken(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		q := r.ask(hub.AskInput{AgentID: "ann", Question: "Deploy?", Options: []string{"yes", "no"}})
		for _, word := range []string{"yse", "Yes", "y", "1"} {
			_, err := r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: word, UnlessNear: true})
			var e *hub.Error
			if !errors.As(err, &e) || e.Code != hub.CodeAnswerUnclear || e.Detail["did_you_mean"] != "yes" {
				t.Errorf("%q: %v", word, err)
			}
		}
		if row := r.askRow(q.AskID); row.State != hub.AskOpen {
			t.Errorf("the row is %+v", row)
		}
		out := must(r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: " no \n", UnlessNear: true}))
		if *out.Row.Answer != "no" {
			t.Errorf("the answer is %q", *out.Row.Answer)
		}
		q = r.ask(hub.AskInput{AgentID: "ann", Question: "Deploy?", Options: []string{"yes", "no"}})
		if out := must(r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "yse"})); *out.Row.Answer != "yse" {
			t.Errorf("the answer is %q", *out.Row.Answer)
		}
	})
}

// TestAnswerBringsItsQuestion: the rows by which an agent is told of an answer of the operator have its
// question, and no other row has one.
func TestAnswerBringsItsQuestion(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	q := r.ask(hub.AskInput{AgentID: "ann", Question: "Round half up?"})
	_, err := r.AnswerAsk(asOperator(t.Context()), q.AskID, hub.AskAnswerInput{Answer: "yes"})
	require.NoError(t, err)
	_, err = r.tryPost(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: "ann", Body: "and hurry"})
	require.NoError(t, err)
	r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "I say no"})
	got, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
	require.NoError(t, err)
	var rows []string
	for _, row := range got.Directed {
		rows = append(rows, row.Excerpt+" < "+row.Answers)
	}
	if want := []string{"yes < Round half up?", "and hurry < ", "I say no < "}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
}
