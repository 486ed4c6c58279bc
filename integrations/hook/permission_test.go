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
