package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// claude is a bridge of Claude Code's session s1, whose calls have ids.
type claude struct {
	*rig
	root string
	n    int
}

func claudeTo(t *testing.T, h *testhub.Hub) *claude {
	t.Helper()
	c := &claude{root: t.TempDir()}
	c.rig = bridgeTo(t, h, kept(c.root, func(cfg *Config) {
		cfg.Harness, cfg.Process, cfg.Parent = "claude-code", process.Look, os.Getppid
		cfg.Getenv = func(name string) string { return map[string]string{"CLAUDE_CODE_SESSION_ID": "s1"}[name] }
	}))
	return c
}

// by calls a tool as a sub-agent, as the main agent ("main"), or without a hook that says who
// calls ("").
func (c *claude) by(who, tool string, args any) *sdk.CallToolResult {
	c.tb.Helper()
	c.n++
	id := fmt.Sprintf("toolu_%d", c.n)
	if who != "" {
		require.NoError(c.tb, identity.SessionsOf(c.root).NoteCall(id, identity.Caller{SubAgent: strings.TrimPrefix(who, "main")}))
	}
	res, err := c.CallTool(context.Background(), &sdk.CallToolParams{
		Meta: sdk.Meta{"claudecode/toolUseId": id}, Name: tool, Arguments: args,
	})
	require.NoError(c.tb, err)
	return res
}

// said calls a tool and returns what the model reads.
func (c *claude) said(who, tool string, args any) string {
	c.tb.Helper()
	return text(c.by(who, tool, args))
}

func mailTo(t *testing.T, c *claude, to hub.AgentID, body string) {
	t.Helper()
	_, err := c.hub.Post(context.Background(), hub.PostInput{FromAgent: "dev", ToAgent: to, Body: body})
	require.NoError(t, err)
}

// askedOf gives an agent a task.
func askedOf(t *testing.T, c *claude, agent hub.AgentID) hub.TaskID {
	t.Helper()
	posted, err := c.hub.Post(context.Background(), hub.PostInput{FromAgent: "dev", ToAgent: agent, Kind: hub.KindTaskRequest, Body: "do it"})
	require.NoError(t, err)
	row, err := posted.Row.Decode()
	require.NoError(t, err)
	return row.ID
}

// TestSubAgentReadsNoMailOfItsMainAgent: whichever tool it calls. Its own messages come to it
// alone, and what is sent to it after its end comes to its main agent.
func TestSubAgentReadsNoMailOfItsMainAgent(t *testing.T) {
	c := claudeTo(t, testhub.Start(t))
	main := identity.AgentOf(hub.HarnessClaudeCode, "s1")
	sub := main.SubAgent("a1b2c3")
	if say := c.said("main", "hub_start", nil); !strings.Contains(say, string(main)) || strings.Contains(say, "sub-agent") {
		t.Fatalf("the main agent hears %q", say)
	}
	mailTo(t, c, main, "FOR-THE-MAIN-AGENT")
	for _, tool := range []string{"hub_start", "hub_poll_messages", "hub_whoami"} {
		args := map[string]any(nil)
		if tool == "hub_poll_messages" {
			args = map[string]any{"timeout_seconds": 0}
		}
		say := c.said("a1b2c3", tool, args)
		if strings.Contains(say, "FOR-THE-MAIN-AGENT") {
			t.Errorf("%s gives the sub-agent the mail of its main agent: %q", tool, say)
		}
		if tool != "hub_poll_messages" && (!strings.Contains(say, string(sub)) || !strings.Contains(say, "You are a sub-agent of "+string(main))) {
			t.Errorf("%s tells the sub-agent %q", tool, say)
		}
	}
	mailTo(t, c, sub, "FOR-THE-SUB-AGENT")
	if say := c.said("a1b2c3", "hub_poll_messages", map[string]any{"timeout_seconds": 5}); !strings.Contains(say, "FOR-THE-SUB-AGENT") {
		t.Errorf("the sub-agent does not read its own mail: %q", say)
	}
	if say := c.said("main", "hub_poll_messages", map[string]any{"timeout_seconds": 5}); !strings.Contains(say, "FOR-THE-MAIN-AGENT") || strings.Contains(say, "FOR-THE-SUB-AGENT") {
		t.Errorf("the main agent reads %q", say)
	}
	for _, s := range c.bridge.link.SubAgents() {
		c.bridge.link.EndSubAgent(context.Background(), s)
	}
	mailTo(t, c, sub, "FOR-ONE-THAT-HAS-ENDED")
	if say := c.said("main", "hub_poll_messages", map[string]any{"timeout_seconds": 5}); !strings.Contains(say, "FOR-ONE-THAT-HAS-ENDED") {
		t.Errorf("what is sent to a sub-agent that has ended: %q", say)
	}
}

// TestSubAgentHasItsOwnLocks: its main agent and its siblings are kept out, and it finishes no
// task of its main agent, which stays the agent that it is.
func TestSubAgentHasItsOwnLocks(t *testing.T) {
	h := testhub.Start(t)
	c := claudeTo(t, h)
	main := identity.AgentOf(hub.HarnessClaudeCode, "s1")
	file := map[string]any{"file_path": "/work/app/main.go"}
	if say := c.said("one", "hub_lock", file); !strings.Contains(say, "You have") {
		t.Fatalf("the sub-agent gets no lock: %q", say)
	}
	for _, who := range []string{"main", "two"} {
		if say := c.said(who, "hub_lock", file); !strings.Contains(say, string(main)+":one has ") {
			t.Errorf("%s is told of the lock: %q", who, say)
		}
	}
	task := askedOf(t, c, main)
	if res := c.by("one", "hub_done", map[string]any{}); !res.IsError || !strings.Contains(text(res), "you have no task") {
		t.Errorf("a sub-agent finishes the task of its main agent: %q", text(res))
	}
	if res := c.by("one", "hub_join", map[string]any{"agent_id": "other"}); !res.IsError || !strings.Contains(text(res), "a sub-agent stays what it is") {
		t.Errorf("a sub-agent becomes another agent: %q", text(res))
	}
	if say := c.said("main", "hub_done", map[string]any{"task_id": task}); !strings.Contains(say, "is done") || strings.Contains(say, "sub-agent") {
		t.Errorf("the main agent finishes its task: %q", say)
	}
	fresh := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	defer fresh.Close()
	c.end()
	locks, _, err := fresh.Locks(context.Background(), hub.LeasesQuery{ActiveOnly: true})
	require.NoError(t, err)
	for _, l := range locks {
		t.Errorf("after the session %s holds %s", l.AgentID, l.FilePath)
	}
}

// TestSubAgentDisplacesNoOther: an agent that somebody has named as the sub-agent would be stays
// live, and the sub-agent is told why it has no tools. Its own session from before it takes over.
func TestSubAgentDisplacesNoOther(t *testing.T) {
	h := testhub.Start(t)
	c := claudeTo(t, h)
	c.said("main", "hub_start", nil)
	main := identity.AgentOf(hub.HarnessClaudeCode, "s1")
	sub := main.SubAgent("one")
	fresh := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	t.Cleanup(fresh.Close)
	another, err := fresh.Register(t.Context(), hub.RegisterInput{AgentID: sub})
	require.NoError(t, err)
	if res := c.by("one", "hub_whoami", nil); !res.IsError || !strings.Contains(text(res), string(sub)+" on the hub, and that is another agent") {
		t.Errorf("the sub-agent hears %q", text(res))
	}
	if _, err := fresh.CloseSession(t.Context(), another.Row.SessionID, ""); err != nil {
		t.Errorf("the other agent has no session any more: %v", err)
	}
	if say := c.said("one", "hub_whoami", nil); !strings.Contains(say, string(sub)) {
		t.Errorf("after the end of the other agent it hears %q", say)
	}
	_, err = fresh.Register(t.Context(), hub.RegisterInput{AgentID: sub, Metadata: []byte(`{"main_agent":"` + main + `"}`)})
	require.NoError(t, err)
	if say := c.said("one", "hub_whoami", nil); !strings.Contains(say, string(sub)) {
		t.Errorf("after another process has begun a session of the sub-agent it hears %q", say)
	}
}

// TestWhoCallsIsNotKnown: where no hook says who calls, answers with messages say whose they are,
// and the descriptions of the tools that end tasks say which a sub-agent may end.
func TestWhoCallsIsNotKnown(t *testing.T) {
	c := claudeTo(t, testhub.Start(t))
	main := identity.AgentOf(hub.HarnessClaudeCode, "s1")
	words := "For " + string(main) + "; a sub-agent hands it on."
	says := func(want bool, tool string, args map[string]any) {
		t.Helper()
		if say := c.said("", tool, args); strings.Contains(say, words) != want {
			t.Errorf("%s says %q", tool, say)
		}
	}
	says(false, "hub_start", nil)
	says(false, "hub_poll_messages", map[string]any{"timeout_seconds": 0})
	mailTo(t, c, main, "hello")
	says(true, "hub_poll_messages", map[string]any{"timeout_seconds": 5})
	mailTo(t, c, main, "hello again")
	says(true, "hub_call_tool", map[string]any{"name": "hub_start"})
	says(false, "hub_whoami", nil)
	task := askedOf(t, c, main)
	says(false, "hub_done", map[string]any{"task_id": task})
	for _, name := range []string{"hub_done", "hub_complete_task", "hub_update_task"} {
		if tool, ok := find(name); !ok || !strings.Contains(tool.description, "A sub-agent ") {
			t.Errorf("%s does not say what a sub-agent may do with it: %q", name, tool.description)
		}
	}
}

// TestHooksLearnThatCallsHaveIDs: with the first call that has one.
func TestHooksLearnThatCallsHaveIDs(t *testing.T) {
	c := claudeTo(t, testhub.Start(t))
	notes := identity.NotesOf(c.root, process.Look)
	told := func() bool {
		note, ok := notes.OfBridge(os.Getpid(), hub.HarnessClaudeCode, identity.Key("s1"), func(process.Process) bool { return false })
		return ok && note.Calls
	}
	whoamiLine(c.rig)
	if told() {
		t.Error("hooks think that calls have ids before one had")
	}
	c.said("", "hub_whoami", nil)
	require.Eventually(t, "the note of the bridge says so", told)
}

// TestToolsOfTheMainAgent are tools that there are.
func TestToolsOfTheMainAgent(t *testing.T) {
	for _, name := range hub.MainAgentTools() {
		if _, ok := find(name); !ok {
			t.Errorf("there is no tool %s", name)
		}
	}
}
