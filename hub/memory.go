package hub

import (
	"context"
	"slices"
)

// MemoryScope says whether a memory belongs to a room or a project.
type MemoryScope string

// A memory is kept for a room or for all rooms of its project.
const (
	ScopeRoom    MemoryScope = "room"
	ScopeProject MemoryScope = "project"
)

// Memory is something a team keeps in mind.
type Memory struct {
	MemoryID   MemoryID    `json:"memory_id" bounds:"like ^m_[0-9a-z]+$"`
	RoomID     *RoomID     `json:"room_id"` // Null in a project's memory.
	ProjectID  ProjectID   `json:"project_id" bounds:"like ^p_[0-9a-z]+$"`
	Scope      MemoryScope `json:"scope"`
	Key        string      `json:"key" bounds:"..200 runes"` // May be empty.
	Text       string      `json:"text" bounds:"..32000 runes"`
	Truncated  *Truncated  `json:"truncated"` // Set where max_chars cut the text.
	Tags       []string    `json:"tags" bounds:"..32 items; each as Name"`
	By         AgentID     `json:"by" bounds:"or empty"`                       // Empty if the call named nobody.
	User       string      `json:"local_user,omitempty" bounds:"1..256 runes"` // The other user of the machine whose program wrote it; absent: none.
	CreatedAt  Time        `json:"created_at"`
	ReplacedAt *Time       `json:"replaced_at"` // When a later one of the same key replaced it or it was forgotten.
}

// MemoryInput describes a new memory. A memory with the same key in the same
// scope is replaced and kept as history.
type MemoryInput struct {
	RoomID RoomID      `json:"room_id" bounds:"name 1..MaxNameChars"`
	Text   string      `json:"text,omitempty" bounds:"..MaxMemoryChars runes"` // May be left out only where a key says what to forget.
	Key    string      `json:"key,omitempty" bounds:"name ..MaxNameChars"`
	Tags   []string    `json:"tags,omitempty" bounds:"..MaxMemoryTags items; each name 1..MaxNameChars"`
	Scope  MemoryScope `json:"scope,omitempty" bounds:"default room"` // Absent: room.
	By     AgentID     `json:"by,omitempty"`
}

// MemoryQuery selects what a room remembers, its project's memory included.
// With Query the best matches come first, else the latest memories.
type MemoryQuery struct {
	RoomID   RoomID
	MemoryID MemoryID    // this one alone
	Scope    MemoryScope // empty: both
	Key      string
	Tag      string
	Query    string
	History  bool // also replaced memories
	Cursor   Cursor
	Limit    int
	MaxChars int // budget of text characters; 0: none
}

// Selects reports whether the query selects a memory of its room or project. It
// does not look at the words of Query.
func (q *MemoryQuery) Selects(m *Memory) bool {
	return (q.History || m.ReplacedAt == nil) && (q.Key == "" || m.Key == q.Key) &&
		(q.Tag == "" || slices.Contains(m.Tags, q.Tag))
}

// Memories stores the memories of rooms and projects.
type Memories interface {
	// Remember stores a memory. An input with a key and no text forgets the
	// key. Errors: room_not_found, memory_not_found (nothing to forget),
	// room_full.
	Remember(ctx context.Context, in MemoryInput) (Outcome[Memory], error)
	// Recall returns memories and leaves out unknown ids. With Query it returns
	// the best matches and no cursor. Errors: room_not_found,
	// search_unavailable (with Query).
	Recall(ctx context.Context, q MemoryQuery) ([]Memory, Cursor, error)
}
