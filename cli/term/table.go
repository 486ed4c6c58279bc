package term

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// Table is a list as people read it: a line of names, and a line for each row. Two
// spaces part the columns. An empty cell shows a hyphen, so that each line has as many
// cells as the first.
type Table struct {
	columns []column
	rows    [][]Cell
	none    string // said where there are no rows
}

// column is one column. If the terminal is narrow, columns with least are cut, the
// widest first, to that width.
type column struct {
	name    string
	right   bool // for numbers
	least   int
	dropped bool // may be left out where not all columns have room
}

// Cell is text, which may come from agents, and its color.
type Cell struct{ Text, Color string }

// Screen is where a table is shown. Without a width nothing is cut.
type Screen struct {
	Width, Height int
	Color         bool
}

const (
	gap      = "  "
	ellipsis = "…"
	noValue  = "-"
)

// NewTable makes a table with columns that are called so. A name that ends with a
// number in brackets, as in "TITLE(10)", is one that may be cut to this width; a name
// that begins with > is one of numbers. A column whose name ends with ? is left out on a
// terminal that has no room for all columns, the last of them first.
func NewTable(none string, names ...string) *Table {
	t := &Table{none: none}
	for _, name := range names {
		c := column{}
		name, c.right = strings.CutPrefix(name, ">")
		name, c.dropped = strings.CutSuffix(name, "?")
		if before, least, ok := strings.Cut(strings.TrimSuffix(name, ")"), "("); ok {
			name = before
			c.least, _ = strconv.Atoi(least)
		}
		c.name = name
		t.columns = append(t.columns, c)
	}
	return t
}

// Add appends a row. A value is a cell, or what fmt prints as its text.
func (t *Table) Add(values ...any) {
	row := make([]Cell, len(t.columns))
	for i, v := range values[:min(len(values), len(row))] {
		c, ok := v.(Cell)
		if !ok {
			c.Text = fmt.Sprint(v)
		}
		row[i] = c
	}
	t.rows = append(t.rows, row)
}

// Lines renders the table. All text is safe for a terminal then.
func (t *Table) Lines(s Screen) []string {
	cells := make([][]Cell, 0, len(t.rows)+1)
	head := make([]Cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = Cell{c.name, SGRBold}
	}
	cells = append(cells, head)
	for _, row := range t.rows {
		safe := make([]Cell, len(row))
		for i, c := range row {
			if safe[i] = (Cell{OneLine(c.Text), c.Color}); safe[i].Text == noValue {
				safe[i].Color = ""
			}
		}
		cells = append(cells, safe)
	}
	shown, cells := t.fitting(cells, s.Width)
	widths := shown.widths(cells, s.Width)
	out := make([]string, len(cells))
	for i, row := range cells {
		out[i] = shown.line(row, widths, s)
	}
	return out
}

// fitting leaves out columns until the others have room on a screen of this width, each
// cut as far as it may be.
func (t *Table) fitting(cells [][]Cell, width int) (*Table, [][]Cell) {
	columns := slices.Clone(t.columns)
	for at := len(columns) - 1; at >= 0 && width > 0; at-- {
		fewest := &Table{columns: columns}
		if !columns[at].dropped || sum(fewest.widths(cells, 1)) <= width {
			continue
		}
		columns = slices.Delete(columns, at, at+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], at, at+1)
		}
	}
	return &Table{columns: columns}, cells
}

// sum is the width of a line with columns of these widths.
func sum(widths []int) int {
	total := (len(widths) - 1) * len(gap)
	for _, w := range widths {
		total += w
	}
	return total
}

// OneLine renders text of agents as the text of a cell.
func OneLine(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(peertext.TerminalLine(s), "\t", " "))
	if s == "" {
		return noValue
	}
	return s
}

// widths returns the width of each column on a screen of this width.
func (t *Table) widths(cells [][]Cell, screen int) []int {
	widths := make([]int, len(t.columns))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], ansi.StringWidth(c.Text))
		}
	}
	if screen <= 0 {
		return widths
	}
	for total := sum(widths); total > screen; total-- {
		widest := -1
		for i, c := range t.columns {
			if c.least > 0 && widths[i] > max(c.least, len(c.name)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// line renders one row. A line that is still too long ends with an ellipsis.
func (t *Table) line(row []Cell, widths []int, s Screen) string {
	var b strings.Builder
	for i, c := range row {
		text := ansi.Truncate(c.Text, widths[i], ellipsis)
		pad := strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text)))
		if i > 0 {
			b.WriteString(gap)
		}
		if t.columns[i].right {
			b.WriteString(pad)
		}
		b.WriteString(s.Paint(text, c.Color))
		if !t.columns[i].right && i < len(row)-1 {
			b.WriteString(pad)
		}
	}
	return s.Cut(b.String())
}

// Cut shortens a line to the width of the screen.
func (s Screen) Cut(line string) string {
	if s.Width <= 0 {
		return line
	}
	return ansi.Truncate(line, s.Width, ellipsis)
}

// Paint colors a text if the screen has colors.
func (s Screen) Paint(text, color string) string {
	if !s.Color || color == "" {
		return text
	}
	return color + text + sgrReset
}

// Empty says that there are no rows.
func (t *Table) Empty() string {
	if len(t.rows) > 0 {
		return ""
	}
	return t.none
}

// Age is how long ago a moment was: 12s, 3m, 2h, 4d. The clocks of the hub and of this
// machine may differ a little.
func Age(now, since hub.Time) string { return Span(now - since) }

// Optional returns what a pointer names as text, or "".
func Optional[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// AtMost shows a count of unread messages, which the hub bounds.
func AtMost(n int) string {
	if n >= hub.MaxUnread {
		return fmt.Sprintf("%d or more", hub.MaxUnread)
	}
	return fmt.Sprint(n)
}

// Span shows a span of milliseconds in its largest unit.
func Span(ms hub.Time) string { return hub.Age(ms) }

// Failures says how many tasks of a run failed or were canceled; it is empty if none did.
func Failures(c hub.RunCounts) string {
	out := ""
	if c.Failed > 0 {
		out += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Cancelled > 0 {
		out += fmt.Sprintf(", %d cancelled", c.Cancelled)
	}
	return out
}
