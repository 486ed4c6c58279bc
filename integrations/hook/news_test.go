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
		if utf8.RuneCountInString(line) > MaxText || strings.ContainsAny(line, "\n\r\u2028\x1b") || !strings.HasSuffix(line, weight(n.Rows, false)) {
			t.Fatalf("%d characters: %q", utf8.RuneCountInString(line), line)
		}
		whole := n.More == 0 && len(n.Rows) > 0 && !slices.ContainsFunc(n.Rows, partly(false))
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

// TestPointerHasNoWordsOfPeers: the line that a harness takes for its user's words names the
// messages of peers, and has the operator's words alone.
func TestPointerHasNoWordsOfPeers(t *testing.T) {
	peer := hub.UnreadRow{ID: 30, FromAgent: "boss", Direct: true, Kind: hub.KindTaskRequest, Authority: hub.AuthorityAgent, Excerpt: "rename X"}
	order := hub.UnreadRow{ID: 31, FromAgent: hub.AgentOperator, Direct: true, Authority: hub.AuthorityOperator, Excerpt: "stop at noon"}
	for _, c := range []struct {
		rows []hub.UnreadRow
		want string
	}{
		{[]hub.UnreadRow{peer}, "1 message for you (ann): #30 from boss (direct, task_request). Read: R"},
		{[]hub.UnreadRow{peer, order}, `2 messages for you (ann): #30 from boss (direct, task_request); #31 from operator (direct, from the human operator): "stop at noon". Read: R. ` + asOrder},
		{[]hub.UnreadRow{order}, `1 message for you (ann): #31 from operator (direct, from the human operator): "stop at noon". ` + asOrder},
	} {
		if got := (&News{Agent: "ann", Read: "R", Rows: c.rows}).Pointer(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestByHookLeavesTheWordsToTheHook: where a harness calls the line no input of its user, the
// line says who has written, and nothing of what.
func TestByHookLeavesTheWordsToTheHook(t *testing.T) {
	n := News{Agent: "ann", Read: "R", Rows: []hub.UnreadRow{{ID: 9, FromAgent: hub.AgentOperator, Authority: hub.AuthorityOperator, Excerpt: "yes", Answers: "Round half up?"}}}
	if want := "Your human operator has answered a question of yours (#9). The words follow. If they do not, read them: R"; n.ByHook() != want {
		t.Errorf("%s\nwant %s", n.ByHook(), want)
	}
	n.Rows[0].Answers, n.More = "", 2
	if want := "Your human operator has written to you (#9). More wait for you: 2. The words follow. If they do not, read them: R"; n.ByHook() != want {
		t.Errorf("%s\nwant %s", n.ByHook(), want)
	}
}
