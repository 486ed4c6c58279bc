package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"hubcli/internal/peertext"
	"hubcli/overview"
)

// line is one line of text that the human types.
type line struct {
	about  string // what the text is for: texts that were not sent are kept by it
	prompt string
	why    string // why the text was not taken; empty: it was not sent yet
	text   []rune
	at     int          // the caret is before this character
	change func(string) // with every change; may be nil
	// done is called with enter. It says why the text is not taken; then the human goes on typing.
	// With asIt the text is to be taken as it stands.
	done   func(text string, asIt bool) (cmd tea.Cmd, why string)
	cancel func() // with escape; may be nil
}

// insert puts a text at the caret. Ends of lines become spaces; what a terminal would
// obey is left out.
func (l *line) insert(s string) {
	var add []rune
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			add = append(add, ' ')
		case !peertext.Hidden(r):
			add = append(add, r)
		}
	}
	l.text = slices.Insert(l.text, l.at, add...)
	l.at += len(add)
}

// edit takes a key that is neither enter nor escape.
func (l *line) edit(key tea.KeyPressMsg) {
	switch key.String() {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h":
		l.cut(max(0, l.at-1), l.at)
	case "delete", "ctrl+d":
		l.cut(l.at, min(len(l.text), l.at+1))
	case "ctrl+u":
		l.cut(0, l.at)
	case "ctrl+k":
		l.cut(l.at, len(l.text))
	case "ctrl+w":
		from := l.at
		for from > 0 && l.text[from-1] == ' ' {
			from--
		}
		for from > 0 && l.text[from-1] != ' ' {
			from--
		}
		l.cut(from, l.at)
	default:
		l.insert(key.Text)
	}
}

func (l *line) cut(from, to int) {
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

// shown returns the line in n cells, with the caret in sight, and the caret's column.
func (l *line) shown(n int) (text string, caret int) {
	prompt := l.prompt
	if l.why != "" {
		prompt = l.why + ": "
	}
	prompt = overview.Clip(overview.Safe(prompt), max(0, n*3/4))
	room := max(1, n-overview.Width(prompt)-1)
	from := 0
	for overview.Width(string(l.text[from:l.at])) > room {
		from++
	}
	before := overview.Safe(string(l.text[from:l.at]))
	return overview.Fit(prompt+before+overview.Safe(string(l.text[l.at:])), n), overview.Width(prompt + before)
}
