package hub

import (
	"context"
	"strings"
	"time"
)

// Presence says whether a seat's agent is connected.
type Presence string

// The presences, in this order: the agent has a live session and called lately;
// it has a live session, was silent for a minute and has no call waiting; it
// has no live session.
const (
	PresenceLive Presence = "live"
	PresenceAway Presence = "away"
	PresenceGone Presence = "gone"
)

// Activity says what a seat's agent does.
type Activity string

// The activities. The first that holds is shown. at_prompt: its program asks a user
// whether a tool may run. no_terminal: its session goes on, and nobody follows it. stuck: its turn ended because
// its model failed. blocked: a task of the agent
// needs input. waiting: a call of the agent is parked. working: it is in a turn; if
// that is unknown, a task of it is working, or a call other than a poll came within
// SeatWorkingFor.
const (
	ActivityAtPrompt   Activity = "at_prompt"
	ActivityNoTerminal Activity = "no_terminal"
	ActivityStuck      Activity = "stuck"
	ActivityBlocked    Activity = "blocked"
	ActivityWaiting    Activity = "waiting"
	ActivityWorking    Activity = "working"
	ActivityIdle       Activity = "idle"
)

// Listener says whether something would wake the agent.
type Listener string

// armed: a watch or a poll of the agent is parked. none: the agent is connected
// and nothing is parked. unknown: the agent is not connected.
const (
	ListenerArmed   Listener = "armed"
	ListenerNone    Listener = "none"
	ListenerUnknown Listener = "unknown"
)

// Seat is one agent in one room. The agent has joined the room, or it only acts
// there; then the seat has no role, shows where the agent is and gives it no
// rights.
type Seat struct {
	SeatID        SeatID     `json:"seat_id"`
	RoomID        RoomID     `json:"room_id"`
	AgentID       AgentID    `json:"agent_id"`
	Role          string     `json:"role"`
	Harness       string     `json:"harness"`
	Folder        string     `json:"folder"` // see Session.Place; empty: not known
	Branch        string     `json:"branch"`
	JoinedAt      Time       `json:"joined_at"`
	SessionID     *SessionID `json:"session_id"` // public form of the live session
	Presence      Presence   `json:"presence"`
	Activity      Activity   `json:"activity"`
	ActivitySince *Time      `json:"activity_since"`
	PromptTool    string     `json:"prompt_tool"` // that its program asks for; empty: not at_prompt, or unknown
	LastSeen      *Time      `json:"last_seen"`
	Label         string     `json:"label"`    // of its watch
	Watching      []string   `json:"watching"` // the conditions of its watches
	CurrentTaskID *TaskID    `json:"current_task_id"`
	Unread        int        `json:"unread"` // counted up to MaxUnread
	Listener      Listener   `json:"listener"`
	SpawnID       *SpawnID   `json:"spawn_id"` // the spawn that the seat was made for; null: the agent has joined
}

// Where names the folder and the branch in one word; empty: neither is known.
func (s *Seat) Where() string {
	if s.Branch == "" {
		return s.Folder
	}
	return s.Folder + "@" + s.Branch
}

// MaxUnread is the highest count of unread messages: more are not counted.
const MaxUnread = 1_000

// RoomStatus shows on one page what goes on in a room. Lists are cut, and then More has
// them; the counts beside them are complete. Of seats and decisions that are too many bytes,
// the longest rows are left out.
type RoomStatus struct {
	Room            Room       `json:"room"`
	Project         Project    `json:"project"`
	LatestVisibleID MessageID  `json:"latest_visible_id"`
	Seats           []Seat     `json:"seats"` // at most 100; live agents come first
	SeatCount       int        `json:"seat_count"`
	GoneCount       int        `json:"gone_count"` // seats of agents that have been gone for longer than SeatListedFor
	OpenTasks       []Task     `json:"open_tasks"` // at most 50, newest first
	OpenTaskCount   int        `json:"open_task_count"`
	Runs            []Run      `json:"runs"`      // at most 20, running first, each part newest first
	RunCount        int        `json:"run_count"` // runs that have not ended
	Claims          []HeldRow  `json:"claims"`    // at most 50, oldest first
	ClaimCount      int        `json:"claim_count"`
	Locks           []HeldRow  `json:"locks"` // at most 50, oldest first
	LockCount       int        `json:"lock_count"`
	Decisions       []Decision `json:"decisions"`     // at most 10, latest first
	Unread          int        `json:"unread"`        // of the caller; 0 if it names no agent
	Spawns          []Spawn    `json:"spawns"`        // that have not ended
	NotListening    []AgentID  `json:"not_listening"` // agents that are connected, made no call lately and would not be woken; at most 100
	More            More       `json:"more,omitempty"`
}

// HeldRow is a claim or lock that has to do with a room: an agent with a seat
// holds it, or it is on a task of the room.
type HeldRow struct {
	Key           string     `json:"key"` // claim_key or file_path; empty if it names a hidden task
	AgentID       AgentID    `json:"agent_id"`
	TaskMessageID *MessageID `json:"task_message_id"`
	AgeSec        float64    `json:"age_sec"`        // since it was granted
	ExpiresInSec  float64    `json:"expires_in_sec"` // may be below 0 for a moment
}

// StatusQuery asks for a room's status as Viewer sees it.
type StatusQuery struct {
	RoomID RoomID
	Viewer AgentID
	All    bool // also shows agents that have been gone for longer than SeatListedFor
}

// SitInput says that an agent works in a room.
type SitInput struct {
	AgentID AgentID `json:"agent_id"`
}

// Attention is what an agent has not seen yet.
type Attention struct {
	AgentID   AgentID       `json:"agent_id"`
	RoomID    *RoomID       `json:"room_id"`
	SeenID    MessageID     `json:"seen_id"`   // the agent has seen all messages up to this one
	ReadFrom  MessageID     `json:"read_from"` // all that is unread is above this one: a reader goes on here
	ToldID    MessageID     `json:"told_id"`   // the agent was notified of all messages up to this one
	SureID    MessageID     `json:"sure_id"`   // of those, up to which one it was surely given them
	HeadID    MessageID     `json:"head_id"`   // the latest message
	GivenID   MessageID     `json:"given_id"`  // the agent's poll was answered up to this one in the last two seconds, and may have been read; 0: none was
	Unread    int           `json:"unread"`    // in the room and the inbox, up to MaxUnread
	Directed  []UnreadRow   `json:"directed"`  // the unread messages that ask something of the agent, rising, at most 20
	Tasks     []Task        `json:"tasks"`     // the agent's that have not ended, at most 20
	Claims    []ClaimKey    `json:"claims"`    // that it holds, at most 20
	Rooms     []RoomID      `json:"rooms"`     // that it has joined, the latest first, at most 20
	Watching  bool          `json:"watching"`
	Turn      Turn          `json:"turn"` // as hooks have noted it; empty: unknown
	TurnSince *Time         `json:"turn_since"`
	Paused    *Pause        `json:"paused"`    // the pause that stops the agent; null: there is none
	Proposals []WatchAdvice `json:"proposals"` // what a watch could wait for
}

// UnreadRow is one unread message in short.
type UnreadRow struct {
	ID        MessageID   `json:"id"`
	TS        Time        `json:"ts"`
	FromAgent AgentID     `json:"from_agent"`
	Channel   ChannelName `json:"channel"`
	Direct    bool        `json:"direct"`
	Kind      Kind        `json:"kind"`
	ThreadID  *ThreadID   `json:"thread_id"`
	Excerpt   string      `json:"excerpt"`           // the body's beginning, one line, at most 200 characters
	Partial   bool        `json:"partial,omitempty"` // the message has more than the excerpt: text, lines or attachments
	Authority Authority   `json:"authority"`
	Assurance Assurance   `json:"assurance"`
	User      string      `json:"local_user,omitempty"` // the other user of the machine whose program sent it
	Order     bool        `json:"order,omitempty"`      // the operator has said it to all, and it does not name the agent
	Answers   string      `json:"answers,omitempty"`    // of the operator alone: the beginning of the agent's question that it answers
}

// ByOperator reports whether the human operator has written the message.
func (r UnreadRow) ByOperator() bool { return r.Authority == AuthorityOperator }

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

// ToldInput says what became of what the agent was notified of, up to ToldID.
type ToldInput struct {
	AgentID AgentID   `json:"agent_id"`
	ToldID  MessageID `json:"told_id"`
	State   ToldState `json:"state,omitempty"`
}

// ToldState says what became of a notification.
type ToldState string

// The states. ToldNow: the agent is about to be notified. ToldProved: its program has surely
// given it what it was notified of. ToldLost: its program was cut off, so that what is not
// proved counts as untold.
const (
	ToldNow    ToldState = ""
	ToldProved ToldState = "proved"
	ToldLost   ToldState = "lost"
)

// Turn says how far an agent is with its turn, as the hooks of its program know it.
type Turn string

// The turns. TurnUnknown: no hook has said. TurnAtPrompt: the program asks a user whether
// a tool may run. TurnNoTerminal: the turn has ended, and nobody follows the session: its terminal
// was quit, and its program keeps it in the background. TurnStuck: the turn ended because the program's model failed.
const (
	TurnUnknown    Turn = ""
	TurnWorking    Turn = "working"
	TurnAtPrompt   Turn = "at_prompt"
	TurnIdle       Turn = "idle"
	TurnNoTerminal Turn = "no_terminal"
	TurnStuck      Turn = "stuck"
)

// TurnInput says how far an agent is with its turn.
type TurnInput struct {
	AgentID AgentID `json:"agent_id"`
	Turn    Turn    `json:"turn"`
	Tool    string  `json:"tool,omitempty"`  // that the program asks about, with TurnAtPrompt
	Error   string  `json:"error,omitempty"` // the kind of failure, with TurnStuck: a PlainWord
}

// PlainWord reports whether a text is a word of a program: at most 40 letters, digits and underscores.
// An empty one is.
func PlainWord(s string) bool {
	return len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// StuckTold is how long the room of an agent that is stuck is not told of it again.
const StuckTold = 15 * time.Minute

// TurnNoted is the answer. Noted is false if the agent has no live session.
type TurnNoted struct {
	AgentID AgentID `json:"agent_id"`
	Noted   bool    `json:"noted"`
}

// Told is the answer. Moved is true only for the call that moved the cursor: of
// two hooks that run for the same event, one notifies the agent. AfterID is where the
// cursor was before: the agent was notified of the messages up to it by others. With ToldProved it is
// where the cursor of SureID was.
type Told struct {
	AgentID AgentID   `json:"agent_id"`
	ToldID  MessageID `json:"told_id"`
	AfterID MessageID `json:"after_id"`
	Moved   bool      `json:"moved"`
}

// Seats shows the agents in a room.
type Seats interface {
	// RoomStatus shows what goes on in a room. Errors: room_not_found.
	RoomStatus(ctx context.Context, q StatusQuery) (RoomStatus, error)
	// Sit says that an agent works in a room, for example because its session
	// began in a folder that is bound to the room. It returns the agent's seat,
	// which may exist already. Errors: room_not_found, room_full.
	Sit(ctx context.Context, room RoomID, in SitInput) (Outcome[Seat], error)
}

// Attentions returns what agents have not seen, and stores what they were
// notified of.
type Attentions interface {
	// Attention returns what an agent has not seen. Errors: room_not_found.
	Attention(ctx context.Context, q AttentionQuery) (Attention, error)
	// Tell moves the notified cursor of an agent. It moves back with ToldLost alone, to
	// where ToldProved was. A cursor beyond the latest message means the latest message. It
	// is stored before the call returns; if the disk is full, a crash moves it back.
	Tell(ctx context.Context, in ToldInput) (Told, error)
	// NoteTurn notes how far the agent is with its turn. It is kept in memory
	// alone, until the session of the agent ends.
	NoteTurn(ctx context.Context, in TurnInput) (TurnNoted, error)
}
