package core_test

import (
	"errors"
	"slices"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A run that is read from the store counts only while no run has ended since: the
// row may be an older one of a run that was reopened meanwhile.
func TestRunIsReopenedFromItsLatestRow(t *testing.T) {
	r := newTaskRig(t)
	run, err := r.startRun("lead", hub.RunInput{Title: "x"})
	require.NoError(t, err)
	end := func() {
		t.Helper()
		a, err := r.postInRun(core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x"}, run.RunID)
		require.NoError(t, err)
		if _, err := r.complete(a.Message, "dev", ""); err != nil {
			t.Fatal(err)
		}
	}
	end()
	id := r.open(core.MessageDraft{Body: "late"})
	c := core.JoinRunCommand{By: by("lead"), Run: run.RunID, Tasks: []hub.TaskID{id}}
	_, err = r.live.JoinRun(c, r.now, r)
	if c.Ended = r.ended(err); c.Ended == nil || c.Ended.Row == nil {
		t.Fatalf("a run that has ended: %v", err)
	}
	end() // another call reopens it, and it ends again
	var gone *core.RunNotLive
	if _, err := r.live.JoinRun(c, r.now, r); !errors.As(err, &gone) {
		t.Fatalf("joined from an old row: %v", err)
	}
	row, err := r.joinRun("lead", run.RunID, id)
	if err != nil || row.Counts != (hub.RunCounts{Total: 3, Open: 1, Done: 2}) || row.Status != hub.RunRunning || row.EndedAt != nil {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestRunLimits(t *testing.T) {
	r := newTaskRig(t)
	run, err := r.startRun("lead", hub.RunInput{Title: "x"})
	require.NoError(t, err)
	var ids []hub.TaskID
	for range hub.MaxRunTasks + 1 {
		ids = append(ids, r.open(core.MessageDraft{Body: "x"}))
	}
	full := &hub.Error{Code: hub.CodeLimitReached}
	if _, err := r.joinRun("lead", run.RunID, ids[:401]...); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Errorf("401 tasks at once: %v", err)
	}
	for part := range slices.Chunk(ids[:hub.MaxRunTasks], 400) {
		if _, err := r.joinRun("lead", run.RunID, part...); err != nil {
			t.Fatal(err)
		}
		if r.lastRows > hub.MaxRecordRows {
			t.Fatalf("a record of %d rows", r.lastRows)
		}
	}
	if _, err := r.joinRun("lead", run.RunID, ids[hub.MaxRunTasks]); !errors.Is(err, full) {
		t.Errorf("one task too many: %v", err)
	}
	if row, err := r.joinRun("lead", run.RunID, ids[0]); err != nil || row.Counts.Total != hub.MaxRunTasks {
		t.Errorf("one that is in it: %+v, %v", row, err)
	}
	if _, err := r.postInRun(core.MessageDraft{From: "lead", Kind: hub.KindTask}, run.RunID); !errors.Is(err, full) {
		t.Errorf("a post into a full run: %v", err)
	}
	if _, err := r.post(core.MessageDraft{From: "lead", Kind: hub.KindTask, Parent: ids[0]}); !errors.Is(err, full) {
		t.Errorf("a child in a full run: %v", err)
	}
}

// The operator may offer a task that another agent has, and take every offer
// back. The notices name the actor.
func TestTheOperatorHandsOver(t *testing.T) {
	r := newTaskRig(t)
	id := r.open(core.MessageDraft{Body: "x", To: "dev", Kind: hub.KindTaskRequest, Channel: hub.DirectChannel})
	operator := core.TaskActor{Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator}
	d, err := r.live.Handoff(id, core.HandoffCommand{By: operator, In: hub.HandoffInput{ToAgent: "next"}}, r.now)
	if err != nil || d.Messages[0].From != hub.AgentOperator || d.Messages[0].Authority != hub.AuthorityOperator {
		t.Fatalf("%+v, %v", d, err)
	}
	r.commit(d.Draft)
	if d, err = r.live.Decline(id, core.OfferCommand{By: operator}, r.now); err != nil || d.Messages[0].To != "next" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := r.live.Accept(id, core.OfferCommand{By: operator}, r.now); !errors.Is(err, &hub.Error{Code: hub.CodeNotOffered}) {
		t.Errorf("the operator accepts for another: %v", err)
	}
}
