package top

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

// The least heights of a terminal that shows a line beside the list.
const (
	linesForHead    = 6 // the names of the columns
	linesForTrouble = 10
)

// View shows the state. It has as many lines as the terminal, none of them wider.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.width < 1 || m.height < 1 {
		return v
	}
	lines := []string{m.header(), m.tabs()}
	if m.troubleShown() {
		lines = append(lines, m.trouble())
	}
	lines = append(lines, m.body()...)
	foot, caret := m.footer()
	lines = append(lines, foot)
	if over := len(lines) - m.height; over > 0 {
		lines = lines[over:]
	}
	v.SetContent(strings.Join(lines, "\n"))
	if caret >= 0 {
		v.Cursor = tea.NewCursor(min(caret, m.width-1), m.height-1)
	}
	return v
}

// put paints one whole line.
func (m *Model) put(t overview.Tone, text string) string {
	return m.paint(t, overview.Fit(overview.Safe(text), m.width))
}

func (m *Model) header() string {
	switch {
	case m.lost != nil:
		text := "LOST for " + hub.Age(hub.TimeOf(m.tried)-hub.TimeOf(m.lostAt)) + ": " + sentence(m.lost) + "; trying again"
		return m.put(overview.Bad, text)
	case m.snap == nil:
		return m.put(overview.Dim, "reading the hub")
	}
	h := &m.snap.Hub
	limited := ""
	if m.snap.Limited {
		limited = ", without the operator's secret"
	}
	return m.put(overview.Title, fmt.Sprintf("hub %s at %s, up %s, %s%s", h.Version, m.snap.BaseURL,
		hub.Age(hub.Time(h.UptimeSec*1000)), overview.Count(len(m.snap.Tasks), "open task"), limited))
}

// tabs names the views with the number of their rows. On a narrow terminal it names only
// the view that is shown.
func (m *Model) tabs() string {
	parts := make([]string, len(views))
	for i := range views {
		parts[i] = fmt.Sprintf(" %d %s %d ", i+1, views[i].title, m.lists[i].count())
	}
	if len(strings.Join(parts, "")) > m.width {
		for i := range parts {
			if i != m.view {
				parts[i] = fmt.Sprintf(" %d ", i+1)
			}
		}
	}
	if plain := strings.Join(parts, ""); len(plain) > m.width {
		return overview.Clip(plain, m.width)
	}
	parts[m.view] = reverse(parts[m.view])
	return strings.Join(parts, "")
}

// reverse swaps the colors of a text, on every terminal.
func reverse(s string) string { return "\x1b[7m" + s + "\x1b[0m" }

func (m *Model) troubleShown() bool {
	return m.height >= linesForTrouble && m.snap != nil && len(m.snap.Trouble) > 0
}

func (m *Model) trouble() string {
	text := "! " + m.snap.Trouble[0].Text
	if more := len(m.snap.Trouble) - 1; more > 0 {
		text = fmt.Sprintf("! %d (t shows all): %s", more+1, m.snap.Trouble[0].Text)
	}
	return m.put(overview.Bad, text)
}

// bodyLines is how many lines the rows of a list or page have.
func (m *Model) bodyLines() int {
	n := m.height - 3
	if m.troubleShown() {
		n--
	}
	if m.height >= linesForHead {
		n--
	}
	return max(1, n)
}

// body shows the list, or the page that is read.
func (m *Model) body() []string {
	n := m.bodyLines()
	if m.page.lines != nil {
		return m.pageBody(n)
	}
	v, l := &views[m.view], &m.lists[m.view]
	room := max(0, m.width-2)
	cells := widths(v.columns, room)
	var lines []string
	if m.height >= linesForHead {
		titles := make([]string, len(v.columns))
		for i, c := range v.columns {
			titles[i] = c.title
		}
		lines = append(lines, m.put(overview.Dim, "  "+laid(titles, cells, room)))
	}
	rows, selected := l.window(n)
	for i, r := range rows {
		text := laid(r.cells, cells, room)
		if i == selected {
			lines = append(lines, reverse(overview.Clip("> ", m.width)+text))
		} else {
			tone := r.tone
			if r.gone {
				tone = overview.Dim
			}
			lines = append(lines, overview.Clip("  ", m.width)+m.paint(tone, text))
		}
	}
	if len(rows) == 0 {
		lines = append(lines, m.put(overview.Dim, "  "+m.empty(v, l)))
		n--
	}
	return append(lines, make([]string, max(0, n-len(rows)))...)
}

// empty says why a list shows nothing.
func (m *Model) empty(v *view, l *list) string {
	switch {
	case len(l.all) > 0:
		return "no " + v.one + " has the text " + l.filter + ": esc shows all"
	case m.snap == nil:
		return ""
	}
	return v.none
}

func (m *Model) pageBody(n int) []string {
	var lines []string
	if m.height >= linesForHead {
		title := m.page.title
		if rest := len(m.page.lines) - m.page.top - n; rest > 0 {
			title += fmt.Sprintf(" (%d more lines: j)", rest)
		}
		lines = append(lines, m.put(overview.Dim, title))
	}
	shown := m.page.window(n)
	for _, line := range shown {
		lines = append(lines, overview.Clip(line, m.width))
	}
	return append(lines, make([]string, n-len(shown))...)
}

// footer is the last line, and the column of the caret in it; -1: there is none.
func (m *Model) footer() (string, int) {
	l := &m.lists[m.view]
	switch {
	case m.mode == typing:
		return m.input.shown(m.width)
	case m.note != "":
		tone := overview.Good
		if m.failed {
			tone = overview.Bad
		}
		return m.put(tone, m.note), -1
	case m.mode == reading:
		keys := "esc back  j/k scroll  s say  ? help  q quit"
		if r := m.selected(); m.page.row != "" && r != nil && r.ask != nil && !r.gone {
			keys = "esc back  j/k scroll  a answer  s say  ? help  q quit"
		}
		return m.put(overview.Dim, keys), -1
	case l.filter != "":
		return m.put(overview.Warn, fmt.Sprintf("/%s: %d of %d rows; esc shows all", l.filter, len(l.shown), len(l.all))), -1
	}
	return m.put(overview.Dim, "1-5 view  enter open  / filter  s say  a answer  t trouble  ? help  q quit"), -1
}

// sentence is an error in one line.
func sentence(err error) string {
	text := err.Error()
	var h *hub.Error
	if errors.As(err, &h) && h.FixFor(hub.ForCLI) != "" {
		text += " (" + h.FixFor(hub.ForCLI) + ")"
	}
	return peertext.TerminalLine(text)
}
