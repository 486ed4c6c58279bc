package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

var copilotAgent = hub.AgentID("copilot-cli-" + identity.Key("cop-1")[:8])

// inCopilot is a world in which a session of Copilot CLI has begun whose bridge runs. It was
// started with these arguments.
func inCopilot(t *testing.T, args ...string) *world {
	t.Helper()
	w := newWorld(t)
	running := map[int]process.Process{
		20: {PID: 20, Parent: 2, Began: "20", Name: "copilot"},
		21: {PID: 21, Parent: 20, Began: "21", Name: "hubcli"},
		22: {PID: 22, Parent: 20, Began: "22", Name: "hubcli"},
	}
	w.PID, w.Process = 22, func(pid int) (process.Process, bool) { p, ok := running[pid]; return p, ok }
	w.Arguments = func(pid int) ([]string, bool) { return append([]string{"copilot"}, args...), pid == 20 }
	w.vars["HOME"] = t.TempDir()
	note := identity.Note{
		AgentID: copilotAgent, BaseURL: w.DefaultBaseURL, InstanceID: "i1", Harness: hub.HarnessCopilotCLI,
		Session: identity.Key("cop-1"), Bridge: running[21],
	}
	require.NoError(t, identity.NotesOf(w.DataRoot, w.Process).Leave(running[20], note))
	require.NoError(t, identity.SessionsOf(w.DataRoot).Replace("cop-1", identity.Binding{AgentID: copilotAgent, BaseURL: w.DefaultBaseURL, InstanceID: "i1", RoomID: "r_5"}))
	return w
}

// TestBeforeCallTagsTheCall: Copilot CLI tells the bridge no id of a call, so the hook puts it there,
// beside what the harness itself has set, for the main agent and for a sub-agent.
func TestBeforeCallTagsTheCall(t *testing.T) {
	for file, want := range map[string]struct{ call, by string }{
		"copilot-cli.before-call": {"call_1", ""}, "copilot-cli-subagent.before-call": {"call_2", copilotSub},
	} {
		for meta, answer := range map[string]string{
			"":                             `{"metaToUse":{"hubcli/toolCallId":"` + want.call + `"}}`,
			`,"_meta":{"traceparent":"1"}`: `{"metaToUse":{"hubcli/toolCallId":"` + want.call + `","traceparent":"1"}}`,
			`,"_meta":7`:                   `{"metaToUse":{"hubcli/toolCallId":"` + want.call + `"}}`,
		} {
			w := inCopilot(t)
			sent := strings.Replace(string(payload(t, file)), `"arguments": {}`, `"arguments": {}`+meta, 1)
			if got := w.Run(t.Context(), BeforeCall, []byte(sent)); got != (Answer{Stdout: answer}) {
				t.Errorf("%s%s: it says %+v, want %s", file, meta, got, answer)
			}
			if by, ok := identity.SessionsOf(w.DataRoot).TakeCall(want.call); !ok || by.SubAgent != want.by {
				t.Errorf("%s: the bridge learns %+v, %v", file, by, ok)
			}
			w.asked(t)
		}
	}
	w := inCopilot(t)
	other := strings.Replace(string(payload(t, "copilot-cli.before-call")), `"serverName": "hub"`, `"serverName": "other"`, 1)
	if got := w.Run(t.Context(), BeforeCall, []byte(other)); got != (Answer{}) {
		t.Errorf("of another server's tool it says %+v", got)
	}
}

// TestSubAgentsOfCopilot: a sub-agent, which has a session of its own there, and one that it has
// begun itself, are sub-agents of the agent of the session.
func TestSubAgentsOfCopilot(t *testing.T) {
	w := inCopilot(t)
	w.bindLocks()
	begin := func(file string, change ...string) string {
		return w.Run(t.Context(), SubStart, []byte(strings.NewReplacer(change...).Replace(string(payload(t, file))))).Stdout
	}
	first, second := copilotAgent.SubAgent(copilotSub), copilotAgent.SubAgent("nested")
	if text := begin("copilot-cli.subagent-start"); !strings.Contains(text, "You are a sub-agent of "+string(copilotAgent)) || !strings.Contains(text, "you are "+string(first)) {
		t.Errorf("it says %s", text)
	}
	// What the sub-agent begins names the session of the sub-agent.
	if text := begin("copilot-cli.subagent-start", `"sessionId": "cop-1"`, `"sessionId": "`+copilotSub+`"`, `"agentId": "`+copilotSub+`"`, `"agentId": "nested"`); !strings.Contains(text, "you are "+string(second)) {
		t.Errorf("of the one within it says %s", text)
	}
	edit := `{"sessionId":"ID","agentId":"ID","parentAgentId":"UP","timestamp":1,"cwd":"/work/app","toolName":"create","toolArgs":{"path":"/work/app/a.txt"}}`
	for id, up := range map[string]string{copilotSub: "cop-1", "nested": copilotSub} {
		for holder, warns := range map[hub.AgentID]bool{copilotAgent: true, copilotAgent.SubAgent(id): false} {
			w.hub.locks = map[string]hub.AgentID{"/work/app/a.txt": holder}
			got := w.Run(t.Context(), BeforeEdit, []byte(strings.NewReplacer("ID", id, "UP", up).Replace(edit)))
			if strings.Contains(got.Stdout, "holds the lock") != warns {
				t.Errorf("%s edits what %s has locked: %+v", id, holder, got)
			}
		}
	}
	w.hub.locks = map[string]hub.AgentID{"/work/app/b.txt": first}
	w.hub.calls = nil
	w.Run(t.Context(), SubStop, payload(t, "copilot-cli.subagent-stop"))
	w.asked(t, "info", "agents", "locks ", "release /work/app/b.txt", "claims of "+string(first))
}

func (w *world) bindLocks() {
	w.hub.locks = map[string]hub.AgentID{}
	w.hub.until = hub.TimeOf(w.now.Add(time.Minute))
}

// TestOwnToolAllowsTheHubAlone: the permissions of the adapter reach the tools of the hub and no other.
func TestOwnToolAllowsTheHubAlone(t *testing.T) {
	const allowed = `{"behavior":"allow"}`
	for tool, want := range map[string]string{
		"hub/hub_lock": allowed, "hub/hub_spawn": allowed, "hub/other": "", "other/hub_lock": "", "edit": "", "bash": "", "": "", "hub-hub_lock": "",
	} {
		w := inCopilot(t)
		sent := []byte(`{"hookName":"permissionRequest","sessionId":"cop-1","timestamp":1,"cwd":"/work/app","toolName":"` + tool + `","toolInput":{}}`)
		if got := w.Run(t.Context(), OwnTool, sent); got != (Answer{Stdout: want}) {
			t.Errorf("%s: it says %+v", tool, got)
		}
		if got := w.Run(t.Context(), OwnTool, sent[:len(sent)-1]); got != (Answer{}) {
			t.Errorf("%s, cut: it says %+v", tool, got)
		}
		w.asked(t)
	}
	// A harness that does not read such a decision gets none.
	w := inCopilot(t)
	w.Flag = "qwen-code"
	if got := w.Run(t.Context(), OwnTool, []byte(`{"session_id":"s","tool_name":"hub/hub_lock"}`)); got != (Answer{}) {
		t.Errorf("Qwen Code is told %+v", got)
	}
}

// TestCopilotAsksFirst: it asks its hooks before its own rules, so the operator is asked only where
// it would ask its user. Whatever nobody decides goes by its own rules.
func TestCopilotAsksFirst(t *testing.T) {
	ask := func(tool, input string) []byte {
		return []byte(`{"hookName":"permissionRequest","sessionId":"cop-1","timestamp":1,"cwd":"/work/app","toolName":"` + tool + `","toolInput":` + input + `}`)
	}
	const change, edit = `{"command":"touch x"}`, `{"file_path":"/work/app/a.txt","diff":"x"}`
	event := func(data string) string {
		return `{"type":"permission.completed","data":{"result":` + data + `}}` + "\n"
	}
	mode := func(on string) string {
		return `{"type":"session.permissions_changed","data":{"allowAllPermissions":` + on + `}}` + "\n"
	}
	for name, tt := range map[string]struct {
		args         []string
		vars         string
		tool, input  string
		events, kept string
		asks         bool
	}{
		"a command":                 {tool: "bash", input: change, asks: true},
		"an edit":                   {tool: "edit", input: edit, asks: true},
		"another server's tool":     {tool: "other/write", input: `{}`, asks: true},
		"the hub's own tool":        {tool: "hub/hub_lock", input: `{}`},
		"a command that reads":      {tool: "bash", input: `{"command":"ls -la src"}`},
		"one that reads and writes": {tool: "bash", input: `{"command":"ls > x"}`, asks: true},
		"two commands":              {tool: "bash", input: `{"command":"ls; rm x"}`, asks: true},
		"one in another":            {tool: "bash", input: `{"command":"echo $(rm x)"}`, asks: true},
		"all is allowed":            {args: []string{"-p", "go", "--allow-all-tools"}, tool: "bash", input: change},
		"some is allowed":           {args: []string{"--allow-tool=write"}, tool: "bash", input: change},
		"yolo":                      {args: []string{"--yolo"}, tool: "bash", input: change},
		"by a variable":             {vars: "1", tool: "bash", input: change},
		"a variable says no":        {vars: "off", tool: "bash", input: change, asks: true},
		"in the session":            {events: mode("true"), tool: "bash", input: change},
		"no more in the session":    {events: mode("true") + mode("false"), tool: "bash", input: change, asks: true},
		"writes in the session":     {events: event(`{"kind":"approved-for-session","approval":{"kind":"write"}}`), tool: "edit", input: edit},
		"a command in the session":  {events: event(`{"kind":"approved-for-location","approval":{"kind":"commands","commandIdentifiers":["touch"]}}`), tool: "bash", input: change},
		"another command":           {events: event(`{"kind":"approved-for-session","approval":{"kind":"commands","commandIdentifiers":["git"]}}`), tool: "bash", input: change, asks: true},
		"once":                      {events: event(`{"kind":"approved","approval":{"kind":"write"}}`), tool: "edit", input: edit, asks: true},
		"a damaged event":           {events: `{"type":"approved-for-` + "\n", tool: "edit", input: edit, asks: true},
		"in the folder":             {kept: `{"locations":{"/work":{"tool_approvals":[{"kind":"write"}]}}}`, tool: "edit", input: edit},
		"in another folder":         {kept: `{"locations":{"/work/ap":{"tool_approvals":[{"kind":"write"}]}}}`, tool: "edit", input: edit, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := inCopilot(t, tt.args...)
			w.Longer, w.vars["COPILOT_ALLOW_ALL"] = longer(t), tt.vars
			home := filepath.Join(w.vars["HOME"], ".copilot")
			session := filepath.Join(home, "session-state", "cop-1")
			require.NoError(t, os.MkdirAll(session, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(session, "events.jsonl"), []byte(tt.events), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(home, "permissions-config.json"), []byte(tt.kept), 0o600))
			w.hub.verdicts = []hub.Permission{{Verdict: hub.PermissionDeny, By: "Eva"}}
			got := w.Run(t.Context(), Permission, ask(tt.tool, tt.input))
			want := Answer{}
			if tt.asks {
				want.Stdout = `{"behavior":"deny","message":"The operator of the hub denies this (Eva)."}`
			}
			if got != want {
				t.Errorf("it says %+v, want %+v", got, want)
			}
			// Without a decision nothing is noted: it may not ask its user at all.
			if w.Run(t.Context(), Permission, ask(tt.tool, tt.input)); slices.ContainsFunc(w.hub.calls, func(call string) bool { return strings.HasPrefix(call, "turn") }) {
				t.Errorf("the hub was told %q", w.hub.calls)
			}
		})
	}
}

// TestNoticeOfAPrompt: that the question is drawn, the notice tells, with the tool.
func TestNoticeOfAPrompt(t *testing.T) {
	for message, tool := range map[string]string{
		"Run command: touch x": "bash", "Edit file: /work/app/a.txt": "edit", "Use MCP tool: hub/hub_lock": "hub/hub_lock", "Something else": "",
	} {
		w := inCopilot(t)
		sent := strings.Replace(string(payload(t, "copilot-cli.notice")), "Run command: touch x", message, 1)
		w.Run(t.Context(), Notice, []byte(sent))
		w.asked(t, "info", "turn "+string(copilotAgent)+" at_prompt "+tool)
	}
	w := inCopilot(t)
	w.Run(t.Context(), Notice, payload(t, "copilot-cli-done.notice"))
	w.asked(t)
}

// TestTextComesAgainAfterACompaction: Copilot CLI begins no session after it has put a summary in
// place of what its model has read. The next event shows the text again, once, with what is unread.
func TestTextComesAgainAfterACompaction(t *testing.T) {
	w := inCopilot(t)
	w.hub.attention = withDirected(7)
	w.hub.attention.ToldID = 7
	prompt := func() string { return w.Run(t.Context(), Prompt, payload(t, "copilot-cli.prompt")).Stdout }
	if text := prompt(); text != "" {
		t.Errorf("before it says %s", text)
	}
	if got := w.Run(t.Context(), Compact, []byte(`{"sessionId":"cop-1","timestamp":1,"cwd":"/work/app","trigger":"auto"}`)); got != (Answer{}) {
		t.Errorf("to the compaction it says %+v", got)
	}
	if text := prompt(); !strings.Contains(text, "You are agent "+string(copilotAgent)) || !strings.Contains(text, "#7 from") {
		t.Errorf("after it says %s", text)
	}
	w.later()
	if text := prompt(); text != "" {
		t.Errorf("and then it says %s", text)
	}
	// The compaction of a sub-agent is none of its main agent's.
	w.Run(t.Context(), Compact, []byte(`{"sessionId":"cop-1","agentId":"x","timestamp":1,"cwd":"/work/app"}`))
	if text := prompt(); text != "" {
		t.Errorf("after that of a sub-agent it says %s", text)
	}
}

// TestEndOfASessionWhoseBridgeIsKilled: Copilot CLI kills its servers, or leaves them running
// after a new session has begun. The hook of the end ends what the bridge began.
func TestEndOfASessionWhoseBridgeIsKilled(t *testing.T) {
	w := inCopilot(t)
	w.hub.live[copilotAgent] = true
	w.Run(t.Context(), SessionEnd, payload(t, "copilot-cli.session-end"))
	w.asked(t, "info", "agents", "register "+string(copilotAgent)+" replace=true", "close s1.secret")
	w.hub.live = map[hub.AgentID]bool{}
	w.Run(t.Context(), SessionEnd, payload(t, "copilot-cli.session-end"))
	w.asked(t, "info", "agents")
}

func longer(t *testing.T) func(time.Duration) (context.Context, context.CancelFunc) {
	return func(time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), time.Minute)
	}
}
