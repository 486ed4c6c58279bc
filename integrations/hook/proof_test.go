package hook

import (
	"errors"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/process"
)

// inProgram has the hooks run below a process of the harness that began at a time.
func (w *world) inProgram(began string) {
	w.PID = 20
	w.Process = func(pid int) (process.Process, bool) {
		switch pid {
		case 20:
			return process.Process{PID: 20, Parent: 10, Name: "hubcli", Began: "h"}, true
		case 10:
			return process.Process{PID: 10, Parent: 1, Name: "claude", Began: began}, true
		}
		return process.Process{}, false
	}
}

// told returns the calls by which the hub was told what became of what the agent was told.
func (w *world) told() string {
	var list []string
	for _, call := range w.hub.calls {
		if rest, ok := strings.CutPrefix(call, "tell "+string(agent)+" "); ok {
			list = append(list, rest)
		}
	}
	w.hub.calls = nil
	return strings.Join(list, ", ")
}

const (
	startup = session + `,"hook_event_name":"SessionStart","source":"startup"`
	resume  = session + `,"hook_event_name":"SessionStart","source":"resume"`
)

// TestWhatTheModelHasNotReadIsToldAgain: a message that a hook has printed counts as told for good when the model
// goes on behind it. Before that the end of the harness takes it back, once, and it is marked as repeated.
func TestWhatTheModelHasNotReadIsToldAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event // after the prompt by which the agent is told
		again  bool
	}{
		{"killed at once", nil, true},
		{"killed when the turn has ended", []Event{Stop}, false},
		{"killed after a tool", []Event{Tool}, false},
		{"killed at the next prompt, before any answer", []Event{Prompt}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.inProgram("1")
			w.say(t, SessionStart, startup)
			w.hub.attention = withDirected(7)
			w.hub.attention.Unread = 1
			if text := w.say(t, Prompt, session); !strings.Contains(text, "#7 from lead") || strings.Contains(text, "repeated") {
				t.Fatalf("said %q", text)
			}
			for _, event := range c.events {
				w.say(t, event, session)
			}
			w.inProgram("2")
			w.told()
			text := w.say(t, SessionStart, resume) // at once: it is another event, though of the same kind
			if got := strings.Contains(text, "#7 from lead"); got != c.again || got != strings.Contains(text, "repeated") {
				t.Errorf("said %q", text)
			}
			w.told()
			w.say(t, Stop, session)
			w.later()
			if text := w.say(t, SessionStart, resume); strings.Contains(text, "#7") {
				t.Errorf("in the same process it says again %q", text)
			}
			w.inProgram("3")
			w.later()
			if text := w.say(t, SessionStart, resume); strings.Contains(text, "#7") {
				t.Errorf("after a whole turn it says again %q", text)
			}
		})
	}
}

// TestWhatToolsHaveBroughtIsReadAtTheEnd: the model may have called several tools at once, so that a message after
// one of them is not read before the next.
func TestWhatToolsHaveBroughtIsReadAtTheEnd(t *testing.T) {
	w := newWorld(t)
	w.inProgram("1")
	w.say(t, SessionStart, startup)
	w.say(t, Prompt, session)
	w.hub.attention = withDirected(7)
	w.say(t, Tool, session)
	w.say(t, Tool, session)
	if got := w.told(); got != "7" {
		t.Errorf("told %q", got)
	}
	w.say(t, Stop, session)
	if got := w.told(); got != "7 proved" {
		t.Errorf("told %q", got)
	}
}

// TestPromptsProveWhatWatchesTell: what a watch has printed is read when the turn has ended that a prompt with it
// began; else one turn later.
func TestPromptsProveWhatWatchesTell(t *testing.T) {
	const names = session + `,"prompt":"1 message for you (a): #7 from lead (direct): \"text\""`
	for _, c := range []struct {
		name, prompt, first, second string
	}{
		{"named", names, "7 proved", ""},
		{"by a plugin", session + `,"hub_told_id":7`, "7 proved", ""},
		{"not named", session, "", "7 proved"},
		{"a message that nobody was told of", session + `,"prompt":"#99 from x"`, "7 proved", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.inProgram("1")
			w.say(t, SessionStart, startup)
			w.hub.attention = withDirected(7)
			w.hub.attention.ToldID = 7 // by the watch
			w.told()
			for i, want := range []string{c.first, c.second} {
				w.say(t, Prompt, c.prompt)
				w.say(t, Stop, session)
				if got := w.told(); got != want {
					t.Errorf("turn %d: told %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

// TestLossIsToldLater: where no hub answers when the session begins anew, the next event takes back.
func TestLossIsToldLater(t *testing.T) {
	w := newWorld(t)
	w.inProgram("1")
	w.say(t, SessionStart, startup)
	w.hub.attention = withDirected(7)
	w.say(t, Prompt, session)
	w.inProgram("2")
	w.later()
	w.hub.fails["info"] = &hub.Error{Code: hub.CodeUnreachable}
	w.say(t, SessionStart, resume)
	delete(w.hub.fails, "info")
	w.told()
	if text := w.say(t, Prompt, session); !strings.Contains(text, "#7 from lead (direct, task_request, repeated)") {
		t.Errorf("said %q", text)
	}
	if got := w.told(); got != "7 lost, 7" {
		t.Errorf("told %q", got)
	}
}

// TestLossThatAHubRefuses: a hub that knows of no loss is asked once.
func TestLossThatAHubRefuses(t *testing.T) {
	w := newWorld(t)
	w.inProgram("1")
	w.say(t, SessionStart, startup)
	w.inProgram("2")
	w.later()
	w.hub.fails["tell"] = errors.New("unknown")
	w.say(t, SessionStart, resume)
	delete(w.hub.fails, "tell")
	w.told()
	w.say(t, Prompt, session)
	if got := w.told(); got != "" {
		t.Errorf("told %q", got)
	}
}
