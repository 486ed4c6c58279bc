package agent

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// TestOutcomeIsOneShortLine: whatever the hub and the command line hold, the
// outcome is one line of JSON within its bound, its word is whole, and the
// messages that it shows are the first ones.
func TestOutcomeIsOneShortLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := func(most int) *rapid.Generator[string] { return rapid.StringN(0, most, -1) }
		w := &watcher{options: &watchOptions{
			BaseURL: opt.BaseURL{URL: "http://" + long(900).Draw(t, "url")}, label: long(400).Draw(t, "label"),
			until: rapid.SliceOfN(long(300), 0, 60).Draw(t, "until"),
		}}
		w.query.Agent, w.query.Room = "ann", hub.RoomID(long(hub.MaxNameChars).Draw(t, "room"))
		if rapid.Bool().Draw(t, "answered") {
			for range rapid.IntRange(0, hub.MaxWatchConditions).Draw(t, "conditions") {
				w.last.Conditions = append(w.last.Conditions, hub.ConditionState{
					Condition: long(800).Draw(t, "condition"), Why: long(900).Draw(t, "why"),
				})
			}
			for i := range rapid.IntRange(0, 5).Draw(t, "messages") {
				w.last.Messages = append(w.last.Messages, hub.UnreadRow{
					ID: hub.MessageID(i + 1), FromAgent: "b", Excerpt: long(200).Draw(t, "excerpt"),
				})
			}
			w.last.Unread = rapid.IntRange(0, hub.MaxUnread).Draw(t, "unread")
		}
		var out *watchOutcome
		switch rapid.IntRange(0, 3).Draw(t, "outcome") {
		case 0:
			out = w.matched()
		case 1:
			out, _ = w.timeout()
		case 2:
			out, _ = w.interrupted(term.ErrInterrupted)
		default:
			out, _ = w.failed(hub.NewError(hub.CodeInvalid, long(3000).Draw(t, "message")).WithFix(long(3000).Draw(t, "fix")))
		}
		word := out.Outcome
		line := out.line()
		if n := utf8.RuneCount(line); n > maxOutcome {
			t.Fatalf("%d characters: %s", n, line)
		}
		var got watchOutcome
		if err := json.Unmarshal(line, &got); err != nil || slices.Index(line, '\n') != len(line)-1 || got.Outcome != word || got.Next == "" && word != outcomeError {
			t.Fatalf("%v in %q", err, line)
		}
		for i, m := range got.Messages {
			if m.ID != hub.MessageID(i+1) {
				t.Fatalf("message %d is shown at place %d", m.ID, i)
			}
		}
	})
}
