package core

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"hubcli/hub"
)

// Memory decides about the memories of one room or one project. Its state is
// the current memory of each key and the number of memories; the memories
// themselves are stored rows. Replaced memories stay as history.
type Memory struct {
	of   string // room id or project id
	keys map[string]hub.Seq
	kept int
	size int // bytes of all keys
}

// StoredMemory is a memory as stored under the sequence number of the record
// that created it. The row is never changed; TableMemoryBy says whether it has
// been replaced.
type StoredMemory struct {
	hub.Memory
	Replaces hub.Seq `json:"replaces,omitempty"` // the previous memory of the key
}

// MemoryEnd is the value of the TableMemoryBy row of a memory that was replaced
// or forgotten.
type MemoryEnd struct {
	At  hub.Time `json:"at"`
	Seq hub.Seq  `json:"seq,omitempty"` // the record; 0 in rows of earlier versions
}

// memoryTally is the value under MemoryKey(of, ""). Its totals save an owner
// from reading all its memories.
type memoryTally struct {
	Kept int `json:"kept"`
}

const factMemoryRemembered FactType = 700

// MemoryRemembered records a memory and the one that it replaces. A memory
// without a text forgets the key and is history at once.
type MemoryRemembered struct {
	RoomID    hub.RoomID      `json:"room_id,omitempty"` // empty in a project's memory
	ProjectID hub.ProjectID   `json:"project_id"`
	Scope     hub.MemoryScope `json:"scope"`
	Key       string          `json:"key,omitempty"`
	Text      string          `json:"text,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	By        hub.AgentID     `json:"by,omitempty"`
	Replaces  hub.Seq         `json:"replaces,omitempty"`
	User      string          `json:"local_user,omitempty"` // the other user of the machine whose program says it
}

// Sign implements Signed.
func (f *MemoryRemembered) Sign(user string) { f.User = user }

// FactType gives the fact's number in the journal.
func (*MemoryRemembered) FactType() FactType { return factMemoryRemembered }

func memoryFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factMemoryRemembered: func() Fact { return &MemoryRemembered{} }}
}

// MemoryKey is the key of a row in TableMemoryKey. With an empty key it is the
// key of the tally, which is also the prefix of all rows.
func MemoryKey(of, key string) []byte { return OwnedKey(of, []byte(key)) }

// MemoryByKey is the key of a memory in TableMemoryBy. With seq 0 it is the
// prefix of all memories of a room or project.
func MemoryByKey(of string, seq hub.Seq) []byte {
	if seq == 0 {
		return OwnedKey(of, nil)
	}
	return OwnedKey(of, SeqKey(seq))
}

// NewMemory returns the state without any memory. Restore adds the stored rows.
func NewMemory(of string) *Memory { return &Memory{of: of, keys: map[string]hub.Seq{}} }

// Restore adds one row of TableMemoryKey to the state.
func (m *Memory) Restore(key, value []byte) error {
	name := string(key[len(m.of)+1:])
	if name == "" {
		var tally memoryTally
		if err := json.Unmarshal(value, &tally); err != nil {
			return hub.Errorf(hub.CodeCorruptRecord, "the memory of %s cannot be read", m.of)
		}
		m.kept = tally.Kept
		return nil
	}
	if seq, ok := MemorySeq(value); ok {
		m.put(name, seq)
	}
	return nil
}

// MemorySeq reads a value of TableMemoryKey. It returns false if the key is
// forgotten.
func MemorySeq(value []byte) (hub.Seq, bool) {
	if len(value) != 8 {
		return 0, false
	}
	return hub.Seq(binary.BigEndian.Uint64(value)), true
}

// MemoryCommand asks to keep a memory. RoomID is empty in a project's memory.
type MemoryCommand struct {
	RoomID    hub.RoomID
	ProjectID hub.ProjectID
	In        hub.MemoryInput
}

// MemoryAnswer is a memory as it was stored.
type MemoryAnswer struct{ Row StoredMemory }

// Remember decides to keep a memory, which replaces the memory of the same key.
// An empty text forgets the key. Errors: memory_not_found, room_full.
func (m *Memory) Remember(c MemoryCommand) (Decision[MemoryAnswer], error) {
	fact := &MemoryRemembered{
		RoomID: c.RoomID, ProjectID: c.ProjectID, Scope: c.In.Scope, Key: c.In.Key,
		Text: c.In.Text, Tags: c.In.Tags, By: c.In.By,
	}
	if c.In.Key != "" {
		fact.Replaces = m.keys[c.In.Key]
	}
	switch {
	case fact.forgets() && fact.Replaces == 0:
		return Decision[MemoryAnswer]{}, hub.Errorf(hub.CodeMemoryNotFound, "there is no memory with the key %q to forget", c.In.Key).
			With("key", c.In.Key).WithFix("it is already forgotten; send a text to remember something under this key")
	case !fact.forgets() && fact.Replaces == 0 && m.kept >= hub.MaxKeptMemories:
		return Decision[MemoryAnswer]{}, hub.Errorf(hub.CodeRoomFull, "%s keeps %d memories and takes no more", m.of, m.kept).
			With("limit", hub.MaxKeptMemories).WithFix("replace one by using its key, or forget some: remember their key with an empty text")
	}
	return Decision[MemoryAnswer]{
		Draft:  Draft{Facts: []Fact{fact}},
		Answer: func(at Position) MemoryAnswer { return MemoryAnswer{Row: fact.row(at)} },
	}, nil
}

// put makes a memory the current one of its key.
func (m *Memory) put(key string, seq hub.Seq) {
	m.drop(key)
	m.keys[key] = seq
	m.size += len(key)
}

func (m *Memory) drop(key string) {
	if _, known := m.keys[key]; known {
		delete(m.keys, key)
		m.size -= len(key)
	}
}

// Weight implements Weighed.
func (m *Memory) Weight() int { return m.size + 64*len(m.keys) }

func (f *MemoryRemembered) forgets() bool { return f.Text == "" }

// Apply changes the state by one fact.
func (m *Memory) Apply(f Fact, at Position, rows RowSink) {
	r, ok := f.(*MemoryRemembered)
	if !ok {
		panic(fmt.Sprintf("core: a memory was given the fact %T", f))
	}
	end := mustJSON(MemoryEnd{At: at.Now.Wall, Seq: at.Seq})
	by := []byte{}
	if r.Replaces != 0 {
		m.kept--
		m.drop(r.Key)
		rows.Put(TableMemoryBy, MemoryByKey(m.of, r.Replaces), end)
	}
	if r.forgets() {
		by = end
		rows.Put(TableMemoryKey, MemoryKey(m.of, r.Key), []byte{})
	} else {
		m.kept++
		if r.Key != "" {
			m.put(r.Key, at.Seq)
			rows.Put(TableMemoryKey, MemoryKey(m.of, r.Key), SeqKey(at.Seq))
		}
	}
	rows.Put(TableMemory, SeqKey(at.Seq), mustJSON(r.row(at)))
	rows.Put(TableMemoryBy, MemoryByKey(m.of, at.Seq), by)
	rows.Put(TableMemoryKey, MemoryKey(m.of, ""), mustJSON(memoryTally{Kept: m.kept}))
}

// row returns the memory that the record at this position creates.
func (f *MemoryRemembered) row(at Position) StoredMemory {
	row := StoredMemory{Replaces: f.Replaces, Memory: hub.Memory{
		MemoryID: hub.MemoryID(IDAt(PrefixMemory, at.Seq)), ProjectID: f.ProjectID, Scope: f.Scope,
		Key: f.Key, Text: f.Text, Tags: f.Tags, By: f.By, User: f.User, CreatedAt: at.Now.Wall,
	}}
	if f.RoomID != "" {
		room := f.RoomID
		row.RoomID = &room
	}
	if row.Tags == nil {
		row.Tags = []string{}
	}
	if f.forgets() {
		ended := at.Now.Wall
		row.ReplacedAt = &ended
	}
	return row
}

// Of is the id of the room or project that the memory belongs to.
func (s *StoredMemory) Of() string {
	if s.RoomID != nil {
		return string(*s.RoomID)
	}
	return string(s.ProjectID)
}
