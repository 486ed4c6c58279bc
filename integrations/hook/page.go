package hook

import (
	"strings"
	"unicode/utf8"

	"hubcli/internal/peertext"
)

// MaxText is the largest number of characters that a hook prints: the model
// reads them in every session, and they take space from the agent's work.
const MaxText = 1500

// Limits of quotations of other people's text, in characters.
const (
	maxName    = 60
	maxTopic   = 160
	maxTitle   = 80
	maxExcerpt = 160
	maxWhy     = 100
)

// page is a text of whole lines that does not outgrow its room.
type page struct {
	lines []string
	left  int // characters
}

// add adds the lines if all of them fit.
func (p *page) add(lines ...string) bool {
	size := 0
	for _, line := range lines {
		size += utf8.RuneCountInString(line) + 1
	}
	if size > p.left {
		return false
	}
	p.left -= size
	p.lines = append(p.lines, lines...)
	return true
}

// reserve keeps room for lines that come last and have to be there.
func (p *page) reserve(lines []string) {
	for _, line := range lines {
		p.left -= utf8.RuneCountInString(line) + 1
	}
}

// text puts the lines together. If the reserved lines do not fit, they are cut.
func (p *page) text(last []string) string {
	return shorten(strings.Join(append(p.lines, last...), "\n"), MaxText)
}

// quote shows text of others as data: on one line, without characters that a
// terminal or a model reads but a person does not see, shortened to max
// characters, and between quotes that the text cannot close.
func quote(s string, max int) string {
	return `"` + strings.ReplaceAll(shorten(peertext.Plain(s), max), `"`, "'") + `"`
}

// shorten cuts a text to max characters, at the end of a word if there is one
// not far before.
func shorten(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	const more = "..."
	cut := string([]rune(s)[:max-len(more)+1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	} else {
		_, last := utf8.DecodeLastRuneInString(cut)
		cut = cut[:len(cut)-last]
	}
	return strings.TrimRight(cut, " ,;:.") + more
}

// word makes a name of others safe to show without quotes: an id or a status of
// the hub holds no space.
func word(s string) string {
	s = strings.ReplaceAll(peertext.Plain(s), " ", "_")
	return shorten(s, 64)
}
