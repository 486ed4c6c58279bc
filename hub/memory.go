package hub

import (
	"context"
	"slices"
)

// MemoryScope says whose memory it is.
type MemoryScope string

// A memory is kept for a room or for all rooms of its project.
const (
	ScopeRoom    MemoryScope = "room"
	ScopeProject MemoryScope = "project"
)

// Memory is something a team keeps in mind.
type Memory struct {
	MemoryID   MemoryID    `json:"memory_id"`
	RoomID     *RoomID     `json:"room_id"` // nil in a project's memory
	ProjectID  ProjectID   `json:"project_id"`
	Scope      MemoryScope `json:"scope"`
	Key        string      `json:"key"` // may be empty
	Text       string      `json:"text"`
	Truncated  *Truncated  `json:"truncated"` // set where a budget cut the text
	Tags       []string    `json:"tags"`
	By         AgentID     `json:"by"` // may be empty
	CreatedAt  Time        `json:"created_at"`
	ReplacedAt *Time       `json:"replaced_at"` // by a later memory of the same key
}

// MemoryInput is something to remember. A memory with the same key in the same
// scope is replaced and kept as history.
type MemoryInput struct {
	RoomID RoomID      `json:"room_id"`
	Text   string      `json:"text,omitempty"` // empty with a key: forget it
	Key    string      `json:"key,omitempty"`
	Tags   []string    `json:"tags,omitempty"`
	Scope  MemoryScope `json:"scope,omitempty"` // absent: room
	By     AgentID     `json:"by,omitempty"`
}

// MemoryQuery selects what a room remembers, its project's memory included.
// With Query the best first, else the latest.
type MemoryQuery struct {
	RoomID   RoomID
	MemoryID MemoryID    // this one alone
	Scope    MemoryScope // empty: both
	Key      string
	Tag      string
	Query    string
	History  bool // what was replaced too
	Cursor   Cursor
	Limit    int
	MaxChars int // budget of text characters; 0: none
}

// Selects reports whether the query wants a memory of its room or project, as far
// as its words are not concerned.
func (q *MemoryQuery) Selects(m *Memory) bool {
	return (q.History || m.ReplacedAt == nil) && (q.Key == "" || m.Key == q.Key) &&
		(q.Tag == "" || slices.Contains(m.Tags, q.Tag))
}

// Memories keeps what teams have in mind.
type Memories interface {
	// Remember stores a memory; one with a key and no text forgets the key.
	// room_not_found, memory_not_found (nothing to forget), room_full.
	Remember(ctx context.Context, in MemoryInput) (Outcome[Memory], error)
	// Recall returns memories; one that there is not is left out. With Query it
	// answers the best and no cursor. room_not_found, search_unavailable (with
	// Query).
	Recall(ctx context.Context, q MemoryQuery) ([]Memory, Cursor, error)
}
