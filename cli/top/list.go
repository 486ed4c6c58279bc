package top

import (
	"slices"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/overview"
)

// row is one line of a view. Its cells are safe for a terminal.
type row struct {
	key    string // names the row in this snapshot and the next
	cells  []string
	tone   overview.Tone
	to     *Target         // where say goes; nil: nowhere
	ask    *hub.Ask        // the ask that an answer is for; nil: the row is no ask
	gone   bool            // it is shown in its place though the hub has it no more
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

	cameAt  time.Time // when the selected row came under the cursor in place of another, without a key
	newAt   time.Time // when the selected row came to be seen: as cameAt, or the first row of a list, or with the view
	seenKey string    // of the selected row when the list was last on the screen
}

// seen notes that the list is on the screen now.
func (l *list) seen(now time.Time) {
	if key := keyOf(l.selected()); key != l.seenKey {
		l.seenKey, l.newAt = key, now
	}
}

// count is how many rows the hub has.
func (l *list) count() int {
	n := 0
	for i := range l.all {
		if !l.all[i].gone {
			n++
		}
	}
	return n
}

// mostGone bounds the rows that are shown though they have gone.
const mostGone = 200

// set takes new rows. The selected row stays selected, also if it has gone: then it is shown as
// such, so that no key finds another row in its place. While steady all rows stay in their order,
// those that have gone too, and new ones come behind them. With follows, rows are in the order of
// their coming anyway, and a selection of the last row moves to the new last row.
func (l *list) set(rows []row, follows, steady bool, now time.Time) {
	atEnd := follows && l.at >= len(l.shown)-1
	before := l.selected()
	key := keyOf(before)
	switch {
	case steady && !follows:
		rows = inOrderOf(l.all, rows, key)
	case before != nil && !atEnd && !slices.ContainsFunc(rows, func(r row) bool { return r.key == key }):
		stays := *before
		stays.gone = true
		rows = slices.Insert(rows, min(l.shown[l.at], len(rows)), stays)
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
	if r := l.selected(); r != nil && r.key != key {
		if l.newAt = now; before != nil {
			l.cameAt = now
		}
	}
}

// inOrderOf returns the new rows in the order of the old ones, with those that have gone in their
// places. Rows that are new come last. The selected row stays in any case.
func inOrderOf(old, rows []row, selected string) []row {
	at := make(map[string]int, len(rows))
	for i := range rows {
		at[rows[i].key] = i
	}
	kept := make([]row, 0, len(rows))
	used, gone := make([]bool, len(rows)), 0
	for _, r := range old {
		if i, there := at[r.key]; there {
			r, used[i] = rows[i], true
		} else if r.gone, gone = true, gone+1; gone > mostGone && r.key != selected {
			continue
		}
		kept = append(kept, r)
	}
	for i := range rows {
		if !used[i] {
			kept = append(kept, rows[i])
		}
	}
	return kept
}

// search shows only rows that have the text in a cell. The selected row stays selected if it has.
func (l *list) search(text string) {
	key := keyOf(l.selected())
	l.filter = text
	l.pass()
	for i, index := range l.shown {
		if l.all[index].key == key {
			l.at = i
		}
	}
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
