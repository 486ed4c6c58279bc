package hook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// News is what an agent is told between two turns: messages for it.
type News struct {
	Agent hub.AgentID
	Rows  []hub.UnreadRow
	More  int      // messages beside the rows
	Read  string   // how the agent reads them
	Now   hub.Time // 0: no age is shown
}

// Line returns the news as one line of at most MaxText characters. It quotes as many of
// the messages as fit, and counts the others.
func (n *News) Line() string {
	all := len(n.Rows) + n.More
	title := fmt.Sprintf("%d messages for you (%s): ", all, word(string(n.Agent)))
	switch all {
	case 0: // the hub does not look through all that is unread
		title = fmt.Sprintf("Messages for you (%s): ", word(string(n.Agent)))
	case 1:
		title = fmt.Sprintf("1 message for you (%s): ", word(string(n.Agent)))
	}
	for shown := len(n.Rows); ; shown-- {
		last := ". " + weight(n.Rows)
		if shown < all || all == 0 || slices.ContainsFunc(n.Rows, partly) {
			last = fmt.Sprintf(". Read in full: %s%s", n.Read, last)
		}
		parts := make([]string, 0, shown+1)
		for _, row := range n.Rows[:shown] {
			parts = append(parts, strings.TrimPrefix(directed(row, n.Now), "- "))
		}
		if shown == 0 {
			parts = append(parts, "not shown here")
		} else if shown < all {
			parts = append(parts, fmt.Sprintf("and %d more", all-shown))
		}
		line := title + strings.Join(parts, "; ") + last
		if shown == 0 || utf8.RuneCountInString(line) <= MaxText {
			return shorten(line, MaxText)
		}
	}
}
