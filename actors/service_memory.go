package actors

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/index"
	"hubcli/actors/view"
	"hubcli/hub"
)

// loadMemory makes the state of an owner of memories from its rows.
func (h *Hub) loadMemory(of string) (*core.Memory, error) {
	m := core.NewMemory(of)
	var bad error
	err := h.rows.RowsOf(core.TableMemoryKey, core.MemoryKey(of, ""), false, func(key, value []byte) bool {
		bad = m.Restore(key, value)
		return bad == nil
	})
	return m, errors.Join(err, bad)
}

// Remember stores a memory; see hub.Memories.
func (h *Hub) Remember(ctx context.Context, in hub.MemoryInput) (hub.Outcome[hub.Memory], error) {
	room, err := h.view.Room(in.RoomID)
	if err != nil {
		return hub.Outcome[hub.Memory]{}, err
	}
	in.Scope = cmp.Or(in.Scope, hub.ScopeRoom)
	c := core.MemoryCommand{RoomID: room.RoomID, ProjectID: room.ProjectID, In: in}
	of := string(room.RoomID)
	if in.Scope == hub.ScopeProject {
		c.RoomID, of = "", string(room.ProjectID)
	}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Memory, core.MemoryAnswer, hub.Memory]{
		Owner: core.MemoryOwner(of), Agent: in.By, Size: len(in.Text) + len(in.Key),
		Decide: func(m *core.Memory, _ core.Now) (core.Decision[core.MemoryAnswer], error) { return m.Remember(c) },
		Answer: func(a core.MemoryAnswer, _ *core.Record) hub.Memory { return a.Row.Memory },
		Codec:  h.memoryCodec(),
	})
	return hub.Outcome[hub.Memory]{Row: row, Created: true, Replayed: replayed}, err
}

// memoryCodec stores only the memory's number: its row is stored anyway and never
// changes.
func (h *Hub) memoryCodec() engine.Codec[hub.Memory] {
	return engine.Codec[hub.Memory]{
		Kind: engine.EffectMemory,
		Encode: func(m hub.Memory) []byte {
			seq, _ := core.SeqOf(core.PrefixMemory, string(m.MemoryID))
			return core.SeqKey(seq)
		},
		Decode: func(_ context.Context, e *core.Effect) (hub.Memory, error) {
			row, err := view.StoredRow[core.StoredMemory](h.rows, core.TableMemory, e.Answer)
			return row.Memory, err
		},
	}
}

// Recall returns memories; see hub.Memories.
func (h *Hub) Recall(ctx context.Context, q hub.MemoryQuery) ([]hub.Memory, hub.Cursor, error) {
	room, err := h.view.Room(q.RoomID)
	if err != nil {
		return nil, "", err
	}
	w, err := h.walkPlace(listMemories, q.Cursor, h.view.ShownSeq.Load())
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
	var rows []hub.Memory
	next := hub.Cursor("")
	switch {
	case q.MemoryID != "":
		rows, err = h.recallOne(of, q)
	case q.Query != "":
		rows, err = h.recallBest(ctx, of, q)
	default:
		rows, err = h.recallLatest(ctx, of, &q, w)
		rows, next = paged(h, listMemories, rows, q.Limit, func(m *hub.Memory) []byte {
			return walkKey(w.AsOf, uint64(view.SeqOf(core.PrefixMemory, m.MemoryID)))
		})
	}
	fitMemories(rows, q)
	return rows, next, err
}

// recallOne returns the memory with an id, if it is one of these.
func (h *Hub) recallOne(of []string, q hub.MemoryQuery) ([]hub.Memory, error) {
	seq, ok := core.SeqOf(core.PrefixMemory, string(q.MemoryID))
	if !ok || seq > hub.Seq(h.view.ShownSeq.Load()) {
		return nil, nil
	}
	row, err := h.view.Memory(seq)
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
func (h *Hub) recallBest(ctx context.Context, of []string, q hub.MemoryQuery) (rows []hub.Memory, err error) {
	limit := q.Limit
	if q.Key != "" || q.Tag != "" {
		limit = hub.MaxPageRows
	}
	hits, _, err := h.find(ctx, core.IndexQuery{
		Text: q.Query, Places: of, Types: []hub.FoundType{hub.FoundMemory}, History: q.History, Limit: limit,
	})
	for _, hit := range hits {
		row, err := h.view.Memory(hub.Seq(hit.Number))
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(of, row.Of()) && q.Selects(&row.Memory) && len(rows) < q.Limit {
			rows = append(rows, row.Memory)
		}
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

// foundMemory makes the row of a hit; nil if it has been replaced or is another's.
func (h *Hub) foundMemory(q *core.IndexQuery, seq hub.Seq) (*hub.Found, string, error) {
	row, err := h.view.Memory(seq)
	if err != nil {
		return nil, "", err
	}
	if row.ReplacedAt != nil && !q.History || len(q.Places) > 0 && !slices.Contains(q.Places, row.Of()) {
		return nil, "", nil
	}
	return &hub.Found{ID: string(row.MemoryID), RoomID: row.RoomID, FromAgent: row.By, Title: row.Key, TS: row.CreatedAt}, index.MemoryText(&row.Memory), nil
}
