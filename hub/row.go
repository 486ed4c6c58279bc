package hub

import (
	"encoding/json"
	"slices"
)

// Channel is a named stream of public messages. Channels are never deleted.
type Channel struct {
	Name      ChannelName     `json:"name"`
	CreatedAt Time            `json:"created_at"`
	CreatedBy AgentID         `json:"created_by"`
	Metadata  json.RawMessage `json:"metadata"`
	RoomID    *RoomID         `json:"room_id"`
	Archived  bool            `json:"archived,omitempty"` // out of lists, and of polls that name no channel
}

// Session is one registration of an agent.
type Session struct {
	SessionID    SessionID       `json:"session_id"` // public form, except where register or resume return it
	AgentID      AgentID         `json:"agent_id"`
	DisplayName  string          `json:"display_name"`
	Capabilities []string        `json:"capabilities"`
	Metadata     json.RawMessage `json:"metadata"`
	CreatedAt    Time            `json:"created_at"`
	LastSeen     Time            `json:"last_seen"`
	Active       bool            `json:"active"`
	Incarnation  uint64          `json:"incarnation"` // increases with every session of the agent
}

// LiveAgent is a live session with what its agent does.
type LiveAgent struct {
	Session
	Presence      Presence `json:"presence"` // live or away
	Activity      Activity `json:"activity"`
	ActivitySince *Time    `json:"activity_since"`
	PromptTool    string   `json:"prompt_tool"` // that its program asks for; empty: not at_prompt, or unknown
	Listener      Listener `json:"listener"`    // armed or none

	Details *AgentDetails `json:"details,omitempty"` // only in answers to a query with Details
}

// AgentDetails says where an agent is and what waits for it. It costs a look at the
// messages of a room for each agent, and one at the seats of all rooms.
type AgentDetails struct {
	Rooms         []RoomID `json:"rooms"`           // that it has a seat in, at most 20: those it has joined, then those it acts in, the latest first
	Unread        int      `json:"unread"`          // of its latest room and directly, counted up to MaxUnread
	CurrentTaskID *TaskID  `json:"current_task_id"` // that it works on, if the caller may see it
	Label         string   `json:"label"`           // of its watch
	Watching      []string `json:"watching"`        // the conditions of its watches
	GivenHour     int      `json:"given_hour"`      // characters of messages that it was given in the last hour
	Budget        int      `json:"budget"`          // characters that it may be given in an hour; 0: it has no budget
	Paused        *Pause   `json:"paused"`          // the pause that stops it; nil: there is none
	Muted         *Mute    `json:"muted"`           // the mute of what it posts, everywhere if there is one; nil: there is none
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
	ResumeKey string `json:"resume_key"`
}

// ClosedSession answers the end of a session.
type ClosedSession struct {
	SessionID SessionID `json:"session_id"`
	Deleted   bool      `json:"deleted"`
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
	ClaimKey      ClaimKey        `json:"claim_key"`
	ThreadID      *ThreadID       `json:"thread_id"`
	TaskMessageID *MessageID      `json:"task_message_id"`
	OwnerAgentID  AgentID         `json:"owner_agent_id"`
	ClaimedAt     Time            `json:"claimed_at"`
	ExpiresAt     Time            `json:"expires_at"`
	ReleasedAt    *Time           `json:"released_at"`
	Metadata      json.RawMessage `json:"metadata"`
	Fence         Fence           `json:"fence"`
	Waiters       []LeaseWaiter   `json:"waiters,omitempty"` // in lists alone: the agents that wait for it, the first in line first
}

// Lock is an advisory lease of a file.
type Lock struct {
	FilePath   string          `json:"file_path"`
	AgentID    AgentID         `json:"agent_id"`
	LockedAt   Time            `json:"locked_at"`
	ExpiresAt  Time            `json:"expires_at"`
	ReleasedAt *Time           `json:"released_at"`
	Metadata   json.RawMessage `json:"metadata"`
	Fence      Fence           `json:"fence"`
	Waiters    []LeaseWaiter   `json:"waiters,omitempty"` // as those of a claim
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
	Channel      ChannelName `json:"channel"`
	ThreadID     *ThreadID   `json:"thread_id"`
	Title        string      `json:"title"`
	Status       TaskStatus  `json:"status"`
	Assignee     *AgentID    `json:"assignee"`
	OfferedTo    *AgentID    `json:"offered_to"`
	// AssigneeGoneSince is when the last session of the assignee ended, once it has been gone for
	// TaskLeftAfter. Another agent may take the task over then.
	AssigneeGoneSince *Time      `json:"assignee_gone_since,omitempty"`
	BlockedBy         []TaskID   `json:"blocked_by"`
	Ready             bool       `json:"ready"` // not terminal, and nothing it waits for is open
	Version           int64      `json:"version"`
	CreatedBy         AgentID    `json:"created_by"`
	CreatedAt         Time       `json:"created_at"`
	UpdatedAt         Time       `json:"updated_at"`
	CompletedAt       *Time      `json:"completed_at"`
	ResultMessageID   *MessageID `json:"result_message_id"`

	// These two are only in answers about one task, and name only tasks that the
	// caller may see.
	OpenBlockers []TaskID `json:"open_blockers,omitempty"` // those of BlockedBy that have not ended
	Blocks       []TaskID `json:"blocks,omitempty"`        // the tasks that wait for this one, while it has not ended
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
type ThreadSummary struct {
	ThreadID         ThreadID     `json:"thread_id"`
	Channel          ChannelName  `json:"channel"` // of the first visible message
	RootTaskID       *TaskID      `json:"root_task_id"`
	LatestMessageID  MessageID    `json:"latest_message_id"`
	LatestMessageTS  Time         `json:"latest_message_ts"`
	LatestArtifactID *MessageID   `json:"latest_artifact_id"`
	MessageCount     int64        `json:"message_count"`
	TotalTaskCount   int64        `json:"total_task_count"`
	OpenTaskCount    int64        `json:"open_task_count"` // not terminal
	ActiveClaimCount int64        `json:"active_claim_count"`
	ActiveLockCount  int64        `json:"active_lock_count"`
	Status           ThreadStatus `json:"status"`
}

// Thread is one thread with its rows. Lists are cut, and then More has them. Of tasks, claims
// and locks that are too many bytes, the longest rows are left out.
type Thread struct {
	Thread   ThreadSummary    `json:"thread"`
	Messages []EncodedMessage `json:"messages"` // the latest
	Tasks    []Task           `json:"tasks"`    // the oldest
	Claims   []Claim          `json:"claims"`
	Locks    []Lock           `json:"locks"`
	More     More             `json:"more,omitempty"`
}
