package hook

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// TestNewsIsOneLine: whatever messages hold, the news is one line within its bound that
// says how they are read, and no text of others leaves its quotes.
func TestNewsIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := News{Agent: "ann", More: rapid.IntRange(0, 195).Draw(t, "more"), Read: "the tool hub_poll_messages"}
		for i := range rapid.IntRange(0, 5).Draw(t, "rows") {
			n.Rows = append(n.Rows, hub.UnreadRow{
				ID: hub.MessageID(i + 1), FromAgent: "ben", Channel: "general",
				Kind: hub.KindChat, Excerpt: rapid.StringN(0, 400, -1).Draw(t, "excerpt"), Partial: rapid.Bool().Draw(t, "partial"),
			})
		}
		line := n.Line()
		if utf8.RuneCountInString(line) > MaxText || strings.ContainsAny(line, "\n\r\u2028\x1b") || !strings.HasSuffix(line, weight(n.Rows)) {
			t.Fatalf("%d characters: %q", utf8.RuneCountInString(line), line)
		}
		whole := n.More == 0 && len(n.Rows) > 0 && !slices.ContainsFunc(n.Rows, partly)
		if tells := strings.Contains(line, "Read in full: "+n.Read); tells == whole && strings.Count(line, " from ben (") == len(n.Rows) {
			t.Fatalf("everything is shown: %v, and it says %q", whole, line)
		}
		if quotes := strings.Count(line, `"`); quotes != 2*strings.Count(line, " from ben (") {
			t.Fatalf("%d quotes in %q", quotes, line)
		}
	})
}

func TestNewsCountsWhatItDoesNotShow(t *testing.T) {
	n := News{Agent: "ann", Read: "R", More: 2, Rows: []hub.UnreadRow{{ID: 7, FromAgent: "lead", Direct: true, Kind: hub.KindTaskRequest, Excerpt: "say \"hi\"\nplease"}}}
	want := `3 messages for you (ann): #7 from lead (direct, task_request): "say 'hi' please"; and 2 more. Read in full: R. ` + asData
	if got := n.Line(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
