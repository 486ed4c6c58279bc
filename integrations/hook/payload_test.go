package hook

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"hubcli/hub"
	"hubcli/internal/require"
)

func payload(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "payload", name+".json"))
	require.NoError(t, err)
	return b
}

func vars(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// TestPayloads checks what Parse reads from the payload of each harness and
// event. A payload without a mark of its harness needs flag.
func TestPayloads(t *testing.T) {
	app := []string{"/work/app"}
	for _, tt := range []struct {
		file    string
		flag    string
		harness hub.Harness
		want    Payload
	}{
		{"claude-code.session-start", "", hub.HarnessClaudeCode, Payload{SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, Source: "startup"}},
		{"claude-code.stop", "", hub.HarnessClaudeCode, Payload{
			Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, Active: true,
			Background: []string{"hubcli watch --agent dev-a --until message-from:lead"},
		}},
		{"claude-code.prompt", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app}},
		{"claude-code.tool", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app}},
		{"claude-code.session-end", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, Reason: "other", Aborted: true}},
		{"claude-code-subagent.stop", "", hub.HarnessClaudeCode, Payload{SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, SubAgent: true, SubName: "a1"}},
		{"claude-code.before-call", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, Tool: "mcp__hub__hub_poll_messages", Call: "toolu_01A"}},
		{"claude-code-subagent.before-call", "", hub.HarnessClaudeCode, Payload{
			Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app,
			Tool: "mcp__hub__hub_lock", Call: "toolu_01B", SubAgent: true, SubName: "a4d2c8f1e0b3a297", Files: []string{"main.go"},
		}},
		{"claude-code.subagent-start", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, SubAgent: true, SubName: "a4d2c8f1e0b3a297"}},
		{"claude-code.subagent-stop", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, SubAgent: true, SubName: "a4d2c8f1e0b3a297"}},
		{"claude-code-agent.session-start", "", hub.HarnessClaudeCode, Payload{SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app, Source: "startup"}},
		{"claude-code-agent.stop", "", hub.HarnessClaudeCode, Payload{Harness: hub.HarnessClaudeCode, SessionID: "5f2c0a4e-8a1b-4a8e-9a53-2f4c1d1f7e10", Folders: app}},
		{"codex-subagent.stop", "", hub.HarnessCodex, Payload{Harness: hub.HarnessCodex, SessionID: "0199-codex", Folders: app, SubAgent: true, SubName: "0199-child"}},
		{"codex.session-start", "", hub.HarnessCodex, Payload{SessionID: "0199-codex", Folders: app, Source: "startup"}},
		{"codex.stop", "", hub.HarnessCodex, Payload{Harness: hub.HarnessCodex, SessionID: "0199-codex", Folders: app}},
		{"codex.prompt", "", hub.HarnessCodex, Payload{Harness: hub.HarnessCodex, SessionID: "0199-codex", Folders: app}},
		{"codex.tool", "", hub.HarnessCodex, Payload{Harness: hub.HarnessCodex, SessionID: "0199-codex", Folders: app, Tool: "Bash", Call: "c1"}},
		{"codex.session-end", "codex", hub.HarnessCodex, Payload{SessionID: "0199-codex", Folders: app, Reason: "other", Aborted: true}},
		{"gemini-cli.prompt", "", hub.HarnessGeminiCLI, Payload{Harness: hub.HarnessGeminiCLI, SessionID: "gem-1", Folders: app}},
		{"gemini-cli.tool", "", hub.HarnessGeminiCLI, Payload{Harness: hub.HarnessGeminiCLI, SessionID: "gem-1", Folders: app, Tool: "run_shell_command"}},
		{"gemini-cli.session-end", "gemini-cli", hub.HarnessGeminiCLI, Payload{SessionID: "gem-1", Folders: app, Reason: "exit", Aborted: true}},
		{"gemini-cli.session-start", "", hub.HarnessGeminiCLI, Payload{SessionID: "gem-1", Folders: app, Source: "startup"}},
		{"gemini-cli.stop", "", hub.HarnessGeminiCLI, Payload{Harness: hub.HarnessGeminiCLI, SessionID: "gem-1", Folders: app}},
		{"vscode.session-start", "", hub.HarnessVSCode, Payload{Harness: hub.HarnessVSCode, SessionID: "vs-1", Folders: app, Source: "new"}},
		{"vscode.stop", "", hub.HarnessVSCode, Payload{Harness: hub.HarnessVSCode, SessionID: "vs-1", Folders: app}},
		{"copilot-cli.session-start", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Source: "resume"}},
		{"copilot-cli.stop", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app}},
		{"copilot-cli.prompt", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app}},
		{"copilot-cli.before-edit", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "create", Files: []string{"/work/app/a.txt"}}},
		{"copilot-cli-patch.before-edit", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "apply_patch", Files: []string{"/work/app/a.txt", "/work/app/b.txt"}}},
		{"copilot-cli.tool", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "create", Files: []string{"/work/app/a.txt"}}},
		{"copilot-cli.before-call", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "hub-hub_start", Call: "call_1"}},
		{"copilot-cli-subagent.before-call", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: copilotSub, Under: "cop-1", Folders: app, Tool: "hub-hub_whoami", Call: "call_2", SubAgent: true, SubName: copilotSub}},
		{"copilot-cli.permission", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "edit", Files: []string{"/work/app/a.txt"}}},
		{"copilot-cli.notice", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Tool: "bash"}},
		{"copilot-cli-done.notice", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Elsewhere: true}},
		{"copilot-cli.subagent-start", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, SubAgent: true, SubName: copilotSub}},
		{"copilot-cli.subagent-stop", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, SubAgent: true, SubName: copilotSub}},
		{"copilot-cli-subagent.stop", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: copilotSub, Under: "cop-1", Folders: app, SubAgent: true, SubName: copilotSub}},
		{"copilot-cli.session-end", "", hub.HarnessCopilotCLI, Payload{Harness: hub.HarnessCopilotCLI, SessionID: "cop-1", Folders: app, Reason: "user_exit"}},
		{"cursor.session-start", "", hub.HarnessCursor, Payload{Harness: hub.HarnessCursor, SessionID: "cur-1", Folders: []string{"/work/app", "/work/lib"}}},
		{"cursor.stop", "", hub.HarnessCursor, Payload{Harness: hub.HarnessCursor, SessionID: "cur-1", Folders: app, Active: true}},
		{"cursor-aborted.stop", "", hub.HarnessCursor, Payload{Harness: hub.HarnessCursor, SessionID: "cur-1", Folders: app, Aborted: true}},
		{"goose.session-start", "", hub.HarnessGoose, Payload{Harness: hub.HarnessGoose, SessionID: "20261120_1", Folders: app}},
		{"goose.stop", "", hub.HarnessGoose, Payload{Harness: hub.HarnessGoose, SessionID: "20261120_1", Folders: app}},
		{"qwen-code.session-start", "", hub.HarnessQwenCode, Payload{SessionID: "qw-1", Folders: app, Source: "startup"}},
		{"qwen-code.stop", "", hub.HarnessQwenCode, Payload{SessionID: "qw-1", Folders: app}},
		{"qwen-code.prompt", "", hub.HarnessQwenCode, Payload{SessionID: "qw-1", Folders: app}},
		{"qwen-code.tool", "", hub.HarnessQwenCode, Payload{SessionID: "qw-1", Folders: app, Tool: "run_shell_command"}},
		{"qwen-code.session-end", "", hub.HarnessQwenCode, Payload{SessionID: "qw-1", Folders: app, Reason: "other", Aborted: true}},
		{"droid.session-start", "", hub.HarnessDroid, Payload{SessionID: "dr-1", Folders: app, Source: "compact"}},
		{"droid.stop", "", hub.HarnessDroid, Payload{SessionID: "dr-1", Folders: app}},
		{"droid.prompt", "", hub.HarnessDroid, Payload{SessionID: "dr-1", Folders: app}},
		{"droid.tool", "", hub.HarnessDroid, Payload{SessionID: "dr-1", Folders: app, Tool: "Create", Files: []string{"/work/app/a.txt"}}},
		{"droid.session-end", "", hub.HarnessDroid, Payload{SessionID: "dr-1", Folders: app, Reason: "other", Aborted: true}},
		{"continue.session-start", "", hub.HarnessContinue, Payload{SessionID: "con-1", Folders: app, Source: "startup"}},
		{"continue.stop", "", hub.HarnessContinue, Payload{SessionID: "con-1", Folders: app}},
		{"kimi.session-start", "kimi", hub.HarnessKimi, Payload{SessionID: "kimi-1", Folders: app, Source: "startup"}},
		{"kimi.stop", "Kimi-Code", hub.HarnessKimi, Payload{SessionID: "kimi-1", Folders: app}},
		{"kimi.prompt", "kimi", hub.HarnessKimi, Payload{SessionID: "kimi-1", Folders: app}},
		{"kimi.permission", "kimi", hub.HarnessKimi, Payload{Harness: hub.HarnessCodex, SessionID: "kimi-1", Folders: app, Tool: "Write", Files: []string{"/work/app/a.txt"}}},
		{"kimi.session-end", "kimi", hub.HarnessKimi, Payload{SessionID: "kimi-1", Folders: app, Reason: "exit", Aborted: true}},
		{"kiro.session-start", "kiro", hub.HarnessKiro, Payload{SessionID: "kiro-1", Folders: app}},
		{"kiro.stop", "kiro_cli", hub.HarnessKiro, Payload{SessionID: "kiro-1", Folders: app}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			got := Parse(payload(t, tt.file))
			if h := Recognize(tt.flag, got, vars()); h != tt.harness {
				t.Errorf("recognized %s, want %s", h, tt.harness)
			}
			if got.Transcript, got.Input = "", nil; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%+v, want\n%+v", got, tt.want)
			}
		})
	}
}

// copilotSub is the sub-agent of the payloads of Copilot CLI, which gives it a session of that name.
const copilotSub = "8f23b27d-0f19-432d-a96b-2fd7b78c9080"

// TestTheMainAgentIsNoHelper: Kimi Code gives its main agent an id too, with the question whether a tool may run.
func TestTheMainAgentIsNoHelper(t *testing.T) {
	if got := Parse([]byte(`{"hook_event_name":"PermissionRequest","session_id":"kimi-1","agent_id":"main","tool_name":"Write"}`)); got.SubAgent || got.SubName != "" {
		t.Errorf("it is taken for a helper: %+v", got)
	}
}

func TestEveryPayloadIsTested(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "payload", "*.json"))
	if err != nil || len(files) != 64 {
		t.Errorf("%d payloads, %v; TestPayloads has 64", len(files), err)
	}
	for _, h := range hub.Harnesses() {
		if h.Facts().Hooks == nil {
			continue
		}
		call := h.HookForm().Call
		named := map[Event]string{SessionStart: "SessionStart", Prompt: call.Prompt, Tool: call.Tool, Stop: "Stop", SessionEnd: call.End, BeforeCall: call.Call, SubStart: call.SubStart, SubStop: call.SubStop}
		for _, e := range Events() {
			if named[e] == "" {
				continue
			}
			name := filepath.Join("testdata", "payload", string(h)+"."+string(e)+".json")
			if _, err := os.Stat(name); err != nil && h != hub.HarnessGeneric && h != hub.HarnessAntigravity && h != hub.HarnessOpenCode {
				t.Error(err)
			}
		}
	}
}

// TestRoleIsNoSubAgent: for every harness an event is a sub-agent's exactly if
// its payload has an agent_id. A session whose agent was given a role, as by
// claude --agent, sends the role as agent_type without an id.
func TestRoleIsNoSubAgent(t *testing.T) {
	for _, h := range hub.Harnesses() {
		if h.Facts().Hooks == nil {
			continue
		}
		for _, e := range Events() {
			name := filepath.Join("testdata", "payload", string(h)+"."+string(e)+".json")
			b, err := os.ReadFile(name)
			if err != nil || e == SubStart || e == SubStop {
				continue // TestEveryPayloadIsTested checks which files must exist
			}
			for more, want := range map[string]bool{
				"": false, `"agent_type":"reviewer",`: false, `"agent_id":null,"agent_type":"reviewer",`: false,
				`"agent_id":"a1",`: true, `"agent_id":"a1","agent_type":"reviewer",`: true,
			} {
				if got := Parse([]byte("{" + more + strings.TrimLeft(string(b), "\ufeff{"))); got.SubAgent != want || got.Damaged {
					t.Errorf("%s with {%s}: %+v, want a sub-agent %v", name, more, got, want)
				}
			}
		}
	}
}

// TestRecognize: the flag counts first, then the payload, then the environment.
// Of two nested harnesses the inner one counts: the payload is its own.
func TestRecognize(t *testing.T) {
	both := vars("CLAUDECODE", "1", "CODEX_CI", "1")
	for _, tt := range []struct {
		flag, file string
		getenv     func(string) string
		want       hub.Harness
	}{
		{"droid", "codex.stop", both, hub.HarnessDroid},
		{"CLAUDE", "codex.stop", both, hub.HarnessClaudeCode},
		{"no such thing", "codex.stop", both, hub.HarnessCodex},
		{"", "codex.stop", vars("CLAUDECODE", "1"), hub.HarnessCodex},
		{"", "codex.session-start", vars("CLAUDECODE", "1"), hub.HarnessCodex},
		{"", "claude-code.session-start", vars("CODEX_SANDBOX", "x"), hub.HarnessClaudeCode},
		{"", "kimi.stop", both, hub.HarnessClaudeCode},
		{"", "kimi.stop", vars("CODEX_THREAD_ID", "x"), hub.HarnessCodex},
		{"", "kimi.stop", vars("CLAUDECODE", "1", "GEMINI_PROJECT_DIR", "/x"), hub.HarnessGeminiCLI},
		{"", "kimi.stop", vars("CLAUDE_PROJECT_DIR", "/x", "CURSOR_PROJECT_DIR", "/x"), hub.HarnessCursor},
		{"", "kimi.stop", vars("QWEN_CODE", "1"), hub.HarnessQwenCode},
		{"", "kimi.stop", vars("FACTORY_PROJECT_DIR", "/x"), hub.HarnessDroid},
		{"", "kimi.stop", vars("CLAUDECODE", "1", "CURSOR_TRACE_ID", "x", "ANTIGRAVITY_AGENT", "1"), hub.HarnessClaudeCode},
		{"", "kimi.stop", vars("QWEN_PROJECT_DIR", "/x", "GEMINI_PROJECT_DIR", "/x", "CLAUDE_PROJECT_DIR", "/x"), hub.HarnessQwenCode},
		{"", "kimi.stop", vars("OPENCODE", "1", "ANTIGRAVITY_AGENT", "1"), hub.HarnessOpenCode},
		{"", "kimi.stop", vars("AI_AGENT", "kimi"), hub.HarnessKimi},
		{"", "kimi.stop", vars("AGENT", "amp"), hub.HarnessGeneric},
		{"", "kimi.stop", vars(), hub.HarnessGeneric},
	} {
		if got := Recognize(tt.flag, Parse(payload(t, tt.file)), tt.getenv); got != tt.want {
			t.Errorf("flag %q, payload %s: %s, want %s", tt.flag, tt.file, got, tt.want)
		}
	}
	moved := Payload{Transcript: "/srv/cx/sessions/a.jsonl"}
	if got := Recognize("", moved, vars("CODEX_HOME", "/srv/cx", "CLAUDECODE", "1")); got != hub.HarnessCodex {
		t.Errorf("a moved home of Codex: %s", got)
	}
	if got := Recognize("", moved, vars("CODEX_HOME", "/srv/c", "CLAUDECODE", "1")); got != hub.HarnessClaudeCode {
		t.Errorf("another folder that begins alike: %s", got)
	}
	windows := Payload{Transcript: `C:\Users\u\.codex\sessions\a.jsonl`}
	if got := Recognize("", windows, vars()); got != hub.HarnessCodex {
		t.Errorf("a path of Windows: %s", got)
	}
}

// TestOddPayloads: Parse reads what it can from any input.
func TestOddPayloads(t *testing.T) {
	text := `{"session_id":"s","hook_event_name":"Stop"}`
	wide := func(order binary.AppendByteOrder, mark string) string {
		b := []byte(mark)
		for _, u := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for name, tt := range map[string]struct {
		in   string
		want Payload
	}{
		"empty":               {"", Payload{}},
		"blank":               {" \r\n", Payload{}},
		"mark alone":          {"\xef\xbb\xbf", Payload{}},
		"mark":                {"\xef\xbb\xbf" + text, Payload{SessionID: "s"}},
		"UTF-16, little":      {wide(binary.LittleEndian, "\xff\xfe"), Payload{SessionID: "s"}},
		"UTF-16, big":         {wide(binary.BigEndian, "\xfe\xff"), Payload{SessionID: "s"}},
		"UTF-16 without mark": {wide(binary.LittleEndian, ""), Payload{SessionID: "s"}},
		"garbage":             {"hello", Payload{Damaged: true}},
		"a list":              {`["session_id"]`, Payload{Damaged: true}},
		"a text":              {`"session_id"`, Payload{Damaged: true}},
		"null":                {`null`, Payload{Damaged: true}},
		"cut off":             {`{"session_id":"s","cwd":"/w","last_assistant_message":"and th`, Payload{SessionID: "s", Folders: []string{"/w"}, Damaged: true}},
		"bad escapes":         {`{"session_id":"s","cwd":"C:\work"}`, Payload{SessionID: "s", Damaged: true}},
		"wrong types":         {`{"session_id":7,"cwd":{},"stop_hook_active":"yes","background_tasks":{"a":1},"workspace_roots":"/w","source":[]}`, Payload{Harness: hub.HarnessClaudeCode}},
		"odd tasks":           {`{"background_tasks":[1,null,"x",{"command":3},{"command":"run","status":"failed"},{"command":"a"}]}`, Payload{Harness: hub.HarnessClaudeCode, Background: []string{"a"}}},
		"nulls":               {`{"agent_id":null,"turn_id":null,"session_id":null,"loop_count":null}`, Payload{}},
		"no sub-agent":        {`{"agent_id":"","session_id":"s"}`, Payload{SessionID: "s"}},
		"a session in a role": {`{"agent_type":"reviewer","session_id":"s"}`, Payload{SessionID: "s"}},
		"a sub-agent's stop":  {`{"hook_event_name":"SubagentStop"}`, Payload{SubAgent: true}},
		"an interrupt":        {`{"hook_event_name":"Interrupt"}`, Payload{Aborted: true}},
		"a relative folder":   {`{"cwd":"app","working_dir":"../x","workspace_roots":["","x"]}`, Payload{}},
		"a folder with NUL":   {`{"cwd":"/a\u0000b"}`, Payload{}},
		"a long session":      {`{"session_id":"` + strings.Repeat("x", 600) + `"}`, Payload{}},
		"deep":                {strings.Repeat(`{"a":`, 20_000), Payload{Damaged: true}},
		"stopped by an error": {`{"stopReason":"Error"}`, Payload{Aborted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Parse([]byte(tt.in)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "payload", "*.json"))
	require.NoError(f, err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := Parse(b)
		for _, dir := range p.Folders {
			if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
				t.Errorf("folder %q", dir)
			}
		}
		if len(p.SessionID) > maxSessionText || len(p.Folders) > maxFolders+2 || len(p.Background) > maxBackground {
			t.Errorf("beyond its limits: %+v", p)
		}
		h := Recognize("", p, vars())
		if h.Facts().Hooks == nil {
			t.Errorf("recognized %q, which calls no hooks", h)
		}
		// A byte order mark or blanks before the payload change nothing.
		if again := Parse(append([]byte("\xef\xbb\xbf "), b...)); len(b) > 0 && b[0] == '{' && !reflect.DeepEqual(again, p) &&
			(len(b) < 2 || b[1] != 0) {
			t.Errorf("with a mark %+v, without %+v", again, p)
		}
	})
}
