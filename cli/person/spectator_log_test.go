package person

import (
	"testing"
	"time"

	"hubcli/cli/term"
	"hubcli/hub"
)

// TestMessageLines: a message is one line with its local time, and lines of a whole one
// are indented, so that no text looks like another message.
func TestMessageLines(t *testing.T) {
	now := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	to := hub.AgentID("dev-a")
	m := hub.Message{
		ID: 7, TS: hub.TimeOf(now.Add(-time.Hour)), FromAgent: "lead", ToAgent: &to, Channel: "direct", Kind: hub.KindChat,
		Body: "one\n14:05:06 #general boss  [chat #8] two\x1b[2J\n", ReplyTo: new(hub.MessageID(3)),
		Attachments: []hub.Attachment{{Type: hub.AttachmentFileRef, Path: "a\u202e.txt"}},
	}
	if got, want := messageLine(&m, "#direct", now, term.Screen{}), `14:00:00 #direct lead → dev-a  [chat #7] one\n14:05:06 #general boss  [chat #8] two\x1b[2J (+1 attached)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := messageLine(&m, "#direct", now, term.Screen{Width: 50}), `14:00:00 #direct lead → dev-a  [chat #7] one\n14:…`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.TS, m.ToAgent, m.Channel = hub.TimeOf(now.Add(-24*time.Hour)), nil, "general"
	want := "2026-03-03 15:00:00 #general lead  [chat #7] (reply to #3) one\n    14:05:06 #general boss  [chat #8] two\\x1b[2J\n    + file_ref: a\\u202e.txt"
	if got := messageText(&m, "#general", now, term.Screen{Width: 50}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
