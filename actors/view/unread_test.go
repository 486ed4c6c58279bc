package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
)

func TestMentions(t *testing.T) {
	for body, want := range map[string]bool{
		"@dev-a": true, "ask @dev-a.": true, "(@dev-a)": true, ".@dev-a: now": true, "@dev-a,@dev-b": true, "@dev-ab @dev-a": true,
		"\"@dev-a\"\n": true, "@dev-a.b": false, "@dev-ab": false, "me@dev-a": false, "dev-a": false, "@dev-A": false, "@ dev-a": false,
		"@dev-a-1": false, "@dev-a-": true, "": false,
	} {
		draft := core.MessageDraft{From: "ben", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body + " "}
		m := draft.Encode(1, 0)
		if mentions(&m, "dev-a") != want {
			t.Errorf("%q names the agent: %v, want %v", body, !want, want)
		}
	}
}

// TestUnreadRowIsOneShortLine: a row holds at most excerptChars of the body, also
// where the last of them is behind white space.
func TestUnreadRowIsOneShortLine(t *testing.T) {
	for body, want := range map[string]string{
		" a \n\t b\u2028c ":               "a b c",
		"\x1b[31mred\u202etxt":            "[31mredtxt",
		strings.Repeat("é ", 300):         strings.Repeat("é ", 99) + "é…",
		strings.Repeat("é", 198) + " end": strings.Repeat("é", 198) + "…",
		strings.Repeat("界", 10) + "\n":    strings.Repeat("界", 10),
	} {
		draft := core.MessageDraft{From: "ben", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body}
		m := draft.Encode(1, 0)
		row, err := (*View)(nil).UnreadRow(&m, "ann")
		if err != nil || row.Excerpt != want || utf8.RuneCountInString(row.Excerpt) > excerptChars {
			t.Errorf("%q became %q, %v, want %q", body, row.Excerpt, err, want)
		}
	}
}
