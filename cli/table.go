package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// table is a list as people read it: a line of names, and a line for each row. Two
// spaces part the columns. An empty cell shows a hyphen, so that each line has as many
// cells as the first.
type table struct {
	columns []column
	rows    [][]cell
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

// cell is text, which may come from agents, and its color.
type cell struct{ text, color string }

// screen is where a table is shown. Without a width nothing is cut.
type screen struct {
	width, height int
	color         bool
}

const (
	gap      = "  "
	ellipsis = "…"
	noValue  = "-"
)

// newTable makes a table with columns that are called so. A name that ends with a
// number in brackets, as in "TITLE(10)", is one that may be cut to this width; a name
// that begins with > is one of numbers. A column whose name ends with ? is left out on a
// terminal that has no room for all columns, the last of them first.
func newTable(none string, names ...string) *table {
	t := &table{none: none}
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

// add appends a row. A value is a cell, or what fmt prints as its text.
func (t *table) add(values ...any) {
	row := make([]cell, len(t.columns))
	for i, v := range values[:min(len(values), len(row))] {
		c, ok := v.(cell)
		if !ok {
			c.text = fmt.Sprint(v)
		}
		row[i] = c
	}
	t.rows = append(t.rows, row)
}

// lines renders the table. All text is safe for a terminal then.
func (t *table) lines(s screen) []string {
	cells := make([][]cell, 0, len(t.rows)+1)
	head := make([]cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{c.name, sgrBold}
	}
	cells = append(cells, head)
	for _, row := range t.rows {
		safe := make([]cell, len(row))
		for i, c := range row {
			if safe[i] = (cell{oneLine(c.text), c.color}); safe[i].text == noValue {
				safe[i].color = ""
			}
		}
		cells = append(cells, safe)
	}
	shown, cells := t.fitting(cells, s.width)
	widths := shown.widths(cells, s.width)
	out := make([]string, len(cells))
	for i, row := range cells {
		out[i] = shown.line(row, widths, s)
	}
	return out
}

// fitting leaves out columns until the others have room on a screen of this width, each
// cut as far as it may be.
func (t *table) fitting(cells [][]cell, width int) (*table, [][]cell) {
	columns := slices.Clone(t.columns)
	for at := len(columns) - 1; at >= 0 && width > 0; at-- {
		fewest := &table{columns: columns}
		if !columns[at].dropped || sum(fewest.widths(cells, 1)) <= width {
			continue
		}
		columns = slices.Delete(columns, at, at+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], at, at+1)
		}
	}
	return &table{columns: columns}, cells
}

// sum is the width of a line with columns of these widths.
func sum(widths []int) int {
	total := (len(widths) - 1) * len(gap)
	for _, w := range widths {
		total += w
	}
	return total
}

// oneLine renders text of agents as the text of a cell.
func oneLine(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(peertext.TerminalLine(s), "\t", " "))
	if s == "" {
		return noValue
	}
	return s
}

// widths returns the width of each column on a screen of this width.
func (t *table) widths(cells [][]cell, screen int) []int {
	widths := make([]int, len(t.columns))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], ansi.StringWidth(c.text))
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
func (t *table) line(row []cell, widths []int, s screen) string {
	var b strings.Builder
	for i, c := range row {
		text := ansi.Truncate(c.text, widths[i], ellipsis)
		pad := strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text)))
		if i > 0 {
			b.WriteString(gap)
		}
		if t.columns[i].right {
			b.WriteString(pad)
		}
		b.WriteString(s.paint(text, c.color))
		if !t.columns[i].right && i < len(row)-1 {
			b.WriteString(pad)
		}
	}
	return s.cut(b.String())
}

// cut shortens a line to the width of the screen.
func (s screen) cut(line string) string {
	if s.width <= 0 {
		return line
	}
	return ansi.Truncate(line, s.width, ellipsis)
}

// paint colors a text if the screen has colors.
func (s screen) paint(text, color string) string {
	if !s.color || color == "" {
		return text
	}
	return color + text + sgrReset
}

// empty says that there are no rows.
func (t *table) empty() string {
	if len(t.rows) > 0 {
		return ""
	}
	return t.none
}

// age is how long ago a moment was: 12s, 3m, 2h, 4d. The clocks of the hub and of this
// machine may differ a little.
func age(now, since hub.Time) string { return span(now - since) }

// optional returns what a pointer names as text, or "".
func optional[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}
