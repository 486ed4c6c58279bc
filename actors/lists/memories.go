package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Recall returns memories; see hub.Memories.
func (s *Lists) Recall(ctx context.Context, q hub.MemoryQuery) ([]hub.Memory, hub.Cursor, error) {
	room, err := s.view.Room(q.RoomID)
	if err != nil {
		return nil, "", err
	}
	w, err := s.cursors.walkPlace(listMemories, q.Cursor, s.view.ShownSeq.Load())
	if err != nil {
		return nil, "", err
	}
	if q.Cursor != "" && q.Query != "" {
		return nil, "", hub.Invalid("cursor", "a query answers the best memories, which is no list to go on with").
			WithFix("leave query out to page through what is remembered, or ask for more with limit")
	}
	q.Limit = pageRows(q.Limit)
	var of []string
	if q.Scope != hub.ScopeProject {
		of = append(of, string(room.RoomID))
	}
	if q.Scope != hub.ScopeRoom {
		of = append(of, string(room.ProjectID))
	}
	p := newPage[hub.Memory](q.Limit)
	var rows []hub.Memory
	switch {
	case q.MemoryID != "":
		rows, err = s.recallOne(of, q)
	case q.Query != "":
		rows, err = s.recallBest(ctx, of, q)
	default:
		rows, err = s.recallLatest(ctx, of, &q, w)
	}
	for i := range rows {
		if !p.add(rows[i], walkKey(w.AsOf, uint64(view.SeqOf(core.PrefixMemory, rows[i].MemoryID)))) {
			break
		}
	}
	fitMemories(p.rows, q)
	return p.end(s.cursors, listMemories, err)
}

// recallOne returns the memory with an id, if it is one of these.
func (s *Lists) recallOne(of []string, q hub.MemoryQuery) ([]hub.Memory, error) {
	seq, ok := core.SeqOf(core.PrefixMemory, string(q.MemoryID))
	if !ok || seq > hub.Seq(s.view.ShownSeq.Load()) {
		return nil, nil
	}
	row, err := s.view.Memory(seq)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil || !slices.Contains(of, row.Of()) || !q.Selects(&row.Memory) {
		return nil, err
	}
	return []hub.Memory{row.Memory}, nil
}

// recallBest asks the index. It looks at more than it shows, because key and tag
// are not in the index.
func (s *Lists) recallBest(ctx context.Context, of []string, q hub.MemoryQuery) (rows []hub.Memory, err error) {
	limit := q.Limit
	if q.Key != "" || q.Tag != "" {
		limit = hub.MaxPageRows
	}
	fits := fit{limit: q.Limit}
	hits, err := s.find(ctx, core.IndexQuery{
		Text: q.Query, Places: of, Types: []hub.FoundType{hub.FoundMemory}, History: q.History, Limit: limit,
	})
	for _, hit := range hits {
		row, err := s.view.Memory(hub.Seq(hit.Number))
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(of, row.Of()) || !q.Selects(&row.Memory) {
			continue
		}
		if !fits.takes(&row.Memory) {
			break // the better ones are the answer
		}
		rows = append(rows, row.Memory)
	}
	return rows, err
}

// fitMemories cuts texts to a budget of characters: the first rows are whole, the
// first that does not fit is cut, and those behind it are empty.
func fitMemories(rows []hub.Memory, q hub.MemoryQuery) {
	if q.MaxChars == 0 {
		return
	}
	left := q.MaxChars
	for i := range rows {
		m := &rows[i]
		chars := utf8.RuneCountInString(m.Text)
		if chars <= left {
			left -= chars
			continue
		}
		m.Truncated = &hub.Truncated{
			Chars: chars, Fetch: "GET /v1/memory?room_id=" + string(q.RoomID) + "&memory_id=" + string(m.MemoryID) + "&history=true",
		}
		cut := 0
		for at := range m.Text {
			if cut == left {
				m.Text = m.Text[:at]
				break
			}
			cut++
		}
		left = 0
	}
}

// recallLatest reads memories from the store, the latest first: one more than fits into a
// page, if there are so many. A memory that has been replaced since the walk began is
// shown as it was, so that its key is not passed over. A memory that was forgotten
// meanwhile is not shown.
func (s *Lists) recallLatest(ctx context.Context, of []string, q *hub.MemoryQuery, w view.Walk) (rows []hub.Memory, err error) {
	for _, whose := range of {
		var found []hub.Memory
		if q.Key != "" && !q.History && q.Cursor == "" {
			found, err = s.recallKey(whose, q)
		} else {
			found, err = s.recallOf(ctx, whose, q, w)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	slices.SortFunc(rows, func(a, b hub.Memory) int {
		return cmp.Compare(view.SeqOf(core.PrefixMemory, b.MemoryID), view.SeqOf(core.PrefixMemory, a.MemoryID))
	})
	return rows, nil
}

// recallKey returns the memory that a key has. It may be replaced as soon as its number
// is read. It is shown all the same: the key was never without a memory. It may also be
// newer than what the views show: no reader has to know where a walk would begin.
func (s *Lists) recallKey(whose string, q *hub.MemoryQuery) ([]hub.Memory, error) {
	value, err := s.rows.Row(core.TableMemoryKey, core.MemoryKey(whose, q.Key))
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	seq, ok := core.MemorySeq(value)
	if err != nil || !ok {
		return nil, err
	}
	row, err := s.view.Memory(seq)
	row.ReplacedAt = nil // as it was when its number was read
	if err != nil || !q.Selects(&row.Memory) {
		return nil, err
	}
	return []hub.Memory{row.Memory}, nil
}

// recallOf returns the memories of one room or project, and one more than fits into a page.
func (s *Lists) recallOf(ctx context.Context, whose string, q *hub.MemoryQuery, w view.Walk) (rows []hub.Memory, err error) {
	fits := fit{limit: q.Limit}
	var replaced map[hub.Seq]bool
	var bad error
	behind := core.OwnedKey(whose, numberKey(min(w.Before, w.AsOf+1)))
	err = s.rows.RowsBehind(core.TableMemoryBy, core.OwnedKey(whose, nil), behind, true, func(key, end []byte) bool {
		seq := hub.Seq(core.KeyEnd(key))
		// What has replaced a memory may be too new for the walk, on its first page too.
		// That is looked up after the rows are read, so that it knows of all their ends.
		if len(end) > 0 && !q.History && replaced == nil {
			if replaced, bad = s.replacedSince(whose, w.AsOf); bad != nil {
				return false
			}
		}
		if len(end) > 0 && !q.History && !replaced[seq] {
			return ctx.Err() == nil
		}
		var row core.StoredMemory
		if row, bad = s.view.Memory(seq); bad != nil {
			return false
		}
		asked := row.Memory
		if !q.History {
			asked.ReplacedAt = nil // as it was when the walk began
		}
		if !q.Selects(&asked) {
			return ctx.Err() == nil
		}
		rows = append(rows, row.Memory)
		return fits.takes(&row.Memory) && ctx.Err() == nil
	})
	return rows, errors.Join(err, bad)
}

// replacedSince returns which memories were replaced by others since a record.
func (s *Lists) replacedSince(whose string, asOf uint64) (map[hub.Seq]bool, error) {
	replaced, forgotten := map[hub.Seq]bool{}, map[string]bool{}
	var bad error
	err := s.rows.RowsOf(core.TableMemoryBy, core.OwnedKey(whose, nil), true, func(key, _ []byte) bool {
		seq := hub.Seq(core.KeyEnd(key))
		if uint64(seq) <= asOf {
			return false
		}
		var row core.StoredMemory
		if row, bad = s.view.Memory(seq); bad != nil {
			return false
		}
		if row.Text == "" { // forgotten: no earlier memory of the key is shown either
			forgotten[row.Key] = true
		}
		if row.Replaces != 0 && uint64(row.Replaces) <= asOf && !forgotten[row.Key] {
			replaced[row.Replaces] = true
		}
		return true
	})
	return replaced, errors.Join(err, bad)
}
