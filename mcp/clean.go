package mcp

import (
	"crypto/rand"
	"strings"

	"hubcli/internal/peertext"
)

// What others have written is data. It reaches the model as peertext.Model shows it,
// with every character in it to be seen. A reader who needs the exact bytes reads
// the artifact or asks the HTTP surface.

// fence returns a mark that text does not hold, and that nobody could know when
// the text was written.
func fence(text string) string {
	for {
		mark := "peer-" + strings.ToLower(rand.Text()[:6])
		if !strings.Contains(text, mark) {
			return mark
		}
	}
}

// fenced puts a text between two marks that it cannot write itself, and | before
// each of its lines: a mark that it makes up is seen to be within.
func fenced(text string) string {
	text = peertext.Model(text)
	return between(fence(text), text)
}

// between puts a clean text that does not hold mark between two marks.
func between(mark, text string) string {
	return "<<<" + mark + "\n" + barred(text) + "\n" + mark + ">>>"
}

// fencedList is a text of several pieces with one pair of marks around all words of others.
type fencedList struct {
	mark string
	open bool
	b    strings.Builder
}

// newFence returns an empty list for these words, which are clean.
func newFence(words []string) *fencedList { return &fencedList{mark: fence(strings.Join(words, "\n"))} }

// line adds a line of the hub's own.
func (f *fencedList) line(line string) { f.b.WriteString(line + "\n") }

// words adds what others have written, below a line of the hub's own that says who.
func (f *fencedList) words(head, said string) {
	if !f.open {
		f.line("<<<" + f.mark)
		f.open = true
	}
	f.line(head + "\n" + barred(said))
}

// text closes the list.
func (f *fencedList) text() string {
	if f.open {
		f.line(f.mark + ">>>")
	}
	return f.b.String()
}

// barred puts | before each line of a text.
func barred(text string) string { return "| " + strings.ReplaceAll(text, "\n", "\n| ") }

// peerText is a text that others have written. It is encoded within a fence.
type peerText string

// MarshalJSON returns the fenced text as a JSON string; an empty text stays
// empty.
func (p peerText) MarshalJSON() ([]byte, error) {
	if p == "" {
		return []byte(`""`), nil
	}
	return compact(fenced(string(p)))
}

// cut returns the part of s from character offset on, at most max characters, and
// where it ends; whole says that nothing follows.
func cut(s string, offset, max int) (part string, end int, whole bool) {
	begin := len(s)
	n := 0
	for i := range s {
		if n == offset {
			begin = i
		}
		if n == offset+max {
			return s[begin:i], n, false
		}
		n++
	}
	if offset >= n {
		return "", n, true
	}
	return s[begin:], n, true
}

// clip returns the part of s from character offset on that takes at most room
// characters as it is sent, and the offset at which it ends; whole says that
// nothing follows.
func clip(s string, offset, room int) (part string, end int, whole bool) {
	n, begin := 0, -1
	for i, r := range s {
		if n == offset {
			begin = i
		}
		if begin >= 0 {
			if room -= width(r); room < 0 {
				return s[begin:i], n, false
			}
		}
		n++
	}
	if begin < 0 {
		return "", n, true
	}
	return s[begin:], n, true
}

// width is how many characters a rune takes as it is sent: shown, and within a
// JSON string.
func width(r rune) int {
	switch {
	case peertext.Hidden(r):
		return len(peertext.Shown(r))
	case r == '"' || r == '\\' || r == '\n' || r == '\t':
		return 2
	}
	return 1
}

// quoted shows a name or a title within a line: between quotes that it cannot
// close, at most max characters.
func quoted(s string, max int) string {
	s = peertext.ModelLine(s)
	if part, _, whole := cut(s, 0, max); !whole {
		s = part + "…"
	}
	return `"` + strings.ReplaceAll(s, `"`, "'") + `"`
}
