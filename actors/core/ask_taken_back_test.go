package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// answered asks a question, answers it and returns the row.
func (r *askRig) answered(in hub.AskInput, answer string) core.StoredAsk {
	id := r.ask(in).Ask.AskID
	d, err := r.asks.Answer(id, hub.AskAnswerInput{Answer: answer, By: "Ann"})
	row, err := decide(r, d, err)
	require.NoError(r.t, err)
	return row
}

// An answer that is taken back leaves the question as it was, with at least a minute until its
// deadline, in the state and in the rows from which a restart loads it. It can be answered again.
func TestTakeBack(t *testing.T) {
	r := newAskRig(t)
	in := hub.AskInput{AgentID: "dev", Question: "Deploy?", Options: []string{"yes", "no"}, Default: "no", DeadlineSec: 10, RoomID: "r_1"}
	row := r.answered(in, "yes")
	message := *row.Ask.AnswerMessageID
	r.at.Now.HubMS += 9_000
	d, err := r.asks.TakeBack(core.AskTakeBack{Answered: row, By: "Eva"}, r.at.Now)
	again, err := decide(r, d, err)
	require.NoError(t, err)
	a := again.Ask
	if a.State != hub.AskOpen || a.Answer != nil || a.AnswerMessageID != nil || a.ClosedBy != "" || a.ClosedAt != nil || again.DeadlineMS != r.at.Now.HubMS+60_000 {
		t.Errorf("the question is %+v", again)
	}
	if a.DigestOf() != row.Ask.DigestOf() {
		t.Error("it is another question now")
	}
	if m := r.sent[len(r.sent)-1]; m.To != hub.AgentOperator || m.From != hub.AgentSystem || m.ReplyTo != message {
		t.Errorf("what tells the operator is %+v", m)
	}
	var kept core.TakenBack
	require.NoError(t, json.Unmarshal(r.rows[fmt.Sprintf("%02d/%s", core.TableTakenBack, core.IDKey(message))].Value, &kept))
	if kept.Ask != a.AskID || kept.By != "Eva" {
		t.Errorf("the message is kept as %+v", kept)
	}

	r.asks = r.loaded()
	d, err = r.asks.TakeBack(core.AskTakeBack{Answered: row}, r.at.Now)
	_, err = decide(r, d, err)
	wantReason(t, err, core.KeptOpen)
	d, err = r.asks.Answer(a.AskID, hub.AskAnswerInput{Answer: "no", Digest: row.Ask.DigestOf()})
	last, err := decide(r, d, err)
	if err != nil || *last.Ask.Answer != "no" {
		t.Errorf("the second answer: %+v, %v", last.Ask, err)
	}
}

// A question without a deadline has none afterwards.
func TestTakeBackWithoutDeadline(t *testing.T) {
	r := newAskRig(t)
	row := r.answered(hub.AskInput{AgentID: "dev", Question: "Which?"}, "x")
	d, err := r.asks.TakeBack(core.AskTakeBack{Answered: row}, r.at.Now)
	again, err := decide(r, d, err)
	if err != nil || again.DeadlineMS != 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

// Only an answer of the operator is taken back that nothing has gone on with.
func TestNothingElseIsTakenBack(t *testing.T) {
	message, answer := hub.MessageID(2), "allow"
	for reason, a := range map[string]hub.Ask{
		core.KeptOpen:   {State: hub.AskOpen},
		core.KeptClosed: {State: hub.AskExpired, Answer: &answer, AnswerMessageID: &message},
		core.KeptEffect: {State: hub.AskAnswered, Answer: &answer, Permission: &hub.PermissionPrompt{}},
	} {
		wantReason(t, core.CheckTakeBack(&a), reason)
	}
	wantReason(t, core.CheckTakeBack(&hub.Ask{State: hub.AskAnswered, AgentID: hub.AgentSystem, AnswerMessageID: &message}), core.KeptEffect)
	wantReason(t, core.CheckTakeBack(&hub.Ask{State: hub.AskWithdrawn}), core.KeptClosed)
	require.NoError(t, core.CheckTakeBack(&hub.Ask{State: hub.AskAnswered, AgentID: "dev", AnswerMessageID: &message}))
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != hub.CodeNotTakenBack || e.Detail["reason"] != reason {
		t.Errorf("%v, want not_taken_back for %q", err, reason)
	}
}
