package hook

import (
	"fmt"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestOrdersHideNoMail: a hook lists an agent's own mail before the operator's words to all, says of
// those where and how long ago they were said, and takes them as told with the line that counts them.
func TestOrdersHideNoMail(t *testing.T) {
	order := func(id hub.MessageID) hub.UnreadRow {
		return hub.UnreadRow{ID: id, TS: 1_000_000, FromAgent: hub.AgentOperator, Channel: "room-r_2", Authority: hub.AuthorityOperator, Order: true, Excerpt: fmt.Sprintf("order %d", id)}
	}
	mail := func(id hub.MessageID) hub.UnreadRow {
		return hub.UnreadRow{ID: id, FromAgent: "ben", Direct: true, Authority: hub.AuthorityAgent, Excerpt: fmt.Sprintf("mail %d", id)}
	}
	for name, c := range map[string]struct {
		rows []hub.UnreadRow
		told hub.MessageID
		want string // the listed ids, and how many more
	}{
		"few of both":                 {[]hub.UnreadRow{order(1), mail(2), order(3)}, 3, "1 2 3"},
		"many orders before the mail": {[]hub.UnreadRow{order(1), order(2), order(3), order(4), order(5), order(6), mail(7)}, 7, "3 4 5 6 7 and 2"},
		"much mail":                   {[]hub.UnreadRow{mail(1), order(2), mail(3), mail(4), mail(5), mail(6), mail(7), order(8)}, 5, "1 3 4 5 8 and 3"},
		"much mail, and one order":    {[]hub.UnreadRow{mail(1), mail(2), mail(3), mail(4), mail(5), order(6)}, 4, "1 2 3 4 6 and 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{Agent: "ann", Now: 1_000_000 + 3*3600_000}
			p := &page{left: MaxText}
			told := s.listDirected(p, "title", c.rows)
			var ids []string
			for _, line := range strings.Split(p.text(nil), "\n")[1:] {
				var id, more int
				switch {
				case scan(line, "- #%d ", &id):
					ids = append(ids, fmt.Sprint(id))
				case scan(line, "- and %d more", &more):
					ids = append(ids, fmt.Sprintf("and %d", more))
				}
				if strings.Contains(line, "order") && !strings.Contains(line, "(in room-r_2, from the human operator 3h ago)") {
					t.Errorf("an order without its room and age: %s", line)
				}
			}
			if got := strings.Join(ids, " "); got != c.want || told != c.told {
				t.Errorf("listed %s and told up to %d, want %s and %d", got, told, c.want, c.told)
			}
		})
	}
}

func scan(line, format string, into *int) bool {
	n, err := fmt.Sscanf(line, format, into)
	return err == nil && n == 1
}

// TestAnswerStandsBesideItsQuestion: an answer of the operator is shown with the question, and with the
// weight of the user's word; a peer's words get neither.
func TestAnswerStandsBesideItsQuestion(t *testing.T) {
	answer := hub.UnreadRow{ID: 9, FromAgent: hub.AgentOperator, Direct: true, Authority: hub.AuthorityOperator, Excerpt: "yes", Answers: `Round "half" up?`}
	n := News{Agent: "ann", Rows: []hub.UnreadRow{answer}, Read: "R"}
	if want := `1 message for you (ann): #9 from operator (direct, from the human operator, the answer to your question "Round 'half' up?"): "yes". ` + asOrder; n.Line() != want {
		t.Errorf("the line is %s\nwant %s", n.Line(), want)
	}
	n.Rows[0] = hub.UnreadRow{ID: 9, FromAgent: "ben", Direct: true, Authority: hub.AuthorityAgent, Excerpt: "yes"}
	if strings.Contains(n.Line(), asOrder) {
		t.Errorf("a peer's words have the weight of the user's: %s", n.Line())
	}
}
