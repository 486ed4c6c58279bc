package crash

import (
	"errors"
	"testing"
)

// Each case is a lie that a hub could tell; the ledger must see it. Without its
// last step every case is a proper story.
func TestLedgerSeesBrokenPromises(t *testing.T) {
	posted := func(body string, id int64) func(*ledger) error {
		return func(l *ledger) error { return l.posted(&write{body: body, id: id}, body) }
	}
	feed := func(rows ...row) func(*ledger) error {
		return func(l *ledger) error { l.feed = rows; return l.compare() }
	}
	poll := func(next int64, rows ...row) func(*ledger) error {
		return func(l *ledger) error { return l.deliver(&page{Result: rows, Next: next}) }
	}
	granted := func(name string, n int, fence int64) func(*ledger) error {
		return func(l *ledger) error { return l.granted(&agent{name: name, fence: fence}, &write{n: n}) }
	}
	a, b := row{ID: 1, Body: "a/1"}, row{ID: 2, Body: "b/1"}
	for name, steps := range map[string][]func(*ledger) error{
		"an answered message is lost": {posted("a/1", 1), posted("b/1", 2), feed(a, b), feed(a)},
		"a delivered message is lost": {poll(1, a), feed(a), feed()},
		"a message that was read is lost": {
			feed(a, b), feed(b),
		},
		"an id is given again":              {posted("a/1", 1), feed(a), posted("b/1", 1)},
		"an id changes its body":            {posted("a/1", 1), feed(row{ID: 1, Body: "b/1"})},
		"a repeated post gets another id":   {posted("a/1", 1), posted("a/1", 1), posted("a/1", 2)},
		"a repeated post is there twice":    {posted("a/1", 1), feed(a), feed(a, row{ID: 2, Body: "a/1"})},
		"an answer shows another body":      {posted("a/1", 1), func(l *ledger) error { return l.posted(&write{body: "a/2", id: 2}, "a/1") }},
		"a poll repeats a row":              {poll(1, a), poll(2, b), poll(2, b)},
		"a poll goes past a row":            {posted("a/1", 1), poll(2, b), feed(a, b)},
		"a poll goes past it in its cursor": {posted("a/1", 1), poll(1), feed(a)},
		"a fence is granted twice":          {granted("a", 1, 7), granted("a", 1, 7), granted("b", 1, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			for i, step := range steps {
				err := step(l)
				if last := i == len(steps)-1; last != errors.Is(err, errBroken) {
					t.Fatalf("step %d of %d: %v", i+1, len(steps), err)
				}
			}
		})
	}
}
