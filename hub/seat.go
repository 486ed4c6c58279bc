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
	SeatID  SeatID  `json:"seat_id" bounds:"like ^seat_[0-9a-z]+$"`
	RoomID  RoomID  `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	AgentID AgentID `json:"agent_id"`
	Role    string  `json:"role"`    // May be empty; that of an agent which has not joined is.
	Harness string  `json:"harness"` // May be empty.
	// The name of the folder in which its session began, as its bridge has told; empty: not known.
	Folder        string     `json:"folder" bounds:"..60 runes"`
	Branch        string     `json:"branch" bounds:"..60 runes"` // The branch that Git had there then; empty: not known.
	JoinedAt      Time       `json:"joined_at"`                  // Since when it has the seat.
	SessionID     *SessionID `json:"session_id"`                 // The public form of the live session.
	Presence      Presence   `json:"presence"`
	Activity      Activity   `json:"activity"`
	ActivitySince *Time      `json:"activity_since"`
	// The tool that its program asks a user about; empty if it does not, or if that is unknown.
	PromptTool    string   `json:"prompt_tool"`
	LastSeen      *Time    `json:"last_seen"`
	Label         string   `json:"label"`    // Of its watch; may be empty.
	Watching      []string `json:"watching"` // The conditions of its watches.
	CurrentTaskID *TaskID  `json:"current_task_id"`
	Unread        int      `json:"unread" bounds:"0..1000"` // At most 1000 are counted.
	Listener      Listener `json:"listener"`
	SpawnID       *SpawnID `json:"spawn_id"` // The spawn for which the seat was made.
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
	Room            Room      `json:"room"`
	Project         Project   `json:"project"`
	LatestVisibleID MessageID `json:"latest_visible_id" bounds:"as Cursor"`
	Seats           []Seat    `json:"seats" bounds:"..100 items"` // Live agents first, then those that are away.
	SeatCount       int       `json:"seat_count" bounds:"0.."`    // Without those that are left out.
	// Seats of agents that have been gone for more than ten minutes; left out unless the call asks for all.
	GoneCount     int        `json:"gone_count" bounds:"0.."`
	OpenTasks     []Task     `json:"open_tasks" bounds:"..50 items"` // Newest first.
	OpenTaskCount int        `json:"open_task_count" bounds:"0.."`
	Runs          []Run      `json:"runs" bounds:"..20 items"`   // Those that are running first, each part newest first.
	RunCount      int        `json:"run_count" bounds:"0.."`     // Those that are running.
	Claims        []HeldRow  `json:"claims" bounds:"..50 items"` // Oldest first.
	ClaimCount    int        `json:"claim_count" bounds:"0.."`
	Locks         []HeldRow  `json:"locks" bounds:"..50 items"` // Oldest first.
	LockCount     int        `json:"lock_count" bounds:"0.."`
	Decisions     []Decision `json:"decisions" bounds:"..10 items"` // Latest first.
	// Of the caller, in the room and its inbox; 0 if the call names no agent.
	Unread int     `json:"unread" bounds:"0..1000"`
	Spawns []Spawn `json:"spawns" bounds:"..64 items"` // Those that have not ended.
	// Agents that are there and would not be woken: no poll and no watch of it waits, it waits for no lease, and it has made
	// no call but polls for a minute.
	NotListening []AgentID `json:"not_listening" bounds:"..100 items"`
	More         More      `json:"more,omitempty"`
}

// HeldRow is a claim or lock that has to do with a room: an agent with a seat
// holds it, or it is on a task of the room.
type HeldRow struct {
	// The claim_key, or the file_path as it was given; empty for the key of a task that the caller may not see.
	Key           string     `json:"key"`
	AgentID       AgentID    `json:"agent_id"`
	TaskMessageID *MessageID `json:"task_message_id"`
	AgeSec        float64    `json:"age_sec"`        // Since it was granted.
	ExpiresInSec  float64    `json:"expires_in_sec"` // May be below 0 for a moment.
}

// StatusQuery asks for a room's status as Viewer sees it.
type StatusQuery struct {
	RoomID RoomID
	Viewer AgentID
	All    bool // also shows agents that have been gone for longer than SeatListedFor
}

// SitInput says that an agent works in a room.
type SitInput struct {
	AgentID AgentID `json:"agent_id" bounds:"from session"` // Needed unless the session names it.
}

// Attention is what an agent has not seen yet.
type Attention struct {
	AgentID AgentID   `json:"agent_id"`
	RoomID  *RoomID   `json:"room_id"`
	SeenID  MessageID `json:"seen_id" bounds:"as Cursor"` // All up to it has been seen.
	// All that is unread is above it, so a reader goes on here. Of channels an agent reads what was posted since it
	// registered first.
	ReadFrom MessageID `json:"read_from" bounds:"as Cursor"`
	ToldID   MessageID `json:"told_id" bounds:"as Cursor"` // The agent has been told of all up to it.
	// Of what it was told, it was surely given all up to this one; the rest is told again if its program is cut off.
	SureID MessageID `json:"sure_id" bounds:"as Cursor"`
	HeadID MessageID `json:"head_id" bounds:"as Cursor"` // The latest message.
	// A poll of the agent was answered up to it in the last two seconds, so that the agent may have read it; 0 if
	// none was.
	GivenID MessageID `json:"given_id" bounds:"as Cursor"`
	Unread  int       `json:"unread" bounds:"0..1000"` // In the room, or without one in all that is public, and in the inbox; 1000 stands for that many or more.
	// Those of them that ask something of the agent: sent to it alone, naming it as @agent, or said by the operator
	// to all or to a room of the agent. What the agent was not told of comes first, and of the operator's words to
	// all the newest. Rising.
	Directed []UnreadRow `json:"directed" bounds:"..20 items"`
	// Not ended, and assigned to the agent, offered to it or posted by it; newest first.
	Tasks     []Task        `json:"tasks" bounds:"..20 items"`
	Claims    []ClaimKey    `json:"claims" bounds:"..20 items; each as Name"` // That the agent holds.
	Rooms     []RoomID      `json:"rooms" bounds:"..20 items"`                // That the agent has joined, the latest first.
	Watching  bool          `json:"watching"`                                 // A watch of the agent waits.
	Turn      Turn          `json:"turn"`                                     // As hooks have noted it; empty if none has.
	TurnSince *Time         `json:"turn_since"`                               // Null if no hook has noted a turn.
	Paused    *Pause        `json:"paused"`                                   // The pause that stops the agent; null: there is none.
	Proposals []WatchAdvice `json:"proposals"`                                // What a watch could wait for.
}

// UnreadRow is one unread message in short.
//
// API: One unread message in short.
type UnreadRow struct {
	ID        MessageID   `json:"id"`
	TS        Time        `json:"ts"`
	FromAgent AgentID     `json:"from_agent"`
	Channel   ChannelName `json:"channel" bounds:"as Name"`
	Direct    bool        `json:"direct"`
	Kind      Kind        `json:"kind"`
	ThreadID  *ThreadID   `json:"thread_id" bounds:"as string"`
	Excerpt   string      `json:"excerpt" bounds:"..200 runes"` // The beginning of the body, on one line.
	// The message has more than the excerpt: text, lines or attachments; absent: the excerpt is all of it.
	Partial   bool      `json:"partial,omitempty" bounds:"is true"`
	Authority Authority `json:"authority"`
	Assurance Assurance `json:"assurance"`
	User      string    `json:"local_user,omitempty" bounds:"1..256 runes"` // The other user of the machine whose program sent it; absent: none.
	// The operator has said it to all in a channel, and it does not name the agent; absent: it is another message.
	Order bool `json:"order,omitempty" bounds:"is true"`
	// Of the operator alone: the beginning of the agent's question that it answers; absent: it answers none.
	Answers string `json:"answers,omitempty" bounds:"..200 runes"`
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
	AgentID AgentID   `json:"agent_id" bounds:"from session"` // Needed unless the session names it.
	ToldID  MessageID `json:"told_id"`
	// What became of what the agent was told of up to told_id. proved: its program has given it that. lost: its
	// program was cut off, so that what is not proved counts as untold. Absent: it is about to be told.
	State ToldState `json:"state,omitempty" bounds:"one of proved lost"`
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
	AgentID AgentID `json:"agent_id" bounds:"from session"` // Needed unless the session names it.
	// at_prompt: its program asks a user whether a tool may run. no_terminal: the turn has ended, and nobody follows
	// the session, which its program keeps in the background. stuck: its turn ended because its model failed; its
	// room is told once in fifteen minutes.
	Turn  Turn   `json:"turn" bounds:"one of working at_prompt idle no_terminal stuck"`
	Tool  string `json:"tool,omitempty" bounds:"text ..MaxNameChars"`               // The name of that tool.
	Error string `json:"error,omitempty" bounds:"..40 runes; like ^[A-Za-z0-9_]*$"` // The kind of failure, with stuck.
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
	Noted   bool    `json:"noted"` // False if the agent has no live session.
}

// Told is the answer. Moved is true only for the call that moved the cursor: of
// two hooks that run for the same event, one notifies the agent. AfterID is where the
// cursor was before: the agent was notified of the messages up to it by others. With ToldProved it is
// where the cursor of SureID was.
type Told struct {
	AgentID AgentID   `json:"agent_id"`
	ToldID  MessageID `json:"told_id" bounds:"as Cursor"`
	// Where the mark was before this call, or is if the call did not move it: others have told the agent of the
	// messages up to it.
	AfterID MessageID `json:"after_id" bounds:"as Cursor"`
	Moved   bool      `json:"moved"` // This call moved the mark.
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
