package linear

import (
	"fmt"
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"
)

// entry is one row of a list: a message of a channel, or a memory of a key.
type entry struct {
	ID   int64  // of a message; counts the memories of a key
	Name string // of a memory: its id
	Text string // no two writes have the same
}

// listOp is a call about a list.
type listOp struct {
	Do    string // add, look
	Text  string // add
	After int64  // look at a channel: only rows with higher ids
	Limit int
}

// listOut is its answer: the row that was added, or those that were seen.
type listOut struct{ Rows []entry }

// listModel is a list that only grows, and whose final rows are known: the hub keeps
// all messages of a channel, and all memories that a key ever had. The state is how many
// of them are there. last says that a look sees the last row alone.
func listModel(final []entry, last bool) porcupine.Model {
	at := make(map[string]int, len(final))
	for i, e := range final {
		at[e.Text] = i
	}
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{0} },
		Step: func(state, input, output any) []any {
			n, o := state.(int), input.(*op)
			in := o.in.(listOp)
			if in.Do == "add" {
				i, there := at[in.Text]
				switch {
				case !o.known && there && i == n:
					return []any{n, n + 1}
				case !o.known:
					return []any{n}
				case !there || output.(listOut).Rows[0] != final[i] || i > n:
					return nil
				case i == n:
					return []any{n + 1}
				}
				return []any{n} // it was there: the call is one that was sent again
			}
			if o.known && !slices.Equal(output.(listOut).Rows, seen(final[:n], in, last)) {
				return nil
			}
			return []any{n}
		},
		DescribeOperation: describe,
	}).ToModel()
}

// seen is what a look sees of rows.
func seen(rows []entry, in listOp, last bool) []entry {
	if last {
		return rows[max(0, len(rows)-1):]
	}
	begin := sort.Search(len(rows), func(i int) bool { return rows[i].ID > in.After })
	return rows[begin:min(len(rows), begin+in.Limit)]
}

// list is a channel or the memories of a key that clients share.
type list struct {
	history
	room string // of memories; empty: a channel
	done []*call
}

func (l *list) next(c *client) *call {
	if c.random.IntN(3) == 0 {
		return l.look(c)
	}
	l.mu.Lock()
	again := len(l.done)
	l.mu.Unlock()
	if again > 0 && c.random.IntN(6) == 0 {
		return l.again(c)
	}
	text := c.text()
	next := &call{h: &l.history, in: listOp{Do: "add", Text: text}, key: text, path: "/v1/messages"}
	next.body = map[string]any{"from_agent": c.agent(), "channel": l.name, "body": text}
	if l.room != "" {
		next.path = "/v1/memory"
		next.body = map[string]any{"room_id": l.room, "key": l.name, "by": c.agent(), "text": text}
	}
	next.understand = func(a *answer) (any, error) {
		added, err := l.added(a)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.done = append(l.done, next)
		return listOut{[]entry{added}}, err
	}
	return next
}

// again sends a write that had its answer once more, under its key. It must have the
// same answer and no effect.
func (l *list) again(c *client) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.done[c.random.IntN(len(l.done))]
	next.noted = nil
	next.understand = func(a *answer) (any, error) {
		added, err := l.added(a)
		return listOut{[]entry{added}}, err
	}
	return &next
}

func (l *list) added(a *answer) (entry, error) {
	if l.room != "" {
		r, err := row[memoryRow](a)
		return entry{Name: r.ID, Text: r.Text}, err
	}
	r, err := row[messageRow](a)
	return entry{ID: r.ID, Text: r.Body}, err
}

func (l *list) look(c *client) *call {
	in := listOp{Do: "look", Limit: 1 + c.random.IntN(50)}
	next := &call{h: &l.history, path: l.path(false)}
	if l.room == "" {
		l.mu.Lock()
		if len(l.done) > 0 { // somewhere in what is there
			o := l.done[c.random.IntN(len(l.done))].noted
			if out, ok := o.out.(listOut); ok {
				in.After = out.Rows[0].ID
			}
		}
		l.mu.Unlock()
		next.path += fmt.Sprintf("&since_id=%d&limit=%d", in.After, in.Limit)
	}
	next.in = in
	next.understand = func(a *answer) (any, error) {
		rows, err := l.rows(a)
		return listOut{rows}, err
	}
	return next
}

// path is where the rows are read.
func (l *list) path(all bool) string {
	switch {
	case l.room == "":
		return "/v1/messages?channel=" + l.name
	case all:
		return "/v1/memory?history=true&limit=1000&scope=room&room_id=" + l.room + "&key=" + l.name
	}
	return "/v1/memory?scope=room&room_id=" + l.room + "&key=" + l.name
}

type messageRow struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
}

type memoryRow struct {
	ID   string `json:"memory_id"`
	Text string `json:"text"`
}

func (l *list) rows(a *answer) (rows []entry, err error) {
	if l.room != "" {
		memories, err := row[[]memoryRow](a)
		for _, m := range memories {
			rows = append(rows, entry{Name: m.ID, Text: m.Text})
		}
		return rows, err
	}
	messages, err := row[[]messageRow](a)
	for _, m := range messages {
		rows = append(rows, entry{ID: m.ID, Text: m.Body})
	}
	return rows, err
}

// final reads all rows, the oldest first. Nobody writes meanwhile.
func (l *list) final(e *epoch) ([]entry, error) {
	var all []entry
	since, cursor := int64(0), ""
	for {
		path := l.path(true)
		if l.room == "" {
			path += fmt.Sprintf("&limit=1000&since_id=%d", since)
		} else if cursor != "" {
			path += "&cursor=" + cursor
		}
		a, err := e.ask(&call{path: path})
		if err != nil {
			return nil, err
		}
		rows, err := l.rows(a)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if l.room != "" && a.Cursor == "" || l.room == "" && len(rows) == 0 {
			break
		}
		if l.room == "" {
			since = rows[len(rows)-1].ID
		}
		cursor = a.Cursor
	}
	if l.room != "" {
		slices.Reverse(all)
	}
	seen := make(map[string]bool, len(all))
	for _, e := range all {
		if seen[e.Text] {
			return nil, fmt.Errorf("%w: %q was written once and is there twice in %s", errBroken, e.Text, l.name)
		}
		seen[e.Text] = true
	}
	return all, nil
}
