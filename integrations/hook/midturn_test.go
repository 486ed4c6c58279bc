package hook

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestMidTurn: within a turn an agent is shown the messages that ask something of
// it, once, in the form of its harness; what it may be reading already is left to a
// later event.
func TestMidTurn(t *testing.T) {
	for _, e := range []Event{Prompt, Tool} {
		t.Run(string(e), func(t *testing.T) {
			w := begun(t)
			if got := w.Run(t.Context(), e, []byte("{"+session+"}")); got != (Answer{}) {
				t.Errorf("with nothing new it says %+v", got)
			}
			w.hub.attention = withDirected(7)
			w.hub.attention.GivenID = 7
			if got := w.Run(t.Context(), e, []byte("{"+session+"}")); got != (Answer{}) {
				t.Errorf("of what is being read it says %+v", got)
			}
			w.hub.attention.GivenID = 6
			got := w.Run(t.Context(), e, []byte("{"+session+"}"))
			name := map[Event]string{Prompt: "UserPromptSubmit", Tool: "PostToolBatch"}[e]
			if !strings.Contains(got.Stdout, `"hookEventName":"`+name+`","additionalContext":"`) || !strings.Contains(got.Stdout, "#7 from lead") || got.Exit != 0 {
				t.Errorf("it says %+v", got)
			}
			if again := w.Run(t.Context(), e, []byte("{"+session+"}")); again != (Answer{}) {
				t.Errorf("the second time it says %+v", again)
			}
			if stop := w.Run(t.Context(), Stop, []byte("{"+session+"}")); strings.Contains(stop.Stdout, "#7") {
				t.Errorf("the end of the turn says it again: %+v", stop)
			}
		})
	}
}

// TestPeersAreNamedWhereHooksRank: in a harness that takes what a hook says for its user's or
// its developer's words, a peer's message is named there and its words are left to a tool; the
// operator's words are whole. In any other the words are quoted.
func TestPeersAreNamedWhereHooksRank(t *testing.T) {
	for harness, events := range map[string][]Event{
		"codex": {SessionStart, Prompt, Tool, Stop}, "opencode": {SessionStart, Prompt, Stop}, "claude-code": {}, "droid": {SessionStart, Prompt, Tool, Stop},
	} {
		for _, e := range []Event{SessionStart, Prompt, Tool, Stop} {
			t.Run(harness+" "+string(e), func(t *testing.T) {
				w := begun(t)
				w.Flag = harness
				w.hub.attention = withDirected(7)
				w.hub.attention.Directed = append(w.hub.attention.Directed, hub.UnreadRow{ID: 8, FromAgent: hub.AgentOperator, Authority: hub.AuthorityOperator, Direct: true, Kind: hub.KindChat, Excerpt: "stop at noon"})
				payload := session
				if e == SessionStart {
					payload = `"source":"compact",` + session
				}
				got := w.Run(t.Context(), e, []byte("{"+payload+"}")).Stdout
				if !strings.Contains(got, "#7 from lead (direct, task_request)") || !strings.Contains(got, "stop at noon") {
					t.Fatalf("it says %s", got)
				}
				named := !strings.Contains(got, "do 'this'")
				if named != slices.Contains(events, e) {
					t.Errorf("the words of a peer are left out: %v: %s", named, got)
				}
				if named && !strings.Contains(got, "hubcli poll") {
					t.Errorf("nothing says how the agent reads: %s", got)
				}
			})
		}
	}
}

// TestMidTurnIsSilent where nobody would see an answer, or the event is not the
// agent's.
func TestMidTurnIsSilent(t *testing.T) {
	for name, c := range map[string]struct{ flag, payload string }{
		"a harness that shows no answer": {"kiro", "{" + session + "}"},
		"a sub-agent":                    {"", `{"agent_id":"helper",` + session + "}"},
		"a damaged payload":              {"", "{" + session},
		"an unknown session":             {"", `{"session_id":"another"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := begun(t)
			w.hub.attention = withDirected(7)
			w.Flag = c.flag
			if got := w.Run(t.Context(), Tool, []byte(c.payload)); got.Exit != 0 || strings.Contains(got.Stdout, "#7") {
				t.Errorf("it says %+v", got)
			}
			if w.hub.attention.ToldID != 0 {
				t.Error("the message counts as told")
			}
		})
	}
}

// TestSessionEnd: the end of a harness session ends the hub's session that a hook
// began, and no other.
func TestSessionEnd(t *testing.T) {
	closes := func(w *world) bool {
		return slices.ContainsFunc(w.hub.calls, func(call string) bool { return strings.HasPrefix(call, "close s1.secret") })
	}
	for name, c := range map[string]struct {
		change func(*world)
		reason string
		want   bool
	}{
		"over":                 {reason: "other", want: true},
		"goes on":              {reason: "clear"},
		"of another hub":       {reason: "other", change: func(w *world) { w.hub.instance = "i2" }},
		"ended already":        {reason: "other", change: func(w *world) { w.hub.fails["close"] = hub.NewError(hub.CodeSessionNotFound, "no") }, want: true},
		"the hub is not there": {reason: "other", change: func(w *world) { w.hub.fails["info"] = errors.New("no") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := begun(t)
			if c.change != nil {
				c.change(w)
			}
			got := w.Run(t.Context(), SessionEnd, []byte(`{"reason":"`+c.reason+`",`+session+"}"))
			if got != (Answer{}) {
				t.Errorf("it says %+v", got)
			}
			if closes(w) != c.want {
				t.Errorf("it calls %q", w.hub.calls)
			}
		})
	}
}
