package adapter

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// crowded is a hub with live agents.
type crowded struct {
	silent
	agents map[hub.AgentID]hub.Harness
}

func (c *crowded) Agents(context.Context, hub.AgentsQuery) (rows []hub.LiveAgent, _ hub.Cursor, _ error) {
	for id, harness := range c.agents {
		row := hub.LiveAgent{Session: hub.Session{AgentID: id}}
		row.Metadata = json.RawMessage(`{"harness":"` + string(harness) + `"}`)
		rows = append(rows, row)
	}
	return rows, "", nil
}

// TestSessionsThatMayWriteBack: Claude Code writes its file as it has read it when a session
// ends. An uninstall names the sessions that run; who they are does not change the plan.
func TestSessionsThatMayWriteBack(t *testing.T) {
	r := newRig(t)
	here := &crowded{agents: map[hub.AgentID]hub.Harness{"c1": hub.HarnessClaudeCode, "x1": hub.HarnessCodex, hub.TrialPrefix + "1": hub.HarnessClaudeCode}}
	r.config.Hub = here
	in := r.input(hub.AdapterGlobal)
	for _, h := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex} {
		r.must(h, hub.AdapterInstall, in)
	}
	plan := func(h hub.Harness) hub.AdapterPlan {
		p, err := r.PreviewAdapter(t.Context(), h, hub.AdapterUninstall, in)
		require.NoError(t, err)
		return p
	}
	first := plan(hub.HarnessClaudeCode)
	if said := strings.Join(first.FollowUps, "\n"); !strings.Contains(said, "that run (c1)") {
		t.Errorf("it says %q", said)
	}
	if said := plan(hub.HarnessCodex).FollowUps; len(said) != 0 {
		t.Errorf("Codex writes nothing back, but it says %q", said)
	}
	here.agents = nil
	if last := plan(hub.HarnessClaudeCode); last.Digest != first.Digest || len(last.FollowUps) != 0 {
		t.Errorf("without sessions: %q, the digest is the same: %t", last.FollowUps, last.Digest == first.Digest)
	}
	here.agents = map[hub.AgentID]hub.Harness{"c2": hub.HarnessClaudeCode}
	if done := r.must(hub.HarnessClaudeCode, hub.AdapterUninstall, in); len(done.FollowUps) != 1 {
		t.Errorf("the result says %q", done.FollowUps)
	}
}
