package hook

import (
	"strings"
	"testing"

	"hubcli/hub"
)

func pausedAttention() hub.Attention {
	a := withDirected(7)
	agent := hub.AgentID("dev-a")
	a.Paused = &hub.Pause{AgentID: &agent, Words: "merge first", By: hub.AgentOperator, Since: 1_763_900_000_000}
	return a
}

// TestPausedEndsTheTurn: after a tool the hook ends the turn of a paused agent once, where the
// harness allows it, and shows the words elsewhere; no turn is held, and no message counts
// as told.
func TestPausedEndsTheTurn(t *testing.T) {
	for harness, ends := range map[string]bool{"": true, "gemini-cli": true, "codex": false, "qwen-code": false} {
		t.Run(harness, func(t *testing.T) {
			w := begun(t)
			if harness != "" {
				w.Flag = harness
			}
			w.hub.attention = pausedAttention()
			got := w.Run(t.Context(), Tool, []byte("{"+session+"}"))
			if !strings.Contains(got.Stdout, "merge first") || strings.Contains(got.Stdout, `"continue":false`) != ends {
				t.Errorf("after a tool it says %+v", got)
			}
			if again := w.Run(t.Context(), Tool, []byte("{"+session+"}")); strings.Contains(again.Stdout, "merge first") || strings.Contains(again.Stdout, "false") {
				t.Errorf("after the next tool it says %+v", again)
			}
			prompt := w.Run(t.Context(), Prompt, []byte("{"+session+"}"))
			if !strings.Contains(prompt.Stdout, "merge first") || strings.Contains(prompt.Stdout, "false") {
				t.Errorf("with a prompt it says %+v", prompt)
			}
			if stop := w.Run(t.Context(), Stop, []byte("{"+session+"}")); stop.Exit != 0 || strings.Contains(stop.Stdout, "#7") || strings.Contains(stop.Stdout, "block") {
				t.Errorf("at the end of a turn it says %+v", stop)
			}
			if w.hub.attention.ToldID != 0 {
				t.Error("a message counts as told")
			}
			w.hub.attention.Paused = nil
			if stop := w.Run(t.Context(), Stop, []byte("{"+session+"}")); !strings.Contains(stop.Stdout, "#7") {
				t.Errorf("after the pause the end of a turn says %+v", stop)
			}
		})
	}
}

// TestPausedIsToldAtTheStart of a session.
func TestPausedIsToldAtTheStart(t *testing.T) {
	a := pausedAttention()
	s := &scene{Agent: "dev-a", Harness: hub.HarnessClaudeCode, Attention: &a}
	if text, _ := s.opening(); !strings.Contains(text, `has paused agent dev-a since `) || !strings.Contains(text, "merge first") {
		t.Errorf("the text is %s", text)
	}
}
