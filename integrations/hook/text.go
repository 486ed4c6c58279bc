package hook

import (
	"strings"
	"unicode/utf8"

	"hubcli/internal/peertext"
)

// MaxText is the most characters that a hook says at once: it is read with every
// session and takes room from what the agent is there for.
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

// text puts the lines together. Should those that have to be there not leave room
// for themselves, they are cut.
func (p *page) text(last []string) string {
	return shorten(strings.Join(append(p.lines, last...), "\n"), MaxText)
}

// quote shows other people's text as data: on one line, without anything that a
// terminal or a model would read and a person not see, shortened to max
// characters, between quotes that it cannot close.
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

// word makes a name of others fit to stand without quotes: an id or a status of
// the hub holds no space.
func word(s string) string {
	s = strings.ReplaceAll(peertext.Plain(s), " ", "_")
	return shorten(s, 64)
}
