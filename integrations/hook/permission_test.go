package hook

import (
	"slices"
	"testing"

	"hubcli/hub"
)

// TestPermission: the hub learns that a harness asks its user, and with the next event
// that it asks no more. The hook answers nothing, because that would decide.
func TestPermission(t *testing.T) {
	for _, flag := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex, hub.HarnessQwenCode} {
		for _, next := range []Event{Prompt, Tool, Stop} {
			w := begun(t)
			w.Flag = string(flag)
			w.hub.calls = nil
			if got := w.Run(t.Context(), Permission, []byte(`{`+session+`,"tool_name":"Bash","tool_input":{"command":"secret"}}`)); got != formOf(flag).silence() {
				t.Errorf("%s: it says %+v", flag, got)
			}
			w.asked(t, "info", "prompt "+string(agent)+" true Bash")
			w.Run(t.Context(), next, []byte(`{`+session+`}`))
			if !slices.Contains(w.hub.calls, "prompt "+string(agent)+" false ") {
				t.Errorf("%s: after %s the hub was asked %q", flag, next, w.hub.calls)
			}
		}
	}
}

// TestPermissionEndsWithTheTurn: the prompt is past when a turn ends in which the hook has
// nothing to say: the user broke it off, or a watch runs in the background.
func TestPermissionEndsWithTheTurn(t *testing.T) {
	for name, end := range map[string]string{
		"broken off": `,"status":"aborted"`,
		"watched":    `,"background_tasks":[{"type":"shell","status":"running","command":"hubcli watch --agent-id ` + string(agent) + ` --once"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := begun(t)
			w.Run(t.Context(), Permission, []byte(`{`+session+`,"tool_name":"Bash"}`))
			w.hub.calls = nil
			w.Run(t.Context(), Stop, []byte(`{`+session+end+`}`))
			w.asked(t, "info", "prompt "+string(agent)+" false ")
		})
	}
}
