package hub

import "context"

// Presence says whether a seat's agent is there.
type Presence string

// The presences: a live session heard of lately; a live session, silent for a
// minute and with no call waiting; no live session.
const (
	PresenceLive Presence = "live"
	PresenceAway Presence = "away"
	PresenceGone Presence = "gone"
)

// Activity says what a seat's agent does.
type Activity string

// The activities; the first of these that holds counts. blocked: a task of the
// agent needs input. waiting: a call of the agent is parked. working: a task of
// it is working, or a call other than a poll came within SeatWorkingFor.
const (
	ActivityBlocked Activity = "blocked"
	ActivityWaiting Activity = "waiting"
	ActivityWorking Activity = "working"
	ActivityIdle    Activity = "idle"
)

// Listener says whether something would wake the agent.
type Listener string

// armed: a watch or a poll of the agent is parked. none: it is there and nothing
// is parked. unknown: it is not there.
const (
	ListenerArmed   Listener = "armed"
	ListenerNone    Listener = "none"
	ListenerUnknown Listener = "unknown"
)

// Seat is one agent in one room: one that has joined it or, without a role, one that
// acts there. Such a seat shows where the agent is and gives it no right.
type Seat struct {
	SeatID        SeatID     `json:"seat_id"`
	RoomID        RoomID     `json:"room_id"`
	AgentID       AgentID    `json:"agent_id"`
	Role          string     `json:"role"`
	Harness       string     `json:"harness"`
	JoinedAt      Time       `json:"joined_at"`
	SessionID     *SessionID `json:"session_id"` // public form of the live session
	Presence      Presence   `json:"presence"`
	Activity      Activity   `json:"activity"`
	ActivitySince *Time      `json:"activity_since"`
	LastSeen      *Time      `json:"last_seen"`
	Label         string     `json:"label"`    // of its watch
	Watching      []string   `json:"watching"` // the conditions of its watches
	CurrentTaskID *TaskID    `json:"current_task_id"`
	Unread        int        `json:"unread"` // counted up to MaxUnread
	Listener      Listener   `json:"listener"`
	SpawnID       *SpawnID   `json:"spawn_id"` // for which the seat was made; null: its agent has joined
}

// MaxUnread is as far as unread messages are counted.
const MaxUnread = 1_000

// RoomStatus is what goes on in a room, on one page. Lists are cut; the counts
// beside them are whole.
type RoomStatus struct {
	Room            Room       `json:"room"`
	Project         Project    `json:"project"`
	LatestVisibleID MessageID  `json:"latest_visible_id"`
	Seats           []Seat     `json:"seats"` // at most 100: who is live first
	SeatCount       int        `json:"seat_count"`
	GoneCount       int        `json:"gone_count"` // seats of agents that have been gone for longer than SeatListedFor
	OpenTasks       []Task     `json:"open_tasks"` // at most 50, newest first
	OpenTaskCount   int        `json:"open_task_count"`
	Runs            []Run      `json:"runs"`      // at most 20, running first, each part newest first
	RunCount        int        `json:"run_count"` // that have not ended
	Claims          []HeldRow  `json:"claims"`    // at most 50, oldest first
	ClaimCount      int        `json:"claim_count"`
	Locks           []HeldRow  `json:"locks"` // at most 50, oldest first
	LockCount       int        `json:"lock_count"`
	Decisions       []Decision `json:"decisions"`     // at most 10, latest first
	Unread          int        `json:"unread"`        // of the caller; 0 if it names no agent
	Spawns          []Spawn    `json:"spawns"`        // that have not ended
	NotListening    []AgentID  `json:"not_listening"` // who is there, has made no call lately and would not be woken; at most 100
}

// HeldRow is a claim or lock that has to do with a room: an agent with a seat
// holds it, or it is on a task of the room.
type HeldRow struct {
	Key           string     `json:"key"` // claim_key or file_path; empty if it names a task that is hidden
	AgentID       AgentID    `json:"agent_id"`
	TaskMessageID *MessageID `json:"task_message_id"`
	AgeSec        float64    `json:"age_sec"`        // since it was granted
	ExpiresInSec  float64    `json:"expires_in_sec"` // may be below 0 for a moment
}

// StatusQuery asks for a room's status as Viewer sees it.
type StatusQuery struct {
	RoomID RoomID
	Viewer AgentID
	All    bool // shows also who has been gone for longer than SeatListedFor
}

// SitInput says that an agent works in a room.
type SitInput struct {
	AgentID AgentID `json:"agent_id"`
}

// Attention is what an agent has not seen yet.
type Attention struct {
	AgentID   AgentID       `json:"agent_id"`
	RoomID    *RoomID       `json:"room_id"`
	SeenID    MessageID     `json:"seen_id"`  // all up to it has been seen
	ToldID    MessageID     `json:"told_id"`  // the agent has been told of all up to it
	HeadID    MessageID     `json:"head_id"`  // the latest message
	Unread    int           `json:"unread"`   // in the room and the inbox, up to MaxUnread
	Directed  []UnreadRow   `json:"directed"` // of them those that ask something of the agent, rising, at most 20
	Tasks     []Task        `json:"tasks"`    // the agent's that have not ended, at most 20
	Claims    []ClaimKey    `json:"claims"`   // that it holds, at most 20
	Rooms     []RoomID      `json:"rooms"`    // that it has joined, the latest first, at most 20
	Watching  bool          `json:"watching"`
	Proposals []WatchAdvice `json:"proposals"` // what a watch could wait for
}

// UnreadRow is one unread message in short.
type UnreadRow struct {
	ID        MessageID   `json:"id"`
	FromAgent AgentID     `json:"from_agent"`
	Channel   ChannelName `json:"channel"`
	Direct    bool        `json:"direct"`
	Kind      Kind        `json:"kind"`
	ThreadID  *ThreadID   `json:"thread_id"`
	Excerpt   string      `json:"excerpt"` // the body's beginning, one line, at most 200 characters
	Authority Authority   `json:"authority"`
	Assurance Assurance   `json:"assurance"`
}

// WatchAdvice is a condition that an agent may want to wait for, and why.
type WatchAdvice struct {
	Condition string `json:"condition"`
	Why       string `json:"why"`
}

// AttentionQuery asks what Agent has not seen, in Room or, without one,
// anywhere.
type AttentionQuery struct {
	Agent AgentID
	Room  RoomID
}

// ToldInput says that the agent has been told of everything up to ToldID.
type ToldInput struct {
	AgentID AgentID   `json:"agent_id"`
	ToldID  MessageID `json:"told_id"`
}

// Told answers it. Moved is true for the one call that moved the mark: of two
// hooks that run for the same event one speaks.
type Told struct {
	AgentID AgentID   `json:"agent_id"`
	ToldID  MessageID `json:"told_id"`
	Moved   bool      `json:"moved"`
}

// Seats shows who is in a room.
type Seats interface {
	// RoomStatus shows what goes on in a room. room_not_found.
	RoomStatus(ctx context.Context, q StatusQuery) (RoomStatus, error)
	// Sit says that an agent works in a room, as where its session begins in a folder
	// that is bound to it. It answers the agent's seat, which it may have already.
	// room_not_found, room_full.
	Sit(ctx context.Context, room RoomID, in SitInput) (Outcome[Seat], error)
}

// Attentions says what agents have not seen, and keeps what they have been told
// of.
type Attentions interface {
	// Attention says what an agent has not seen. room_not_found.
	Attention(ctx context.Context, q AttentionQuery) (Attention, error)
	// Tell moves the mark of what an agent has been told of; it never moves back.
	// A mark beyond the latest message counts as that. It is kept in memory first:
	// after a crash the agent may be told once more.
	Tell(ctx context.Context, in ToldInput) (Told, error)
}
