package actors

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// recallLatest reads memories from the store, the latest first: one more than the
// limit, if there are so many. Those that have been replaced since the walk began
// are shown as they were, so that their keys are not passed over; what was forgotten
// meanwhile is not shown.
func (h *Hub) recallLatest(ctx context.Context, of []string, q *hub.MemoryQuery, w view.Walk) (rows []hub.Memory, err error) {
	for _, whose := range of {
		var found []hub.Memory
		if q.Key != "" && !q.History && q.Cursor == "" {
			found, err = h.recallKey(whose, q, w)
		} else {
			found, err = h.recallOf(ctx, whose, q, w)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	slices.SortFunc(rows, func(a, b hub.Memory) int {
		return cmp.Compare(view.SeqOf(core.PrefixMemory, b.MemoryID), view.SeqOf(core.PrefixMemory, a.MemoryID))
	})
	return rows[:min(len(rows), q.Limit+1)], nil
}

// recallKey returns the memory that a key has.
func (h *Hub) recallKey(whose string, q *hub.MemoryQuery, w view.Walk) ([]hub.Memory, error) {
	value, err := h.rows.Row(core.TableMemoryKey, core.MemoryKey(whose, q.Key))
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	seq, ok := core.MemorySeq(value)
	if err != nil || !ok || uint64(seq) > w.AsOf {
		return nil, err
	}
	row, err := h.view.Memory(seq)
	if err != nil || !q.Selects(&row.Memory) {
		return nil, err
	}
	return []hub.Memory{row.Memory}, nil
}

// recallOf returns the memories of one room or project.
func (h *Hub) recallOf(ctx context.Context, whose string, q *hub.MemoryQuery, w view.Walk) (rows []hub.Memory, err error) {
	replaced := map[hub.Seq]bool{}
	if q.Cursor != "" && !q.History {
		if replaced, err = h.replacedSince(whose, w.AsOf); err != nil {
			return nil, err
		}
	}
	var bad error
	behind := core.OwnedKey(whose, numberKey(min(w.Before, w.AsOf+1)))
	err = h.rows.RowsBehind(core.TableMemoryBy, core.OwnedKey(whose, nil), behind, true, func(key, end []byte) bool {
		seq := hub.Seq(core.KeyEnd(key))
		if len(end) > 0 && !q.History && !replaced[seq] {
			return ctx.Err() == nil
		}
		var row core.StoredMemory
		if row, bad = h.view.Memory(seq); bad != nil {
			return false
		}
		asked := row.Memory
		if replaced[seq] {
			asked.ReplacedAt = nil // as it was when the walk began
		}
		if q.Selects(&asked) {
			rows = append(rows, row.Memory)
		}
		return len(rows) <= q.Limit && ctx.Err() == nil
	})
	return rows, errors.Join(err, bad)
}

// replacedSince returns which memories were replaced by others since a record.
func (h *Hub) replacedSince(whose string, asOf uint64) (map[hub.Seq]bool, error) {
	replaced, forgotten := map[hub.Seq]bool{}, map[string]bool{}
	var bad error
	err := h.rows.RowsOf(core.TableMemoryBy, core.OwnedKey(whose, nil), true, func(key, _ []byte) bool {
		seq := hub.Seq(core.KeyEnd(key))
		if uint64(seq) <= asOf {
			return false
		}
		var row core.StoredMemory
		if row, bad = h.view.Memory(seq); bad != nil {
			return false
		}
		if row.Text == "" { // whatever the key had before is to be seen no more
			forgotten[row.Key] = true
		}
		if row.Replaces != 0 && uint64(row.Replaces) <= asOf && !forgotten[row.Key] {
			replaced[row.Replaces] = true
		}
		return true
	})
	return replaced, errors.Join(err, bad)
}
