package hub

import (
	"encoding/json"
	"slices"
)

// Channel is a named stream of public messages. Channels are never deleted.
type Channel struct {
	Name      ChannelName     `json:"name" bounds:"as Name"`
	CreatedAt Time            `json:"created_at"`
	CreatedBy AgentID         `json:"created_by" bounds:"or empty"` // Empty if the call named nobody.
	Metadata  json.RawMessage `json:"metadata"`
	RoomID    *RoomID         `json:"room_id"`
	Archived  bool            `json:"archived,omitempty"` // Out of lists, and of polls that name no channel; absent: false.
}

// Session is one registration of an agent.
type Session struct {
	// The public form; the full form only where register or resume returns it.
	SessionID    SessionID       `json:"session_id" bounds:"1.. runes"`
	AgentID      AgentID         `json:"agent_id"`
	DisplayName  string          `json:"display_name"`
	Capabilities []string        `json:"capabilities"`
	Metadata     json.RawMessage `json:"metadata"`
	CreatedAt    Time            `json:"created_at"`
	LastSeen     Time            `json:"last_seen"`
	Active       bool            `json:"active"`
	Incarnation  uint64          `json:"incarnation" bounds:"1.."` // Rises with every session of the agent.
}

// LiveAgent is a live session with what its agent does.
type LiveAgent struct {
	Session
	// away: it has a session, but was silent for a minute and has no call waiting.
	Presence      Presence `json:"presence" bounds:"one of live away"`
	Activity      Activity `json:"activity"`
	ActivitySince *Time    `json:"activity_since"`
	// The tool that its program asks a user about; empty if it does not, or if that is unknown.
	PromptTool string   `json:"prompt_tool"`
	Listener   Listener `json:"listener" bounds:"one of armed none"` // armed: a poll or a watch of the agent waits.

	Details *AgentDetails `json:"details,omitempty"` // Only where the call asks for details.
}

// AgentDetails says where an agent is and what waits for it. It costs a look at the
// messages of a room for each agent, and one at the seats of all rooms.
type AgentDetails struct {
	// That it has a seat in: those it has joined, then those it acts in, the latest first.
	Rooms []RoomID `json:"rooms" bounds:"..20 items; each as Name"`
	// What it has not seen of its latest room and of its direct messages; more are not counted.
	Unread        int      `json:"unread" bounds:"0..1000"`
	CurrentTaskID *TaskID  `json:"current_task_id"` // The task that it works on, if the caller may see it.
	Label         string   `json:"label"`           // That of its watch.
	Watching      []string `json:"watching"`        // The conditions of its watches.
	// Characters of messages that it was given in the last hour, since the hub has started.
	GivenHour int    `json:"given_hour" bounds:"0.."`
	Budget    int    `json:"budget" bounds:"0.."` // Characters that it may be given in an hour; 0: it has no budget.
	Paused    *Pause `json:"paused"`              // The pause that stops it; null: there is none.
	// The mute of what it posts, everywhere if there is one; null: there is none.
	Muted *Mute `json:"muted"`
}

// Bridged reports whether an MCP bridge registered the session. A bridge says
// so in the session's metadata. If the metadata is unreadable, Bridged returns
// true.
func (s *Session) Bridged() bool {
	var meta struct {
		Bridge bool `json:"bridge"`
	}
	return json.Unmarshal(s.Metadata, &meta) != nil || meta.Bridge
}

// SubAgentOf returns the main agent of the sub-agent that has the session, or "". The
// program that registers a sub-agent says so in the session's metadata.
func (s *Session) SubAgentOf() AgentID {
	var meta struct {
		MainAgent AgentID `json:"main_agent"`
	}
	if json.Unmarshal(s.Metadata, &meta) != nil {
		return ""
	}
	return meta.MainAgent
}

// Harness returns the harness that the session's metadata names, or "" if the
// hub does not know it.
func (s *Session) Harness() Harness {
	var meta struct {
		Harness string `json:"harness"`
	}
	if json.Unmarshal(s.Metadata, &meta) != nil {
		return ""
	}
	h, _ := ParseHarness(meta.Harness)
	return h
}

// maxPlaceChars bounds each of the names that Place returns.
const maxPlaceChars = 60

// Place returns where the session began to work, as its bridge has told in the metadata: the name
// of the folder, not its path, and the branch that Git had there. Each may be empty.
func (s *Session) Place() (folder, branch string) {
	var meta struct {
		Folder string `json:"folder"`
		Branch string `json:"branch"`
	}
	if json.Unmarshal(s.Metadata, &meta) != nil {
		return "", ""
	}
	return cutTo(meta.Folder, maxPlaceChars), cutTo(meta.Branch, maxPlaceChars)
}

func cutTo(text string, chars int) string {
	n := 0
	for i := range text {
		if n++; n > chars {
			return text[:i]
		}
	}
	return text
}

// Registered is a session with its secrets, as register and resume answer it.
type Registered struct {
	Session
	ResumeKey string `json:"resume_key" bounds:"1.. runes"` // A secret; resume trades it for a new session.
}

// ClosedSession answers the end of a session.
type ClosedSession struct {
	SessionID SessionID `json:"session_id" bounds:"1.. runes"`
	Deleted   bool      `json:"deleted" bounds:"is true"`
}

// LeaseWaiter is an agent whose call waits for a lease.
type LeaseWaiter struct {
	AgentID AgentID `json:"agent_id"`
	Since   Time    `json:"since"`
}

// MaxLeaseWaiters is how many waiting agents a list shows of each lease.
const MaxLeaseWaiters = 20

// Claim is a logical lease.
type Claim struct {
	ClaimKey      ClaimKey        `json:"claim_key" bounds:"as Name"`
	ThreadID      *ThreadID       `json:"thread_id" bounds:"as string"`
	TaskMessageID *MessageID      `json:"task_message_id"`
	OwnerAgentID  AgentID         `json:"owner_agent_id"`
	ClaimedAt     Time            `json:"claimed_at"`
	ExpiresAt     Time            `json:"expires_at"`
	ReleasedAt    *Time           `json:"released_at"`
	Metadata      json.RawMessage `json:"metadata"`
	Fence         Fence           `json:"fence" bounds:"1.."`                    // Rises with every grant of any lease.
	Waiters       []LeaseWaiter   `json:"waiters,omitempty" bounds:"..20 items"` // In lists alone: the agents that wait for it, the first in line first.
}

// Lock is an advisory lease of a file.
type Lock struct {
	FilePath   string          `json:"file_path" bounds:"1..1024 runes"`
	AgentID    AgentID         `json:"agent_id"`
	LockedAt   Time            `json:"locked_at"`
	ExpiresAt  Time            `json:"expires_at"`
	ReleasedAt *Time           `json:"released_at"`
	Metadata   json.RawMessage `json:"metadata"`
	Fence      Fence           `json:"fence" bounds:"1.."`                    // Rises with every grant of any lease.
	Waiters    []LeaseWaiter   `json:"waiters,omitempty" bounds:"..20 items"` // As those of a claim.
}

// TaskStatus is the state of a task: open → working ↔ input_required → done,
// failed or cancelled.
type TaskStatus string

// The states of a task.
const (
	TaskOpen          TaskStatus = "open"
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskDone          TaskStatus = "done"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// TaskStatuses lists them all in the order of a task's life.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskOpen, TaskWorking, TaskInputRequired, TaskDone, TaskFailed, TaskCancelled}
}

// ParseTaskStatus returns the status with this name. in_progress is another
// name for working, and completed for done.
func ParseTaskStatus(name TaskStatus) (status TaskStatus, ok bool) {
	switch string(name) {
	case "in_progress":
		return TaskWorking, true
	case "completed":
		return TaskDone, true
	}
	return name, slices.Contains(TaskStatuses(), name)
}

// Terminal reports whether a task in this state has ended.
func (s TaskStatus) Terminal() bool {
	return s == TaskDone || s == TaskFailed || s == TaskCancelled
}

// Task is tracked work; it was opened by the message whose id it carries.
type Task struct {
	TaskID       TaskID      `json:"task_id"`
	ParentTaskID *TaskID     `json:"parent_task_id"`
	RunID        *RunID      `json:"run_id"`
	RoomID       *RoomID     `json:"room_id"`
	Channel      ChannelName `json:"channel" bounds:"as Name"`
	ThreadID     *ThreadID   `json:"thread_id" bounds:"as string"`
	Title        string      `json:"title" bounds:"..300 runes"`
	Status       TaskStatus  `json:"status"`
	Assignee     *AgentID    `json:"assignee"`
	OfferedTo    *AgentID    `json:"offered_to"`
	// Only where it is known: the session of the assignee ended then, and that is over two minutes ago. Any agent
	// that sees the task may become its assignee; claims and locks that the assignee took for it pass along.
	AssigneeGoneSince *Time    `json:"assignee_gone_since,omitempty"`
	BlockedBy         []TaskID `json:"blocked_by"`
	// Not ended, and no task that it waits for is open. An open task behind one that has failed or was cancelled is
	// not ready, unless its plan lets it continue, or its creator or the operator has said that it goes on.
	Ready           bool       `json:"ready"`
	Version         int64      `json:"version" bounds:"1.."`
	CreatedBy       AgentID    `json:"created_by"`
	CreatedAt       Time       `json:"created_at"`
	UpdatedAt       Time       `json:"updated_at"`
	CompletedAt     *Time      `json:"completed_at"`
	ResultMessageID *MessageID `json:"result_message_id"`

	// Those of blocked_by that have not ended. Only in answers about one task.
	OpenBlockers []TaskID `json:"open_blockers,omitempty"`
	// The tasks that wait for this one. Only in answers about one task that has not ended.
	Blocks []TaskID `json:"blocks,omitempty"`
}

// ThreadStatus summarizes the tasks of a thread.
type ThreadStatus string

// A thread is waiting while a task of it needs input, open while one has not
// ended (or it has none), completed when all have.
const (
	ThreadCompleted ThreadStatus = "completed"
	ThreadOpen      ThreadStatus = "open"
	ThreadWaiting   ThreadStatus = "waiting"
)

// ThreadSummary counts what the caller may see of a thread.
//
// API: Counts what the caller may see.
type ThreadSummary struct {
	ThreadID         ThreadID     `json:"thread_id"`
	Channel          ChannelName  `json:"channel" bounds:"as Name"` // Of the first visible message.
	RootTaskID       *TaskID      `json:"root_task_id"`
	LatestMessageID  MessageID    `json:"latest_message_id"`
	LatestMessageTS  Time         `json:"latest_message_ts"`
	LatestArtifactID *MessageID   `json:"latest_artifact_id"`
	MessageCount     int64        `json:"message_count" bounds:"0.."`
	TotalTaskCount   int64        `json:"total_task_count" bounds:"0.."`
	OpenTaskCount    int64        `json:"open_task_count" bounds:"0.."` // Not terminal.
	ActiveClaimCount int64        `json:"active_claim_count" bounds:"0.."`
	ActiveLockCount  int64        `json:"active_lock_count" bounds:"0.."`
	Status           ThreadStatus `json:"status"`
}

// Thread is one thread with its rows. Lists are cut, and then More has them. Of tasks, claims
// and locks that are too many bytes, the longest rows are left out.
type Thread struct {
	Thread   ThreadSummary    `json:"thread"`
	Messages []EncodedMessage `json:"messages" bounds:"each as Message"` // The latest, at most 1000 and about 2 MiB.
	// By their ids, at most 1000: those that have not ended, and the oldest of the others. At about 1 MiB the
	// longest rows are left out.
	Tasks  []Task  `json:"tasks"`
	Claims []Claim `json:"claims"` // Those that are held. At about 1 MiB the longest rows are left out.
	// Those that are held and whose metadata names the thread as thread_id; bounded like claims.
	Locks []Lock `json:"locks"`
	More  More   `json:"more,omitempty"`
}
