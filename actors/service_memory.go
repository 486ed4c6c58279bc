package actors

import (
	"cmp"
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Remember stores a memory; see hub.Memories.
func (h *Hub) Remember(ctx context.Context, in hub.MemoryInput) (hub.Outcome[hub.Memory], error) {
	// Without a text it forgets.
	act := gate.Act{Op: "remember", Agent: in.By, Room: in.RoomID, NothingNew: in.Text == ""}
	row, replayed, err := gate.Do(ctx, h.gate, &act, h.memoryCodec(), func() (engine.Command[*core.Memory, core.MemoryAnswer, hub.Memory], error) {
		room, err := h.view.Room(in.RoomID)
		in.Scope = cmp.Or(in.Scope, hub.ScopeRoom)
		c := core.MemoryCommand{RoomID: room.RoomID, ProjectID: room.ProjectID, In: in}
		of := string(room.RoomID)
		if in.Scope == hub.ScopeProject {
			c.RoomID, of = "", string(room.ProjectID)
		}
		return engine.Command[*core.Memory, core.MemoryAnswer, hub.Memory]{
			Owner: core.MemoryOwner(of), Size: len(in.Text) + len(in.Key),
			Decide: func(m *core.Memory, _ core.Now) (core.Decision[core.MemoryAnswer], error) { return m.Remember(c) },
			Answer: func(a core.MemoryAnswer, _ *core.Record) hub.Memory { return a.Row.Memory },
		}, err
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
