package hub

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// The services of the hub. The daemon's actors implement them in memory, the Go
// client implements them over HTTP. Contract of every method:
//
//   - The caller is CallerOf(ctx). Canceling ctx abandons the wait for the
//     answer, not the write: its outcome is then unknown to the caller, and the
//     same idempotency key asks for it again.
//   - A nil error from a write means that it is durable and visible.
//   - Errors are *Error. Inputs have passed the checks of package api: a method
//     only refuses what depends on the state.
//
// Any write may answer overloaded, storage_full, store_failed, stopping,
// quarantined, timed_out, session_replaced, in_progress or idempotency_conflict.

// RegisterInput asks for a session. Replace defaults to true. UnlessEnded refuses an agent whose last
// session the operator has ended, with session_ended and the operator's words.
type RegisterInput struct {
	AgentID      AgentID         `json:"agent_id"`
	DisplayName  string          `json:"display_name,omitempty" bounds:"name ..MaxDisplayNameChars"`
	Capabilities []string        `json:"capabilities,omitempty" bounds:"..MaxCapabilities items; each name 1..MaxCapabilityChars"`
	Metadata     json.RawMessage `json:"metadata,omitempty"` // At most 64 KiB of compact JSON and 32 levels.
	Replace      *bool           `json:"replace,omitempty" bounds:"default true"`
	// Refuses an agent whose last session the operator has ended (session_ended, with the reason). For programs that
	// register by themselves.
	UnlessEnded bool `json:"unless_ended,omitempty"`
}

// ResumeInput trades the key of an earlier session for a new session.
type ResumeInput struct {
	PriorSessionID SessionID `json:"prior_session_id" bounds:"name 1..MaxSecretChars"`
	ResumeKey      string    `json:"resume_key" bounds:"name 1..MaxSecretChars"`
}

// RenameInput changes the display name of an agent's live session.
type RenameInput struct {
	DisplayName string `json:"display_name" bounds:"name 1..MaxDisplayNameChars"`
}

// SessionEndInput ends the live session of an agent, which is told the reason.
type SessionEndInput struct {
	Reason string `json:"reason" bounds:"1..MaxPauseWords runes"`
}

// AgentsQuery selects live sessions; a zero field does not select.
type AgentsQuery struct {
	Capability string
	Prefix     string // of the agent id
	RoomID     RoomID // agents with a seat in the room
	Details    bool   // with AgentDetails
	Cursor     Cursor
	Limit      int
}

// Sessions registers agents and lists those with a live session.
type Sessions interface {
	// Register makes a session and ends the agent's live session. Errors:
	// session_conflict if Replace is false and there is a live session.
	Register(ctx context.Context, in RegisterInput) (Outcome[Registered], error)
	// Resume makes a new session for the agent of an earlier session. Errors:
	// resume_denied.
	Resume(ctx context.Context, in ResumeInput) (Outcome[Registered], error)
	// Rename sets the live session's display name. Errors: session_not_found.
	Rename(ctx context.Context, agent AgentID, in RenameInput) (Outcome[Session], error)
	// CloseSession ends the session with this id. Callers give the full form,
	// which proves the session; the operator may give the public form. If the
	// agent goes on under another id, successor is that id, else it is empty:
	// until the agent begins a session again, messages to it go to its
	// successor. Errors: session_not_found if the session is unknown or has
	// ended; invalid if an agent names itself as its successor.
	CloseSession(ctx context.Context, id SessionID, successor AgentID) (Outcome[ClosedSession], error)
	// EndSession ends the live session of an agent by the operator's word. The agent gets
	// a message with the reason, and the next call that proves the session is refused with
	// session_ended and the reason. Operator only. Errors: session_not_found.
	EndSession(ctx context.Context, agent AgentID, in SessionEndInput) (Outcome[ClosedSession], error)
	// Agents lists the live sessions by agent id, without watchers, with what
	// their agents do. Errors: room_not_found.
	Agents(ctx context.Context, q AgentsQuery) ([]LiveAgent, Cursor, error)
	// Bootstrap returns what agent needs to begin.
	Bootstrap(ctx context.Context, agent AgentID) (Bootstrap, error)
}

// ChannelInput describes a new channel.
type ChannelInput struct {
	Name      ChannelName     `json:"name" bounds:"name 1..MaxNameChars"`
	CreatedBy AgentID         `json:"created_by,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // At most 64 KiB of compact JSON and 32 levels.
}

// Channels makes and lists channels.
type Channels interface {
	// CreateChannel is idempotent: an existing channel is returned unchanged.
	CreateChannel(ctx context.Context, in ChannelInput) (Outcome[Channel], error)
	// ArchiveChannel takes a channel outside rooms out of lists and of polls that name no
	// channel, or back. Nothing is deleted, and posts to it are refused. Operator only.
	// Errors: channel_not_found; invalid for the channel of a room and those that every
	// hub has.
	ArchiveChannel(ctx context.Context, in ChannelArchiveInput) (Outcome[Channel], error)
	// Channels lists channels by name.
	Channels(ctx context.Context, q ChannelsQuery) ([]Channel, Cursor, error)
}

// PostInput describes a new message. Body or Attachments is required. With
// ToAgent it is a direct message and Channel is only a label.
type PostInput struct {
	FromAgent    AgentID         `json:"from_agent" bounds:"from session"`                // Needed unless the session names it.
	Channel      ChannelName     `json:"channel,omitempty" bounds:"..MaxNameChars runes"` // general if left out; direct, and only a label, with to_agent.
	ToAgent      AgentID         `json:"to_agent,omitempty" bounds:"or empty"`            // Makes it a direct message.
	Kind         Kind            `json:"kind,omitempty" bounds:"as KindInput"`
	Body         string          `json:"body,omitempty"` // At most max_body_chars characters.
	Attachments  []Attachment    `json:"attachments,omitempty" bounds:"each as AttachmentInput"`
	ReplyTo      MessageID       `json:"reply_to,omitempty"`
	ThreadID     ThreadID        `json:"thread_id,omitempty" bounds:"..300 runes"`
	Metadata     json.RawMessage `json:"metadata,omitempty"` // At most 64 KiB of compact JSON and 32 levels.
	ParentTaskID TaskID          `json:"parent_task_id,omitempty"`
	BlockedBy    []TaskID        `json:"blocked_by,omitempty" bounds:"..MaxBlockedBy items"` // Tasks that must end before the task that the message opens.
	Force        bool            `json:"force,omitempty"`                                    // A task_result ends its task although that is blocked.
	// Refuses an agent that never registered while ids like it are known (agent_unclear). For an id that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// MessagesQuery selects public messages; Channel or ThreadID is set. With Tail
// and no Since the last Limit rows are returned, rising all the same.
type MessagesQuery struct {
	Channel  ChannelName
	ThreadID ThreadID
	Since    MessageID
	Limit    int
	Tail     bool
	Wait     time.Duration
}

// EventsQuery is a long-poll by Agent: the public messages of its scope and the
// direct messages to the agent. Channels and RoomID narrow the public part.
type EventsQuery struct {
	Agent       AgentID
	Channels    []ChannelName
	RoomID      RoomID
	ThreadID    ThreadID
	Since       MessageID
	ExcludeSelf bool
	Limit       int
	MaxChars    int           // 0: no budget
	Wait        time.Duration // 0: answer at once
	Peek        bool          // Since does not mark messages as seen
	Streamed    bool          // the answer is a part of a stream
	Awaits      MessageID     // a message of Agent, whose answer the call waits for; 0: none
}

// LogQuery selects messages for a spectator. At most one of RoomID, Channel and
// ThreadID is set; Agent is a party of the messages. Direct adds the direct messages
// of all agents and is for the operator. Since and Until bound the time of the
// messages, Until without the moment itself; with Until the call does not wait. With
// Tail and no SinceID the last Limit rows are returned, rising all the same.
type LogQuery struct {
	RoomID   RoomID
	Channel  ChannelName
	ThreadID ThreadID
	Agent    AgentID
	Direct   bool
	SinceID  MessageID
	BeforeID MessageID // 0: up to the latest
	Since    Time      // 0: from the beginning
	Until    Time      // 0: up to now
	Tail     bool
	Limit    int
	Wait     time.Duration
}

// InboxQuery selects the direct messages to Agent.
type InboxQuery struct {
	Agent AgentID
	Since MessageID
	Limit int
	Tail  bool
	Peek  bool // Since does not mark messages as seen
}

// ThreadsQuery selects threads of which Viewer may see a message, latest first.
type ThreadsQuery struct {
	Viewer AgentID
	Cursor Cursor
	Limit  int
}

// Messages posts and reads messages. Every read obeys Visible.
type Messages interface {
	// Post stores a message and, for the kinds that do so, opens or completes a
	// task with it. It says if the recipient of a direct message cannot be
	// reached now. Errors: channel_not_found (400), reply_not_found,
	// parent_not_found, reply_required, task_closed, task_too_deep, blocked.
	Post(ctx context.Context, in PostInput) (Posted, error)
	// Message returns one whole row. Errors: message_not_found, also if viewer
	// may not see the message.
	Message(ctx context.Context, id MessageID, viewer AgentID) (EncodedMessage, error)
	// Receipt says what has become of a direct message. Errors:
	// message_not_found, also if viewer may not see the message; invalid if the
	// message is public.
	Receipt(ctx context.Context, id MessageID, viewer AgentID) (Receipt, error)
	// Messages returns public rows. Errors: channel_not_found.
	Messages(ctx context.Context, q MessagesQuery) (Page, error)
	// Events waits for rows, or until q.Wait is over, the hub stops or the
	// caller's session ends (session_replaced). Errors: too_many_polls.
	Events(ctx context.Context, q EventsQuery) (Page, error)
	// Log returns messages for a spectator: nothing becomes seen, no agent becomes
	// live, and no agent need be named. It waits as Events does. Errors:
	// room_not_found, channel_not_found, too_many_polls.
	Log(ctx context.Context, q LogQuery) (Page, error)
	// Inbox returns direct messages to an agent.
	Inbox(ctx context.Context, q InboxQuery) (Page, error)
	// Threads lists summaries by the latest message at the time when the walk
	// began. A thread that gets messages during the walk keeps its place, and a
	// thread that begins during the walk is not listed.
	Threads(ctx context.Context, q ThreadsQuery) ([]ThreadSummary, Cursor, error)
	// Thread returns one thread with what viewer may see of it. Errors:
	// thread_not_found if viewer may see nothing of it.
	Thread(ctx context.Context, id ThreadID, viewer AgentID) (Thread, error)
}

// ClaimInput asks for a claim. With TaskMessageID and no ClaimKey the key is
// task-<id>.
type ClaimInput struct {
	OwnerAgentID  AgentID         `json:"owner_agent_id" bounds:"from session"`              // Needed unless the session names it.
	ClaimKey      ClaimKey        `json:"claim_key,omitempty" bounds:"name 1..MaxNameChars"` // task-<task_message_id> if left out.
	TaskMessageID MessageID       `json:"task_message_id,omitempty"`
	ThreadID      ThreadID        `json:"thread_id,omitempty" bounds:"..200 runes"`
	TTLSec        int             `json:"ttl_sec,omitempty" bounds:"MinTTLSec..MaxTTLSec; default 300"`
	Metadata      json.RawMessage `json:"metadata,omitempty"` // At most 64 KiB of compact JSON and 32 levels.
	WaitSec       float64         `json:"wait_sec,omitempty" bounds:"0..MaxWaitSec; default 0"`
}

// ClaimHoldInput renews or releases a claim. Fence 0 is not checked. Release
// names the agent agent_id, refresh owner_agent_id; both names are taken.
type ClaimHoldInput struct {
	ClaimKey     ClaimKey `json:"claim_key" bounds:"name 1..MaxNameChars"`
	OwnerAgentID AgentID  `json:"owner_agent_id,omitempty"`
	AgentID      AgentID  `json:"agent_id,omitempty"` // Another name of owner_agent_id.
	TTLSec       int      `json:"ttl_sec,omitempty" bounds:"MinTTLSec..MaxTTLSec; default 300"`
	Fence        Fence    `json:"fence,omitempty" bounds:"1.."` // Not checked if left out.
}

// LockInput asks for a file lock.
type LockInput struct {
	FilePath string          `json:"file_path" bounds:"name 1..MaxFilePathChars"`
	AgentID  AgentID         `json:"agent_id" bounds:"from session"` // Needed unless the session names it.
	TTLSec   int             `json:"ttl_sec,omitempty" bounds:"MinTTLSec..MaxTTLSec; default 300"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // At most 64 KiB of compact JSON and 32 levels.
	WaitSec  float64         `json:"wait_sec,omitempty" bounds:"0..MaxWaitSec; default 0"`
}

// LockHoldInput renews or releases a file lock. Fence 0 is not checked.
type LockHoldInput struct {
	FilePath string  `json:"file_path" bounds:"name 1..MaxFilePathChars"`
	AgentID  AgentID `json:"agent_id" bounds:"from session"` // Needed unless the session names it.
	TTLSec   int     `json:"ttl_sec,omitempty" bounds:"MinTTLSec..MaxTTLSec; default 300"`
	Fence    Fence   `json:"fence,omitempty" bounds:"1.."` // Not checked if left out.
}

// ClaimBreakInput takes a claim from its holder, who is told the reason.
type ClaimBreakInput struct {
	ClaimKey ClaimKey `json:"claim_key" bounds:"name 1..MaxNameChars"`
	Reason   string   `json:"reason" bounds:"1..MaxPauseWords runes"`
}

// LockBreakInput does the same with a file lock.
type LockBreakInput struct {
	FilePath string `json:"file_path" bounds:"name 1..MaxFilePathChars"`
	Reason   string `json:"reason" bounds:"1..MaxPauseWords runes"`
}

// LeasesQuery selects leases; zero fields do not select. ActiveOnly leaves out
// released and expired leases. Paths and prefixes of paths are compared in
// canonical form.
type LeasesQuery struct {
	Key        string // only the lease with this claim key or path
	Prefix     string // of the claim key or path
	Covering   string // a path; file locks alone, those that overlap it: see LocksOverlap
	Owner      AgentID
	ThreadID   ThreadID // claims only
	RoomID     RoomID   // held by an agent with a seat in the room, or for an open task of the room that Viewer may see
	ActiveOnly bool
	Viewer     AgentID
	Cursor     Cursor
	Limit      int
}

// Leases grants claims and file locks. At any moment a key has at most one
// holder; a lease ends when it is released, when the operator breaks it or when its
// time is over, never earlier. A lease for a task follows the task to its new assignee or its end.
type Leases interface {
	// Claim grants the key if it is free, and extends the claim if the caller
	// holds it. If another agent holds it, the answer is no error but the
	// holder's row, not acquired. With WaitSec the call first waits its turn.
	// Errors: task_not_found if the claimer may not see the message or task.
	Claim(ctx context.Context, in ClaimInput) (Grant[Claim], error)
	// RefreshClaim extends a claim. Errors: not_holder, stale_fence.
	RefreshClaim(ctx context.Context, in ClaimHoldInput) (Grant[Claim], error)
	// ReleaseClaim ends a claim. Errors: not_holder, stale_fence.
	ReleaseClaim(ctx context.Context, in ClaimHoldInput) (Outcome[Claim], error)
	// BreakClaim ends a claim by the operator's word: its holder and the agents that
	// wait for it are told why, and the first in line gets it. Operator only. Error:
	// not_holder if nobody holds it.
	BreakClaim(ctx context.Context, in ClaimBreakInput) (Outcome[Claim], error)
	// Claims lists claims by key. Errors: room_not_found.
	Claims(ctx context.Context, q LeasesQuery) ([]Claim, Cursor, error)

	// Lock, RefreshLock, ReleaseLock, BreakLock and Locks do the same for files. Paths are
	// compared and sorted in canonical form, and returned as they were given.
	Lock(ctx context.Context, in LockInput) (Grant[Lock], error)
	RefreshLock(ctx context.Context, in LockHoldInput) (Grant[Lock], error)
	ReleaseLock(ctx context.Context, in LockHoldInput) (Outcome[Lock], error)
	BreakLock(ctx context.Context, in LockBreakInput) (Outcome[Lock], error)
	Locks(ctx context.Context, q LeasesQuery) ([]Lock, Cursor, error)
}

// TasksQuery selects tasks, newest first; zero fields do not select.
type TasksQuery struct {
	Status   TaskStatus
	Active   bool // not terminal
	ParentID TaskID
	Channel  ChannelName
	ThreadID ThreadID
	RoomID   RoomID
	RunID    RunID
	Ready    *bool

	Assignee  AgentID
	CreatedBy AgentID
	Concerns  AgentID // tasks that this agent has, is offered or gave

	Viewer AgentID
	Cursor Cursor
	Limit  int
}

// CompleteInput ends a task as done.
type CompleteInput struct {
	AgentID AgentID `json:"agent_id,omitempty"`
	Note    string  `json:"note,omitempty"`  // At most max_body_chars characters.
	Force   bool    `json:"force,omitempty"` // Although the task is blocked.
	// Also release the claims and locks for the task, of the agent and of the assignee.
	Release bool `json:"release,omitempty"`
}

// TaskUpdateInput changes a task; a nil field stays. ExpectedVersion 0 is not
// checked. Force begins or completes a task although it is blocked. Release, with
// an end, is that of CompleteInput.
type TaskUpdateInput struct {
	AgentID AgentID `json:"agent_id,omitempty"`
	// in_progress is working, and completed is done.
	Status          *TaskStatus `json:"status,omitempty" bounds:"one of open working in_progress input_required done completed failed cancelled"`
	Assignee        *AgentID    `json:"assignee,omitempty" bounds:"or empty"` // Empty means nobody.
	BlockedBy       *[]TaskID   `json:"blocked_by,omitempty" bounds:"..MaxBlockedBy items"`
	ExpectedVersion int64       `json:"expected_version,omitempty" bounds:"1.."` // Not checked if left out.
	Force           bool        `json:"force,omitempty"`                         // Begin or complete the task although it is blocked.
	// With done, failed or cancelled: also release the claims and locks for the task, of the agent and of the
	// assignee.
	Release bool `json:"release,omitempty"`
	// Words to the agent in assignee, also if it has the task already. They need agent_id.
	Note string `json:"note,omitempty" bounds:"..MaxNoteChars runes"`
	// Refuses an agent that never registered while ids like it are known (agent_unclear). For an id that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// MaxTaskLeases bounds the claims, and the locks, that TaskLeases lists.
const MaxTaskLeases = 100

// TaskLeases are the claims on a task, and the claims and locks that its assignee holds for it.
//
// API: They pass to the next assignee; the end of the task can release them.
type TaskLeases struct {
	TaskID     TaskID  `json:"task_id"`
	Claims     []Claim `json:"claims" bounds:"..MaxTaskLeases items"` // The first ones by their keys.
	ClaimCount int     `json:"claim_count" bounds:"0.."`
	Locks      []Lock  `json:"locks" bounds:"..MaxTaskLeases items"` // The first ones by their paths.
	LockCount  int     `json:"lock_count" bounds:"0.."`
}

// Tasks tracks work. If a direct message opened a task, only the parties of
// that message, the assignee and the agent that is offered the task may see it.
type Tasks interface {
	// Tasks lists tasks. Errors: room_not_found, run_not_found.
	Tasks(ctx context.Context, q TasksQuery) ([]Task, Cursor, error)
	// Task returns one task. Errors: task_not_found.
	Task(ctx context.Context, id TaskID, viewer AgentID) (Task, error)
	// TaskLeases returns what is held for a task. Errors: task_not_found.
	TaskLeases(ctx context.Context, id TaskID, viewer AgentID) (TaskLeases, error)
	// CompleteTask ends a task as done and updates its parents. Completing it
	// again returns the same row. Errors: task_not_found, task_closed, blocked.
	CompleteTask(ctx context.Context, id TaskID, in CompleteInput) (Outcome[Task], error)
	// UpdateTask changes the status, the assignee or the tasks to wait for. An
	// agent that begins to work on a task without assignee becomes the assignee.
	// If the task has an assignee, only that agent, the agent that gave the task
	// and the operator may change the assignee. The agents concerned get a
	// notice. Errors: task_not_found, task_closed, version_conflict,
	// task_taken, blocked.
	UpdateTask(ctx context.Context, id TaskID, in TaskUpdateInput) (Outcome[Task], error)
}

// Status reports on the running hub.
type Status interface {
	Info(ctx context.Context) (Info, error)
	AppStatus(ctx context.Context) (AppStatus, error)
	// Debug and Profile are for the operator only.
	Debug(ctx context.Context, q DebugQuery) (Debug, error)
	// Profile returns a profile in the form of pprof. A CPU profile takes q.For,
	// or less if the hub stops. Errors: limit_reached while another one is taken.
	Profile(ctx context.Context, q ProfileQuery) ([]byte, error)
	// Backup writes everything that the store holds after one commit, for the
	// operator only. What w has after an error is no backup. Errors: limit_reached
	// while another one is made, corrupt_record.
	Backup(ctx context.Context, w io.Writer) error
}

// ShutdownInput asks the hub to stop after DelaySec seconds; absent means 60.
type ShutdownInput struct {
	DelaySec *float64 `json:"delay_sec,omitempty" bounds:"0..3600; default 60"`
}

// Control stops the hub. Operator only.
type Control interface {
	Shutdown(ctx context.Context, in ShutdownInput) (Shutdown, error)
	ShutdownState(ctx context.Context) (Shutdown, error)
	CancelShutdown(ctx context.Context) (Shutdown, error)
}

// Service is the whole agent plane.
type Service interface {
	Sessions
	Channels
	Messages
	Leases
	Tasks
	Runs
	Projects
	Bindings
	Memories
	Searches
	Seats
	Replays
	Attentions
	Records
	Invites
	Watches
	ToolSurfaces
	Spawns
	Asks
	Notifications
	Pauses
	Retirements
	Clearing
	Mutes
	Budgets
	Connections
	Permissions
	Ledgers
	Loops
	Passes
	Users
	Browses
}
