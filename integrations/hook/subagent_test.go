package hook

import (
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// helped is a world in which a session of Claude Code has begun whose bridge runs, and is told
// the id of each call if told says so.
func helped(t *testing.T, told bool) *world {
	t.Helper()
	w := newWorld(t)
	running := map[int]process.Process{
		20: {PID: 20, Parent: 2, Began: "20", Name: "claude"},
		21: {PID: 21, Parent: 20, Began: "21", Name: "hubcli"},
		22: {PID: 22, Parent: 20, Began: "22", Name: "hubcli"},
	}
	w.PID, w.Process = 22, func(pid int) (process.Process, bool) { p, ok := running[pid]; return p, ok }
	note := identity.Note{
		AgentID: agent, BaseURL: w.DefaultBaseURL, InstanceID: "i1", Harness: hub.HarnessClaudeCode,
		Session: identity.Key("s1"), Bridge: running[21], Calls: told,
	}
	require.NoError(t, identity.NotesOf(w.DataRoot, w.Process).Leave(running[20], note))
	require.NoError(t, identity.SessionsOf(w.DataRoot).Replace("s1", identity.Binding{AgentID: agent, BaseURL: w.DefaultBaseURL, InstanceID: "i1"}))
	w.Flag = "claude-code"
	return w
}

// calls is the payload before a call of a tool of the hub.
func calls(tool, more string) []byte {
	return []byte(`{` + session + `,"hook_event_name":"PreToolUse","tool_name":"mcp__hub__` + tool + `"` + more + `}`)
}

const (
	ofSub  = `,"agent_id":"a1b2c3","agent_type":"general-purpose"`
	withID = `,"tool_use_id":"toolu_1"`
)

// TestBeforeCallTellsTheBridge: the bridge learns who calls a tool of the hub, and the harness
// runs it.
func TestBeforeCallTellsTheBridge(t *testing.T) {
	for name, c := range map[string]struct{ more, want string }{
		"the main agent":           {"", ""},
		"a main session in a role": {`,"agent_type":"reviewer"`, ""},
		"a sub-agent":              {ofSub, "a1b2c3"},
		"a name of 600 bytes":      {`,"agent_id":"` + strings.Repeat("é", 300) + `"`, identity.Key(strings.Repeat("é", 300))},
		"a name of 10240 bytes":    {`,"agent_id":"` + strings.Repeat("x", 10240) + `"`, identity.Key(strings.Repeat("x", 10240))},
	} {
		w := helped(t, true)
		for _, tool := range []string{"hub_poll_messages", "hub_lock"} {
			if got := w.Run(t.Context(), BeforeCall, calls(tool, c.more+withID)); got != (Answer{}) {
				t.Errorf("%s, %s: it says %+v", name, tool, got)
			}
			by, ok := identity.SessionsOf(w.DataRoot).TakeCall("toolu_1")
			if !ok || by.SubAgent != c.want {
				t.Errorf("%s, %s: the bridge learns %+v, %v", name, tool, by, ok)
			}
		}
		w.asked(t)
	}
	w := helped(t, true)
	other := strings.Replace(string(calls("x", ofSub+withID)), "mcp__hub__x", "mcp__other__hub_poll_messages", 1)
	if got := w.Run(t.Context(), BeforeCall, []byte(other)); got != (Answer{}) {
		t.Errorf("of another server's tool it says %+v", got)
	}
	if _, ok := identity.SessionsOf(w.DataRoot).TakeCall("toolu_1"); ok {
		t.Error("a call of another server's tool is noted")
	}
}

// TestBeforeCallKeepsSubAgentsFromTheMail: where the bridge cannot learn who calls, a sub-agent
// is refused the tools that read its main agent's messages or end its tasks, and no other.
func TestBeforeCallKeepsSubAgentsFromTheMail(t *testing.T) {
	for name, c := range map[string]struct {
		told bool
		more string
	}{
		"a bridge that is told no ids": {false, withID},
		"a harness that gives no ids":  {true, ""},
	} {
		w := helped(t, c.told)
		refused := func(tool, more string) bool {
			got := w.Run(t.Context(), BeforeCall, calls(tool, c.more+more))
			no := strings.Contains(got.Stdout, `"permissionDecision":"deny","permissionDecisionReason":"You are a sub-agent of `+string(agent)+`, and `)
			if !no && got != (Answer{}) {
				t.Errorf("%s, %s: it says %+v", name, tool, got)
			}
			return no
		}
		for _, tool := range hub.MainAgentTools() {
			if !refused(tool, ofSub) {
				t.Errorf("%s: a sub-agent may call %s", name, tool)
			}
			if !refused(tool, `,"agent_id":"`+strings.Repeat("é", 300)+`"`) {
				t.Errorf("%s: a sub-agent with a long name may call %s", name, tool)
			}
			if refused(tool, "") {
				t.Errorf("%s: the main agent may not call %s", name, tool)
			}
			for _, inner := range []string{tool, "mcp__hub__" + tool, strings.TrimPrefix(tool, "hub_"), " " + strings.ToUpper(tool)} {
				if !refused("hub_call_tool", ofSub+`,"tool_input":{"name":"`+inner+`"}`) {
					t.Errorf("%s: a sub-agent may call %q by hub_call_tool", name, inner)
				}
			}
		}
		for _, tool := range []string{"hub_lock", "hub_whoami", "hub_post_message"} {
			if refused(tool, ofSub) || refused("hub_call_tool", ofSub+`,"tool_input":{"name":"`+tool+`"}`) {
				t.Errorf("%s: a sub-agent may not call %s", name, tool)
			}
		}
	}
}

// TestSubAgentIsToldWhoItIs: when it begins, and only where it has tools of the hub.
func TestSubAgentIsToldWhoItIs(t *testing.T) {
	begins := session + `,"hook_event_name":"SubagentStart"` + ofSub
	own := "On the hub you are " + string(agent) + ":a1b2c3: your locks are your own"
	if text := helped(t, true).say(t, SubStart, begins); !strings.HasPrefix(text, "You are a sub-agent of "+string(agent)+", ") || !strings.Contains(text, own) {
		t.Errorf("it is told %q", text)
	}
	if text := helped(t, false).say(t, SubStart, begins); !strings.HasPrefix(text, "You are a sub-agent of ") || strings.Contains(text, "On the hub you are") {
		t.Errorf("where its tools do not know it, it is told %q", text)
	}
	if text := begun(t).say(t, SubStart, begins); text != "" {
		t.Errorf("without a bridge it is told %q", text)
	}
	if text := helped(t, true).say(t, SubStart, session+`,"hook_event_name":"SubagentStart"`); text != "" {
		t.Errorf("without a name it is told %q", text)
	}
}

// TestSubAgentLetsGoWhatItHolds: when it ends, and nothing of its main agent or of a sibling.
func TestSubAgentLetsGoWhatItHolds(t *testing.T) {
	sub, sibling := agent.SubAgent("a1b2c3"), agent.SubAgent("d4")
	ends := session + `,"hook_event_name":"SubagentStop"` + ofSub
	w := helped(t, true)
	w.hub.locks = map[string]hub.AgentID{"/work/app/a": sub, "/work/app/b": agent, "/work/app/c": sibling}
	w.hub.claims = map[hub.ClaimKey]hub.AgentID{"mine": sub, "theirs": agent}
	w.hub.live[sub], w.hub.mains = true, map[hub.AgentID]hub.AgentID{sub: agent}
	if text := w.say(t, SubStop, ends); text != "" {
		t.Errorf("it says %q", text)
	}
	released := slices.DeleteFunc(slices.Clone(w.hub.calls), func(call string) bool {
		return !strings.HasPrefix(call, "release") && !strings.HasPrefix(call, "unlock")
	})
	if len(released) != 2 || !strings.Contains(strings.Join(released, "; "), "/work/app/a") || !strings.Contains(strings.Join(released, "; "), "release mine by "+string(sub)) {
		t.Errorf("it releases %q (of %q)", released, w.hub.calls)
	}
	if !slices.Contains(w.hub.calls, "close s1.secret for "+string(agent)) {
		t.Errorf("its session is not closed: %q", w.hub.calls)
	}
	w = helped(t, true)
	w.say(t, SubStop, ends)
	if slices.ContainsFunc(w.hub.calls, func(call string) bool { return strings.HasPrefix(call, "register") }) {
		t.Errorf("a sub-agent that the hub has not seen is registered: %q", w.hub.calls)
	}
	w = helped(t, false)
	w.say(t, SubStop, ends)
	w.asked(t)
}

// TestEditOfASubAgent: a sub-agent is warned of the locks of its main agent and of its siblings,
// and not of its own. Where its tools act as the main agent, so do its edits.
func TestEditOfASubAgent(t *testing.T) {
	sub := agent.SubAgent("a1b2c3")
	edit := func(w *world, harness hub.Harness, path string) string {
		return w.sayIn(t, harness, BeforeEdit, session+`,"tool_name":"Edit","tool_input":{"file_path":"`+path+`"}`+ofSub)
	}
	for _, told := range []bool{true, false} {
		w := helped(t, told)
		w.hub.locks = map[string]hub.AgentID{"/work/app/a": sub, "/work/app/b": agent, "/work/app/c": agent.SubAgent("d4")}
		w.hub.until = hub.TimeOf(w.now.Add(1e11))
		for path, own := range map[string]bool{"/work/app/a": told, "/work/app/b": !told, "/work/app/c": false} {
			if text := edit(w, hub.HarnessClaudeCode, path); (text == "") != own {
				t.Errorf("told %v, %s: it says %q", told, path, text)
			}
		}
	}
	for harness, own := range map[hub.Harness]bool{hub.HarnessCodex: true, hub.HarnessClaudeCode: false} {
		for _, told := range []bool{true, false} {
			w := helped(t, told)
			w.hub.locks = map[string]hub.AgentID{"/work/app/a": "of-a-session"}
			w.hub.until = hub.TimeOf(w.now.Add(1e11))
			require.NoError(t, identity.SessionsOf(w.DataRoot).Replace("a1b2c3", identity.Binding{AgentID: "of-a-session", BaseURL: w.DefaultBaseURL, InstanceID: "i1"}))
			if text := edit(w, harness, "/work/app/a"); (text == "") != own {
				t.Errorf("%s, told %v: of a lock of the session that is named as the sub-agent is, it says %q", harness, told, text)
			}
		}
	}
}

// TestSubAgentNamedAsAnother: a sub-agent whose name is also that of another session or agent is
// told of itself, and its end ends nobody else.
func TestSubAgentNamedAsAnother(t *testing.T) {
	const other = hub.AgentID("other-main")
	same := agent.SubAgent("other")
	named := func(name string) string { return `,"agent_id":"` + name + `","agent_type":"general-purpose"` }
	world := func(told bool) *world {
		w := helped(t, told)
		w.hub.locks = map[string]hub.AgentID{"/work/app/a": other, "/work/app/b": same, "/work/app/c": agent}
		w.hub.claims = map[hub.ClaimKey]hub.AgentID{"its": other, "also": same, "mine": agent}
		w.hub.live[other], w.hub.live[agent], w.hub.live[same] = true, true, true
		w.hub.mains = map[hub.AgentID]hub.AgentID{same: other}
		sessions := identity.SessionsOf(w.DataRoot)
		require.NoError(t, sessions.Replace("s2", identity.Binding{AgentID: other, BaseURL: w.DefaultBaseURL, InstanceID: "i1"}))
		return w
	}
	for _, name := range []string{"s1", "s2", string(other), string(agent), "other", strings.Repeat("x", 10240)} {
		for _, harness := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex} {
			for _, told := range []bool{true, false} {
				w := world(told)
				w.sayIn(t, harness, SubStop, session+`,"hook_event_name":"SubagentStop"`+named(name))
				for _, call := range w.hub.calls {
					if verb, _, _ := strings.Cut(call, " "); slices.Contains([]string{"release", "unlock", "register", "close"}, verb) {
						t.Errorf("%s, told %v: the end of %.20q calls %q", harness, told, name, call)
					}
				}
			}
		}
		text := world(true).say(t, SubStart, session+`,"hook_event_name":"SubagentStart"`+named(name))
		if want := "On the hub you are " + string(agent) + ":"; !strings.Contains(text, want) {
			t.Errorf("when it begins %.20q is told %q", name, text)
		}
	}
}
