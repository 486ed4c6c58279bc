package core

import (
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// maxWake bounds the body and the metadata of a wake notice together, in bytes.
const maxWake = 512

// watchWake is the metadata that tells an agent why its watch woke it.
type watchWake struct {
	Reason  string        `json:"reason"`
	Matched []string      `json:"matched"`
	SinceID hub.MessageID `json:"since_id"`
	Label   string        `json:"label,omitempty"`
}

// WatchNotice is the direct message that tells an agent that the conditions of
// its watch hold. Conditions that do not fit are left out.
func WatchNotice(got *hub.Watched, label string) MessageDraft {
	wake := watchWake{Reason: "watch", Matched: []string{}, SinceID: got.NextSinceID, Label: shorten(label, 100)}
	notice := func() MessageDraft {
		body := "Your watch is met: all its conditions hold."
		if len(wake.Matched) > 0 {
			body = "Your watch is met: " + strings.Join(wake.Matched, ", ") + "."
		}
		n := systemNotice(body, map[string]any{"wake": wake})
		n.To, n.Channel, n.Room, n.Whole = got.AgentID, hub.DirectChannel, got.RoomID, true
		if got.RoomID != "" {
			n.Channel = got.RoomID.Channel()
		}
		return n
	}
	n := notice()
	for i := range got.Conditions {
		wake.Matched = append(wake.Matched, got.Conditions[i].Condition)
		longer := notice()
		if len(longer.Body)+len(longer.Metadata) > maxWake {
			break
		}
		n = longer
	}
	return n
}

// shorten cuts a text to at most that many bytes, at a character boundary.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
