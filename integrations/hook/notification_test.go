package hook

import (
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// notification is a payload of Gemini CLI 0.61.0.
func notification(kind, details string) string {
	return `{` + session + `,"hook_event_name":"Notification","timestamp":"2026-11-20T10:01:00.000Z","notification_type":"` + kind +
		`","message":"Tool Confirm Write: a.txt requires editing","details":` + details + `}`
}

// TestNotificationOfAPrompt: a notification of Gemini CLI that it asks its user shows the
// agent at the prompt, with the tool as its model calls it. The hub is asked for no
// decision, because no answer would count.
func TestNotificationOfAPrompt(t *testing.T) {
	long := strings.Repeat("x", hub.MaxNameChars)
	for details, tool := range map[string]string{
		`{"type":"edit","title":"Confirm Write: a.txt","fileName":"a.txt","filePath":"/work/app/a.txt"}`: "write_file",
		`{"type":"edit","title":"Confirm Edit: a.txt"}`:                                                  "replace",
		`{"type":"edit","title":"Confirm: a.txt"}`:                                                       "edit",
		`{"type":"exec","title":"Confirm Shell Command","command":"git push","rootCommand":"git"}`:       "run_shell_command",
		`{"type":"sandbox_expansion","title":"Sandbox Expansion Request"}`:                               "run_shell_command",
		`{"type":"mcp","title":"Confirm MCP Tool Execution","serverName":"hub","toolName":"hub_start"}`:  "mcp_hub_hub_start",
		`{"type":"mcp","title":"Confirm MCP Tool Execution","toolName":"hub_start"}`:                     "mcp",
		`{"type":"mcp","serverName":"hub","toolName":"` + long + `"}`:                                    "",
		`{"type":"info","title":"Confirm Web Fetch","urls":["https://example.org"]}`:                     "web_fetch",
		`{"type":"info","title":"Another"}`:                                                              "info",
		`{"type":"ask_user","title":"Ask User"}`:                                                         "ask_user",
		`{"type":7}`:                                                                                     "", `null`: "", `"a"`: "",
	} {
		w, _ := prompts(t)
		w.Flag, w.hub.verdicts = string(hub.HarnessGeminiCLI), []hub.Permission{{Verdict: hub.PermissionAllow}}
		if got := w.Run(t.Context(), Permission, []byte(notification(aboutTools[0], details))); got != (Answer{Stdout: "{}"}) {
			t.Errorf("%s: it says %+v", details, got)
		}
		w.asked(t, "info", "turn "+string(agent)+" at_prompt "+tool)
	}
}

// TestNotificationOfSomethingElse: only a question about a tool is a prompt.
func TestNotificationOfSomethingElse(t *testing.T) {
	for _, payload := range []string{
		notification("Idle", `{"type":"exec"}`), notification("", `{}`), `{` + session + `,"hook_event_name":"Notification"}`,
	} {
		w, _ := prompts(t)
		w.Flag = string(hub.HarnessGeminiCLI)
		if got := w.Run(t.Context(), Permission, []byte(payload)); got != (Answer{Stdout: "{}"}) || len(w.hub.calls) != 0 {
			t.Errorf("%s: it says %+v after %q", payload, got, w.hub.calls)
		}
	}
}

// TestMailAfterAToolThatFailed: Gemini CLI's model gets the error of a tool alone. Mail is
// left to the end of the turn, and the agent counts as working. Other harnesses show it.
func TestMailAfterAToolThatFailed(t *testing.T) {
	failed := `{` + session + `,"hook_event_name":"AfterTool","tool_name":"x","tool_response":{"llmContent":"no","error":{"message":"no"}}}`
	works := "turn " + string(agent) + " working "
	for flag, shown := range map[hub.Harness]bool{hub.HarnessGeminiCLI: false, hub.HarnessQwenCode: true} {
		w := begun(t)
		w.Flag, w.hub.attention = string(flag), withDirected(7)
		if got := w.Run(t.Context(), Tool, []byte(failed)); strings.Contains(got.Stdout, "#7") != shown || (w.hub.attention.ToldID == 7) != shown {
			t.Errorf("%s: after the tool it says %+v", flag, got)
		}
		if !slices.Contains(w.hub.calls, works) {
			t.Errorf("%s: the agent does not count as working: %q", flag, w.hub.calls)
		}
		if got := w.Run(t.Context(), Stop, []byte(`{`+session+`}`)); strings.Contains(got.Stdout, "#7") == shown {
			t.Errorf("%s: at the end it says %+v", flag, got)
		}
	}
	w := begun(t)
	w.Flag, w.hub.attention = string(hub.HarnessGeminiCLI), withDirected(7)
	if got := w.Run(t.Context(), Tool, []byte(strings.Replace(failed, `"error":{"message":"no"}`, `"error":null`, 1))); !strings.Contains(got.Stdout, "#7") {
		t.Errorf("after a tool that succeeded it says %+v", got)
	}
}
