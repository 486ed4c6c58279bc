package actors

import (
	"cmp"
	"context"
	"errors"
	"slices"

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
