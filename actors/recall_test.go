package actors

import (
	"fmt"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// lateRows lets something happen after rows of a table were read, and before the reader
// has seen them.
type lateRows struct {
	core.Rows
	table core.Table
	then  func()
}

func (l *lateRows) happen(t core.Table) {
	if then := l.then; then != nil && t == l.table {
		l.then = nil
		then()
	}
}

func (l *lateRows) Row(t core.Table, key []byte) ([]byte, error) {
	value, err := l.Rows.Row(t, key)
	l.happen(t)
	return value, err
}

func (l *lateRows) RowsBehind(t core.Table, prefix, behind []byte, backward bool, fn func(key, value []byte) bool) error {
	var keys, values [][]byte
	err := l.Rows.RowsBehind(t, prefix, behind, backward, func(key, value []byte) bool {
		keys, values = append(keys, key), append(values, value)
		return true
	})
	l.happen(t)
	for i := range keys {
		if !fn(keys[i], values[i]) {
			break
		}
	}
	return err
}

// TestRecallDuringAReplacement: a key that has a memory is never without one, whatever
// replaces it while it is read.
func TestRecallDuringAReplacement(t *testing.T) {
	for _, c := range []struct {
		name  string
		table core.Table
		q     hub.MemoryQuery
		early bool // the replacement is stored, and the views do not show it yet
	}{
		{"by key, replaced after its number was read", core.TableMemoryKey, hub.MemoryQuery{Key: "k"}, false},
		{"by key, replaced before", core.TableMemoryKey, hub.MemoryQuery{Key: "k"}, true},
		{"a list, replaced after its rows were read", core.TableMemoryBy, hub.MemoryQuery{}, false},
		{"a list, replaced before", core.TableMemoryBy, hub.MemoryQuery{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := newMemStore()
			late := &lateRows{Rows: store, table: c.table}
			r := start(t, store, func(o *Options) { o.Rows = late })
			room := r.newRoom("R").RoomID
			n := 0
			replace := func() {
				n++
				_, err := r.Remember(t.Context(), hub.MemoryInput{RoomID: room, Key: "k", Text: fmt.Sprint(n)})
				require.NoError(t, err)
			}
			replace()
			replace()
			c.q.RoomID = room
			if late.then = replace; c.early {
				// The read takes the head of the views, then the next is stored.
				shown := r.view.ShownSeq.Load()
				replace()
				r.view.ShownSeq.Store(shown)
				late.then = nil
			}
			got, _, err := r.Recall(t.Context(), c.q)
			require.NoError(t, err)
			if len(got) != 1 || got[0].Text != "2" && got[0].Text != "3" {
				t.Errorf("of memory 2 and its successor 3 there is %+v", got)
			}
		})
	}
}
