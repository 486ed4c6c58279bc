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
func (n *News) Line() string { return n.line(false) }

// Pointer is Line without the words of peers: it names their messages, and says how they
// are read. It is for harnesses that take the line for their user's words.
func (n *News) Pointer() string { return n.line(true) }

// ByHook says that the operator's words follow. It is for harnesses that call the line no
// input of their user, and call a hook with each line, whose answer has the words. The
// first of the rows is the operator's.
func (n *News) ByHook() string {
	did := "has written to you"
	if n.Rows[0].Answers != "" {
		did = "has answered a question of yours"
	}
	line := fmt.Sprintf("Your human operator %s (#%d).", did, n.Rows[0].ID)
	if rest := len(n.Rows) + n.More - 1; rest > 0 {
		line += fmt.Sprintf(" More wait for you: %d.", rest)
	}
	return shorten(line+" The words follow. If they do not, read them: "+n.Read, MaxText)
}

func (n *News) line(named bool) string {
	all, read := len(n.Rows)+n.More, "Read in full: "
	if named {
		read = "Read: "
	}
	title := fmt.Sprintf("%d messages for you (%s): ", all, word(string(n.Agent)))
	switch all {
	case 0: // the hub does not look through all that is unread
		title = fmt.Sprintf("Messages for you (%s): ", word(string(n.Agent)))
	case 1:
		title = fmt.Sprintf("1 message for you (%s): ", word(string(n.Agent)))
	}
	var last []string
	if weight := weight(n.Rows, named); weight != "" {
		last = []string{weight}
	}
	for shown := len(n.Rows); ; shown-- {
		parts := make([]string, 0, shown+1)
		for _, row := range n.Rows[:shown] {
			parts = append(parts, directed(row, n.Now, named, false))
		}
		if shown == 0 {
			parts = append(parts, "not shown here")
		} else if shown < all {
			parts = append(parts, fmt.Sprintf("and %d more", all-shown))
		}
		sentences := []string{title + strings.Join(parts, "; ")}
		if shown < all || all == 0 || slices.ContainsFunc(n.Rows, partly(named)) {
			sentences = append(sentences, read+n.Read)
		}
		line := strings.Join(append(sentences, last...), ". ")
		if shown == 0 || utf8.RuneCountInString(line) <= MaxText {
			return shorten(line, MaxText)
		}
	}
}
