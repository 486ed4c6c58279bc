//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/require"
)

// helped is a session of Claude Code with its hooks and its bridge.
type helped struct {
	*hooked
	t      *testing.T
	bridge *wire
	n      int
}

var claudeVars = []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1"}

// hook calls a hook as the sub-agent who, or as the main agent (""), and returns its answer.
func (h *helped) hook(event, who, more string) string {
	h.t.Helper()
	payload := `{"session_id":"s1","cwd":"` + h.folder + `","prompt_id":"p1"` + more
	if who != "" {
		payload += `,"agent_id":"` + who + `","agent_type":"general-purpose"`
	}
	out, err := h.command(claudeVars, payload+"}", "hook", event, "--harness", "claude-code").Output()
	require.NoError(h.t, err)
	return string(out)
}

// before is the hook before a call of a tool of the hub.
func (h *helped) before(who, tool string) (call, said string) {
	h.t.Helper()
	h.n++
	call = fmt.Sprint("toolu_", h.n)
	return call, h.hook("before-call", who, `,"hook_event_name":"PreToolUse","tool_name":"mcp__hub__`+tool+`","tool_use_id":"`+call+`"`)
}

// as calls a tool after its hook.
func (h *helped) as(who, tool string, args any) string {
	h.t.Helper()
	call, said := h.before(who, tool)
	if said != "" {
		h.t.Fatalf("the hook does not let %q call %s: %s", who, tool, said)
	}
	r, err := h.bridge.await(h.bridge.ask("tools/call", map[string]any{
		"name": tool, "arguments": args, "_meta": map[string]any{"claudecode/toolUseId": call},
	}))
	var a toolAnswer
	if err == nil {
		err = json.Unmarshal(r.Result, &a)
	}
	if err != nil || len(a.Content) == 0 {
		h.t.Fatalf("%s: %v: %s %s", tool, err, r.Result, r.Error)
	}
	var all strings.Builder
	for _, c := range a.Content {
		all.WriteString(c.Text + "\n")
	}
	return all.String()
}

// TestSubAgentIsItsOwn: with the real executable. The hook before a call tells the bridge of a
// sub-agent, which then has its own locks and none of the mail of its main agent. When it ends, it
// holds nothing any more.
func TestSubAgentIsItsOwn(t *testing.T) {
	h := &helped{hooked: startHooked(t), t: t}
	h.bridge = h.mcp(t, claudeVars, "--no-ensure", "--harness", "claude-code").shake()
	main := identity.AgentOf(hub.HarnessClaudeCode, "s1")
	sub := main.SubAgent("a1b2c3")
	if say := h.as("", "hub_start", map[string]any{}); !strings.Contains(say, "You are "+string(main)) {
		t.Fatalf("the main agent hears %q", say)
	}
	require.Eventually(t, "the hook knows that the bridge hears of calls", func() bool {
		_, said := h.before("a1b2c3", "hub_poll_messages")
		return said == ""
	})
	if say := h.hook("subagent-start", "a1b2c3", `,"hook_event_name":"SubagentStart"`); !strings.Contains(say, "On the hub you are "+string(sub)) {
		t.Errorf("when it begins the sub-agent is told %q", say)
	}
	_, err := h.Post(t.Context(), hub.PostInput{FromAgent: "dev", ToAgent: main, Body: "FOR-THE-MAIN-AGENT"})
	require.NoError(t, err)
	for _, tool := range []string{"hub_start", "hub_poll_messages"} {
		args := map[string]any{}
		if tool == "hub_poll_messages" {
			args["timeout_seconds"] = 0
		}
		if say := h.as("a1b2c3", tool, args); strings.Contains(say, "FOR-THE-MAIN-AGENT") {
			t.Errorf("%s gives the sub-agent %q", tool, say)
		}
	}
	if say := h.as("", "hub_poll_messages", map[string]any{"timeout_seconds": 0}); !strings.Contains(say, "FOR-THE-MAIN-AGENT") {
		t.Errorf("the main agent reads %q", say)
	}

	h.as("a1b2c3", "hub_lock", map[string]any{"file_path": "main.go"})
	edit := `,"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"` + filepath.Join(h.folder, "main.go") + `"}`
	if say := h.hook("before-edit", "", edit); !strings.Contains(say, string(sub)+" holds the lock on ") {
		t.Errorf("before its edit the main agent is told %q", say)
	}
	if say := h.hook("before-edit", "a1b2c3", edit); say != "" {
		t.Errorf("before an edit of the file that it has locked the sub-agent is told %q", say)
	}
	h.hook("subagent-stop", "a1b2c3", `,"hook_event_name":"SubagentStop"`)
	locks, _, err := h.Locks(t.Context(), hub.LeasesQuery{ActiveOnly: true})
	require.NoError(t, err)
	if len(locks) != 0 {
		t.Errorf("after its end there are the locks %+v", locks)
	}
	agents, _, err := h.Agents(t.Context(), hub.AgentsQuery{Prefix: string(sub)})
	require.NoError(t, err)
	if len(agents) != 0 {
		t.Errorf("after its end there are the agents %+v", agents)
	}
	if say := h.as("a1b2c3", "hub_whoami", map[string]any{}); !strings.Contains(say, "You are "+string(sub)) {
		t.Errorf("when it goes on it is %q", say)
	}
}
