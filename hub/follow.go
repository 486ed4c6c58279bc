package hub

import (
	"context"
	"time"
)

// Limits of what follows a whole hub.
const (
	MaxFollows     = 64                    // at once
	MaxFollowBack  = 5_000                 // messages that one that comes back is sent; beyond it reads anew
	MaxChangedIDs  = 100                   // named in one notice, of each kind
	FollowTogether = 50 * time.Millisecond // changes that come within it are one notice
)

// ChangedKind says what kind of thing has changed.
type ChangedKind string

// The kinds of things that a notice tells of. Messages are sent themselves; a notice names
// them only where some were left out.
const (
	ChangedAgents    ChangedKind = "agents"
	ChangedTasks     ChangedKind = "tasks"
	ChangedRuns      ChangedKind = "runs"
	ChangedLeases    ChangedKind = "leases"
	ChangedSeats     ChangedKind = "seats"
	ChangedAsks      ChangedKind = "asks"
	ChangedPauses    ChangedKind = "pauses"
	ChangedMutes     ChangedKind = "mutes"
	ChangedBudgets   ChangedKind = "budgets"
	ChangedRooms     ChangedKind = "rooms"
	ChangedDecisions ChangedKind = "decisions"
	ChangedArtifacts ChangedKind = "artifacts"
	ChangedMemory    ChangedKind = "memory"
	ChangedInvites   ChangedKind = "invites"
	ChangedSpawns    ChangedKind = "spawns"
	ChangedSettings  ChangedKind = "settings"
	ChangedPasses    ChangedKind = "passes"
	ChangedMessages  ChangedKind = "messages"
)

// ChangedKinds lists all kinds.
func ChangedKinds() []ChangedKind {
	return []ChangedKind{
		ChangedAgents, ChangedTasks, ChangedRuns, ChangedLeases, ChangedSeats, ChangedAsks, ChangedPauses, ChangedMutes, ChangedBudgets,
		ChangedRooms, ChangedDecisions, ChangedArtifacts, ChangedMemory, ChangedInvites, ChangedSpawns, ChangedSettings, ChangedPasses, ChangedMessages,
	}
}

// Changed is one notice: what has changed since the last one, so that a reader reads that
// anew. The ids narrow it: a kind without ids may have changed anywhere, and with Cut there
// are more than are named.
//
// API: Data of an event of /v1/app/stream.
type Changed struct {
	At     Time          `json:"at"`
	Seq    Seq           `json:"seq" bounds:"0.."` // Every record up to it is in the answers that a reader gets now.
	Kinds  []ChangedKind `json:"kinds"`
	Rooms  []RoomID      `json:"rooms" bounds:"..1000 items; each as Name"`
	Tasks  []TaskID      `json:"tasks" bounds:"..1000 items"`
	Agents []AgentID     `json:"agents" bounds:"..1000 items"`
	Cut    bool          `json:"cut"` // More has changed than rooms, tasks and agents name.
}

// FollowPlace is how far a reader has come: the last message, and the last record.
type FollowPlace struct {
	Message MessageID
	Seq     Seq
}

// News is what Follow.Next returns: messages of all scopes, direct ones too, rising, and
// then the notice of what else has changed, nil if nothing has.
type News struct {
	Rows    []EncodedMessage
	Changed *Changed
	At      FollowPlace // after them
}

// Follow reads what happens in a whole hub. It is used by one goroutine.
type Follow interface {
	// Next waits for news, at most that long. News without rows and notice say that nothing
	// happened. A reader that is slow gets fewer notices, each of more, and all messages.
	// ctx ends when the news are passed on; until then they count as under way.
	Next(ctx context.Context, wait time.Duration) (News, error)
	Close()
}

// Follows shows what happens in the hub as a whole.
type Follows interface {
	// Follow begins at a place; nil: now. If more has happened since than is sent one by one, the
	// first notice names everything. Operator only. Errors: too_many_polls.
	Follow(ctx context.Context, at *FollowPlace) (Follow, error)
}
