package hook

import (
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestPermission: the hub learns that a harness asks its user, and with the next event
// that it asks no more. The hook answers nothing, because that would decide.
func TestPermission(t *testing.T) {
	for _, flag := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex, hub.HarnessQwenCode} {
		for next, turn := range map[Event]string{Prompt: "working", Tool: "working", Stop: "idle"} {
			w := begun(t)
			w.Flag = string(flag)
			w.hub.calls = nil
			if got := w.Run(t.Context(), Permission, []byte(`{`+session+`,"tool_name":"Bash","tool_input":{"command":"secret"}}`)); got != formOf(flag).silence() {
				t.Errorf("%s: it says %+v", flag, got)
			}
			w.asked(t, "info", "turn "+string(agent)+" at_prompt Bash")
			w.Run(t.Context(), next, []byte(`{`+session+`}`))
			if !slices.Contains(w.hub.calls, "turn "+string(agent)+" "+turn+" ") {
				t.Errorf("%s: after %s the hub was asked %q", flag, next, w.hub.calls)
			}
		}
	}
}

// TestTurnIsNoted: the hub learns when a turn begins and when it ends, once each. A turn
// that a hook holds has not ended.
func TestTurnIsNoted(t *testing.T) {
	turns := func(w *world) (list []string) {
		for _, call := range w.hub.calls {
			if strings.HasPrefix(call, "turn ") {
				list = append(list, strings.Fields(call)[2])
			}
		}
		w.hub.calls = nil
		return list
	}
	w := begun(t)
	w.Flag = string(hub.HarnessCodex)
	w.hub.calls = nil
	for i, e := range []Event{Prompt, Tool, Tool} {
		w.Run(t.Context(), e, []byte(`{`+session+`}`))
		if got, want := turns(w), []string{"working"}[min(i, 1):]; !slices.Equal(got, want) {
			t.Errorf("%s, the event %d: %q, want %q", e, i, got, want)
		}
	}
	w.hub.attention.Directed = []hub.UnreadRow{{ID: 9, FromAgent: "lead", Excerpt: "x"}}
	if got := w.Run(t.Context(), Stop, []byte(`{`+session+`}`)); !strings.Contains(got.Stdout, "block") {
		t.Errorf("the turn is not held: %+v", got)
	}
	if got := turns(w); len(got) != 0 {
		t.Errorf("a turn that is held: %q", got)
	}
	w.hub.attention.Directed = nil
	w.Run(t.Context(), Stop, []byte(`{`+session+`,"stop_hook_active":true}`))
	if last := w.hub.calls[len(w.hub.calls)-1]; last != "turn "+string(agent)+" idle " {
		t.Errorf("the last call of the hook is %q", last)
	}
}

// TestTurnEndsInSilence: the turn is noted as over when the hook has nothing to say: the
// user broke it off, or a watch runs in the background.
func TestTurnEndsInSilence(t *testing.T) {
	for name, end := range map[string]string{
		"broken off": `,"status":"aborted"`,
		"watched":    `,"background_tasks":[{"type":"shell","status":"running","command":"hubcli watch --agent-id ` + string(agent) + ` --once"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := begun(t)
			w.hub.calls = nil
			w.Run(t.Context(), Stop, []byte(`{`+session+end+`}`))
			w.asked(t, "info", "turn "+string(agent)+" idle ")
		})
	}
}

// TestFailureIsStuck: a turn that ends because the model failed is told to the hub with the kind of
// failure, and nothing of what the provider says. Another error, and one of a sub-agent, are not.
func TestFailureIsStuck(t *testing.T) {
	for name, tt := range map[string]struct {
		flag, payload, want string
	}{
		"Claude Code":       {"claude-code", `{` + session + `,"hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"API Error: key sk-1"}`, "rate_limit"},
		"without a word":    {"claude-code", `{` + session + `,"hook_event_name":"StopFailure","error":"see https://example.org"}`, ""},
		"Copilot CLI":       {"copilot-cli", `{` + session + `,"errorContext":"model_call","recoverable":true,"error":{"message":"key sk-1"}}`, "model_call"},
		"a tool failed":     {"copilot-cli", `{` + session + `,"errorContext":"tool_execution","error":{"message":"x"}}`, "-"},
		"of a sub-agent":    {"claude-code", `{` + session + ofSub + `,"hook_event_name":"StopFailure","error":"rate_limit"}`, "-"},
		"a damaged payload": {"claude-code", `{` + session + `,"error":"rate_limit"`, "-"},
	} {
		w := begun(t)
		w.Flag, w.hub.calls = tt.flag, nil
		if got := w.Run(t.Context(), Failure, []byte(tt.payload)); got != (Answer{}) {
			t.Errorf("%s: it says %+v", name, got)
		}
		if tt.want == "-" {
			w.asked(t)
			continue
		}
		if w.asked(t, "info", "turn "+string(agent)+" stuck "); w.hub.error != tt.want {
			t.Errorf("%s: the failure is %q, want %q", name, w.hub.error, tt.want)
		}
	}
}
