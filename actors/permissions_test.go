package actors

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// permits turns permission prompts on.
func (r *rig) permits(rules ...hub.PermissionRule) {
	r.t.Helper()
	p, err := r.PermissionPolicy(r.t.Context())
	require.NoError(r.t, err)
	must(r.SetPermissionPolicy(asOperator(r.t.Context()), hub.PermissionPolicyInput{On: true, AnswerSec: 20, Rules: rules, Version: p.Version}))
}

func (r *rig) prompt(ctx context.Context) hub.Permission {
	r.t.Helper()
	command := "git push"
	p, err := r.RequestPermission(ctx, hub.PermissionInput{AgentID: "ann", Tool: "Bash", Command: &command, About: command})
	require.NoError(r.t, err)
	return p
}

type awaited struct {
	p   hub.Permission
	err error
}

func (r *rig) await(ctx context.Context, id hub.AskID, sec float64) <-chan awaited {
	got := make(chan awaited, 1)
	go func() {
		p, err := r.AwaitPermission(ctx, id, hub.PermissionWaitInput{AgentID: "ann", WaitSec: sec})
		got <- awaited{p, err}
	}()
	synctest.Wait()
	return got
}

// The operator's answer ends the wait of the hook, and the row keeps who gave it.
func TestPermissionPromptIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		if p := r.prompt(t.Context()); p.Verdict != hub.PermissionNone {
			t.Fatalf("while it is off: %+v", p)
		}
		r.permits()
		p := r.prompt(t.Context())
		first, second := r.await(t.Context(), *p.AskID, 20), r.await(t.Context(), *p.AskID, 20)
		must(r.AnswerAsk(asOperator(t.Context()), *p.AskID, hub.AskAnswerInput{Answer: "deny: not on Fridays", By: "Eva"}))
		for _, c := range []<-chan awaited{first, second, r.await(t.Context(), *p.AskID, 20)} {
			if got := <-c; got.err != nil || got.p.Verdict != hub.PermissionDeny || got.p.By != "Eva" || got.p.Reason != "not on Fridays" {
				t.Errorf("the wait ended with %+v", got)
			}
		}
		if row := r.askRow(*p.AskID); row.State != hub.AskAnswered || row.ClosedBy != "Eva" || row.ClosedAt == nil || row.Question != "Bash: git push" {
			t.Errorf("the row is %+v", row)
		}
		page, err := r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 10})
		if err != nil || len(page.Rows) != 0 {
			t.Errorf("the agent is told %v, %v", page.Rows, err)
		}
		r.permits(hub.PermissionRule{Decision: hub.PermissionAllow, Tool: "Bash", Words: []string{"git"}})
		p = r.prompt(t.Context())
		if row := r.askRow(*p.AskID); p.Verdict != hub.PermissionAllow || row.ClosedBy != "rule 1: allow Bash git" || *row.Answer != "allow" {
			t.Errorf("by a rule: %+v, row %+v", p, row)
		}
	})
}

// A prompt for which nobody waits any more leaves the list of open questions at once: when
// its time is over, when the hook has gone, and when the hub was killed meanwhile.
func TestPermissionPromptIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		r.permits()
		late, gone, cut := r.prompt(t.Context()), r.prompt(t.Context()), r.prompt(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		lateEnds, goneEnds := r.await(t.Context(), *late.AskID, 10), r.await(ctx, *gone.AskID, 20)
		cancel()
		if got := <-goneEnds; got.p.Verdict != hub.PermissionNone {
			t.Errorf("the hook has gone: %+v", got)
		}
		if row := r.askRow(*gone.AskID); row.State != hub.AskWithdrawn || row.Reason != "the harness no longer waits" {
			t.Errorf("the hook has gone: %+v", row)
		}
		time.Sleep(10 * time.Second)
		if got := <-lateEnds; got.err != nil || got.p.Verdict != hub.PermissionNone {
			t.Errorf("nobody answered: %+v", got)
		}
		if row := r.askRow(*late.AskID); row.State != hub.AskWithdrawn || row.Reason == "" {
			t.Errorf("nobody answered: %+v", row)
		}
		cutEnds := r.await(t.Context(), *cut.AskID, 20)
		store = r.crash()
		if got := <-cutEnds; got.p.Verdict != hub.PermissionNone {
			t.Errorf("the hub was killed: %+v", got)
		}
		r = start(t, store)
		defer r.stop()
		synctest.Wait()
		if row := r.askRow(*cut.AskID); row.State != hub.AskWithdrawn {
			t.Errorf("after the start: %+v", row)
		}
		if p := r.prompt(t.Context()); p.Verdict != hub.PermissionAsk || p.WaitSec != 20 {
			t.Errorf("the policy after the start: %+v", p)
		}
	})
}

// Only its agent waits for a prompt, and a question of an agent is none.
func TestPermissionPromptsArePrivate(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.permits()
		p := r.prompt(t.Context())
		_, err := r.AwaitPermission(t.Context(), *p.AskID, hub.PermissionWaitInput{AgentID: "ben", WaitSec: 1})
		wantCode(t, err, hub.CodeAskNotFound)
		q := r.ask(hub.AskInput{AgentID: "ann", Question: "x"})
		_, err = r.AwaitPermission(t.Context(), q.AskID, hub.PermissionWaitInput{AgentID: "ann", WaitSec: 1})
		wantCode(t, err, hub.CodeAskNotFound)
		if row := r.askRow(*p.AskID); row.State != hub.AskOpen {
			t.Errorf("the prompt is %+v", row)
		}
	})
}
