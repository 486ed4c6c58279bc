package capsule

import (
	"encoding/json"

	"hubcli/hub"
)

// The lines of a capsule. Members that may be absent are those with omitempty; all others
// stand in every line. Times are UTC with milliseconds, as everywhere in the hub.

// A Number is the place of a message or task in the one numbering of the capsule, from 1.
// A task has the number of the message that opened it, also if that message is not in the
// capsule.
type Number int64

// A Ref names a thing of another kind: a letter for its kind, and its number from 1.
// Letters: r room, d decision, a artifact, k memory, u run.
type Ref string

// Project is project.json.
type Project struct {
	Slug      string   `json:"slug"` // as its first hub had it
	Name      string   `json:"name"`
	CreatedAt hub.Time `json:"created_at"`
	Archived  bool     `json:"archived,omitempty"`
}

// Room is a line of rooms.ndjson, in the order of creation.
type Room struct {
	ID          Ref            `json:"id"`
	Slug        string         `json:"slug"`
	Name        string         `json:"name"`
	Topic       string         `json:"topic"`
	CreatedBy   hub.AgentID    `json:"created_by"` // may be empty
	CreatedAt   hub.Time       `json:"created_at"`
	ForceReason string         `json:"force_reason,omitempty"`
	Locks       hub.LockPolicy `json:"locks"`
	Archived    bool           `json:"archived,omitempty"`
	WithProject bool           `json:"archived_with_project,omitempty"`
	GuardHops   *int           `json:"guard_hops,omitempty"`
}

// Agent is a line of agents.ndjson, by id. Every agent that another line names has one,
// but for the reserved names (hub, system, operator).
type Agent struct {
	ID          hub.AgentID `json:"id"`
	DisplayName string      `json:"display_name,omitempty"`
}

// Decision is a line of decisions.ndjson.
type Decision struct {
	ID        Ref             `json:"id"`
	Room      Ref             `json:"room"`
	Title     string          `json:"title"`
	Note      string          `json:"note"`
	By        hub.AgentID     `json:"by"` // may be empty
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt hub.Time        `json:"created_at"`
}

// Artifact is a line of artifacts.ndjson. Its bytes are the entry blobs/sha256/ with the
// hash, unless LeftOut says why they are not in the capsule; Bytes and SHA256 are those of
// the capsule then 0 and empty.
type Artifact struct {
	ID          Ref         `json:"id"`
	Room        Ref         `json:"room"`
	Title       string      `json:"title"`
	Kind        string      `json:"kind"`
	By          hub.AgentID `json:"by"` // may be empty
	Version     int64       `json:"version"`
	Bytes       int64       `json:"bytes"`
	SHA256      string      `json:"sha256"` // lower case hexadecimal
	ContentType string      `json:"content_type"`
	CreatedAt   hub.Time    `json:"created_at"`
	LeftOut     string      `json:"left_out,omitempty"` // binary
}

// Memory is a line of memories.ndjson.
type Memory struct {
	ID         Ref             `json:"id"`
	Room       Ref             `json:"room,omitempty"` // absent in the project's memory
	Scope      hub.MemoryScope `json:"scope"`
	Key        string          `json:"key,omitempty"`
	Text       string          `json:"text,omitempty"` // absent: the key was forgotten
	Tags       []string        `json:"tags"`
	By         hub.AgentID     `json:"by"` // may be empty
	CreatedAt  hub.Time        `json:"created_at"`
	ReplacedAt *hub.Time       `json:"replaced_at,omitempty"`
	Replaces   Ref             `json:"replaces,omitempty"` // an earlier line
}

// Run is a line of runs.ndjson. The tasks of a run name it.
type Run struct {
	ID        Ref           `json:"id"`
	Room      Ref           `json:"room"`
	Title     string        `json:"title"`
	CreatedBy hub.AgentID   `json:"created_by"` // may be empty
	Status    hub.RunStatus `json:"status"`
	StartedAt hub.Time      `json:"started_at"`
	EndedAt   *hub.Time     `json:"ended_at,omitempty"`
}

// Task is a line of tasks.ndjson, by number. Those it names that are not in the capsule
// are left out. No task is its own ancestor, and none waits for itself.
type Task struct {
	ID          Number         `json:"id"`
	Room        Ref            `json:"room"`
	Parent      Number         `json:"parent,omitempty"` // a smaller number
	Run         Ref            `json:"run,omitempty"`
	Thread      hub.ThreadID   `json:"thread,omitempty"`
	Title       string         `json:"title"`
	Status      hub.TaskStatus `json:"status"`
	Assignee    hub.AgentID    `json:"assignee,omitempty"`
	BlockedBy   []Number       `json:"blocked_by"`
	Version     int64          `json:"version"`
	CreatedBy   hub.AgentID    `json:"created_by"`
	CreatedAt   hub.Time       `json:"created_at"`
	UpdatedAt   hub.Time       `json:"updated_at"`
	CompletedAt *hub.Time      `json:"completed_at,omitempty"`
	Result      Number         `json:"result,omitempty"`  // the message with the result
	Outcome     string         `json:"outcome,omitempty"` // the body of that message, in scope knowledge alone
	Direct      bool           `json:"direct,omitempty"`  // a direct message opened it
	Asked       hub.AgentID    `json:"asked,omitempty"`   // the agent to which that message went
}

// Message is a line of messages/<room>.ndjson, by number.
type Message struct {
	ID          Number           `json:"id"`
	TS          hub.Time         `json:"ts"`
	From        hub.AgentID      `json:"from"`
	To          hub.AgentID      `json:"to,omitempty"`      // set: a direct message
	Channel     hub.ChannelName  `json:"channel,omitempty"` // the label of a direct message; absent: the channel of the room
	Kind        hub.Kind         `json:"kind"`
	Body        string           `json:"body"`
	Attachments []hub.Attachment `json:"attachments,omitempty"`
	ReplyTo     Number           `json:"reply_to,omitempty"` // a smaller number
	Thread      hub.ThreadID     `json:"thread,omitempty"`
	Metadata    json.RawMessage  `json:"metadata,omitempty"` // an object; absent: {}
	ParentTask  Number           `json:"parent_task,omitempty"`
	Authority   hub.Authority    `json:"authority"`
	Assurance   hub.Assurance    `json:"assurance"`
}
