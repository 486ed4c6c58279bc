package top

import (
	"strings"

	"hubcli/hub"
	"hubcli/overview"
)

// row is one line of a view. Its cells are safe for a terminal.
type row struct {
	key    string // names the row in this snapshot and the next
	cells  []string
	tone   overview.Tone
	to     *Target         // where say goes; nil: nowhere
	ask    hub.AskID       // the ask that an answer is for
	detail func() []string // the whole of it, as lines of any text
}

// column is one column of a view. What is left of the line is shared by weight.
type column struct {
	title  string
	least  int // cells
	weight int
	from   int // the least width of a terminal that shows it
}

// list is the state of one view: its rows, which of them are shown and which is
// selected. The zero list is empty.
type list struct {
	all    []row
	shown  []int // indexes of the rows that the filter passes
	filter string
	at     int // of the selected row among those shown
	top    int // of the first row on the screen
}

// set takes new rows. The selected row stays selected. If it is gone, the one in its
// place is. With follows a selection of the last row moves to the new last row.
func (l *list) set(rows []row, follows bool) {
	key, atEnd := "", follows && l.at >= len(l.shown)-1
	if r := l.selected(); r != nil {
		key = r.key
	}
	l.all = rows
	l.pass()
	if atEnd {
		l.at = len(l.shown) - 1
	} else {
		for i, index := range l.shown {
			if l.all[index].key == key {
				l.at = i
			}
		}
	}
	l.move(0)
}

// search shows only rows that have the text in a cell.
func (l *list) search(text string) {
	l.filter = text
	l.pass()
	l.move(0)
}

func (l *list) pass() {
	l.shown = l.shown[:0]
	want := strings.ToLower(overview.Safe(l.filter))
	for i := range l.all {
		if want == "" || strings.Contains(strings.ToLower(strings.Join(l.all[i].cells, " ")), want) {
			l.shown = append(l.shown, i)
		}
	}
}

// move moves the selection by n rows.
func (l *list) move(n int) { l.at = max(0, min(l.at+n, len(l.shown)-1)) }

func (l *list) selected() *row {
	if l.at >= len(l.shown) {
		return nil
	}
	return &l.all[l.shown[l.at]]
}

func (l *list) find(key string) *row {
	for i := range l.all {
		if l.all[i].key == key {
			return &l.all[i]
		}
	}
	return nil
}

// window returns the rows for n lines of a screen and which of them is selected. It
// scrolls no more than it must.
func (l *list) window(n int) (rows []*row, selected int) {
	l.top = max(0, min(l.top, len(l.shown)-n))
	l.top = min(l.top, l.at)
	l.top = max(l.top, l.at-n+1, 0)
	for i := l.top; i < min(l.top+n, len(l.shown)); i++ {
		rows = append(rows, &l.all[l.shown[i]])
	}
	return rows, l.at - l.top
}

// widths shares a line of n cells among the columns. A width below 0 is a column that is
// not shown. The columns are one cell apart.
func widths(columns []column, n int) []int {
	got := make([]int, len(columns))
	left, weights := n, 0
	for i, c := range columns {
		if got[i] = c.least; n < c.from {
			got[i] = -1
			continue
		}
		left -= c.least + 1
		weights += c.weight
	}
	left++ // behind the last one there is no gap
	share := max(0, left)
	for i, c := range columns {
		if got[i] >= 0 && weights > 0 {
			got[i] += share * c.weight / weights
		}
	}
	return got
}

// laid lays cells out in columns of these widths, on a line of n cells.
func laid(cells []string, widths []int, n int) string {
	var b strings.Builder
	for i, w := range widths {
		if w < 0 || i >= len(cells) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(overview.Fit(cells[i], w))
	}
	return overview.Fit(b.String(), n)
}
