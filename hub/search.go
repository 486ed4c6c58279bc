package hub

import "context"

// FoundType says what a search has found.
type FoundType string

// What can be searched.
const (
	FoundMessage  FoundType = "message"
	FoundDecision FoundType = "decision"
	FoundArtifact FoundType = "artifact"
	FoundMemory   FoundType = "memory"
)

// Found is one hit of a search. ID is the id of the row that was found.
type Found struct {
	Type      FoundType   `json:"type"`
	ID        string      `json:"id" bounds:"1.. runes"` // As the row of its type names it.
	MessageID *MessageID  `json:"message_id"`            // Of a message.
	RoomID    *RoomID     `json:"room_id"`
	Channel   ChannelName `json:"channel" bounds:"..200 runes"` // Of a message, else empty.
	ThreadID  *ThreadID   `json:"thread_id" bounds:"as string"`
	FromAgent AgentID     `json:"from_agent" bounds:"or empty"` // Who wrote it; empty if nobody is named.
	ToAgent   *AgentID    `json:"to_agent"`
	Kind      string      `json:"kind"`                         // Of a message or artifact, else empty.
	Title     string      `json:"title"`                        // Of a decision or artifact, the key of a memory, else empty.
	Snippet   string      `json:"snippet" bounds:"..300 runes"` // Plain text around the best match.
	// Where words stand in snippet: first character and the one behind the last.
	Matches [][2]int `json:"matches" bounds:"each each 0.."`
	Score   float64  `json:"score" bounds:"0.."` // Higher is better; comparable within one answer only.
	TS      Time     `json:"ts"`
}

// SearchQuery asks for rows that hold the words of Text, as Viewer sees them;
// zero fields do not select.
type SearchQuery struct {
	Text      string
	Viewer    AgentID
	RoomID    RoomID
	Channel   ChannelName
	FromAgent AgentID
	Kind      string
	Types     []FoundType
	Since     Time
	Limit     int
}

// SearchPage is the answer of a search.
type SearchPage struct {
	Rows []Found `json:"rows"`
	// Behind is how many rows the index had not taken in yet; 0 means that
	// everything that was acknowledged before the call was searched.
	Behind int64 `json:"behind"`
}

// Searches finds rows by words.
type Searches interface {
	// Search returns the best matches first. Errors: invalid (a query without
	// words), room_not_found, channel_not_found, search_unavailable.
	Search(ctx context.Context, q SearchQuery) (SearchPage, error)
}
