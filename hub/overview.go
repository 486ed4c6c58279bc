package hub

import "context"

// WaitReason says why an agent waits.
type WaitReason string

// The reasons.
const (
	WaitForAnswer  WaitReason = "ask"     // it asked the human
	WaitForPrompt  WaitReason = "prompt"  // its program asks the human whether a tool may run
	WaitForLease   WaitReason = "lease"   // its call waits for a claim or a lock
	WaitForBlocker WaitReason = "task"    // a task of it waits for a task of the other
	WaitForOffer   WaitReason = "offer"   // it has offered a task
	WaitForMessage WaitReason = "message" // its watch ends with a message of the other
	WaitForIdle    WaitReason = "idle"    // its watch ends when the other is idle
	WaitForTasks   WaitReason = "tasks"   // its watch ends when tasks of the other are done
)

// Wait says that one agent waits for another, or for the human.
//
// API: One agent waits for another, or for the operator.
type Wait struct {
	Waiter AgentID    `json:"waiter"`
	For    AgentID    `json:"for"`
	Reason WaitReason `json:"reason"`
	What   string     `json:"what"`  // The lease, task, tool, question or condition.
	Since  *Time      `json:"since"` // Null: not known.
	TaskID TaskID     `json:"task_id,omitempty" bounds:"1.."`
}

// TroubleKind says what sort of trouble there is.
type TroubleKind string

// The kinds of trouble, the worst first.
const (
	TroubleHub     TroubleKind = "hub"     // the hub itself is not well
	TroubleCircle  TroubleKind = "circle"  // agents wait for each other
	TroubleStuck   TroubleKind = "stuck"   // a task waits for one that failed or was cancelled
	TroublePrompt  TroubleKind = "prompt"  // an agent is at a prompt for long
	TroubleAsleep  TroubleKind = "asleep"  // an agent sleeps over direct messages
	TroubleAway    TroubleKind = "away"    // an agent that is not there has a task under way
	TroubleExpires TroubleKind = "expires" // a lease that others wait for ends soon
)

// Trouble is something that a human should know of, in one line.
//
// API: Something that the operator should know of.
type Trouble struct {
	Kind   TroubleKind `json:"kind"`
	Text   string      `json:"text"`   // One line. It may quote agents.
	Agents []AgentID   `json:"agents"` // That it is about.
	TaskID TaskID      `json:"task_id,omitempty" bounds:"1.."`
}

// Overview is what follows from the rows of a whole hub: what is wrong, and which agent
// waits for which.
type Overview struct {
	At      Time        `json:"at"`
	Trouble []Trouble   `json:"trouble"` // The worst first; they end at about 700 KB.
	Waits   []Wait      `json:"waits"`   // Those for the operator first; they end at about 700 KB.
	Circles [][]AgentID `json:"circles"` // Agents that wait for each other.
	Cut     []string    `json:"cut"`     // Lists that have more rows than were looked at.
	More    More        `json:"more,omitempty"`
}

// Overviews looks at a whole hub.
type Overviews interface {
	// Overview reads all lists and derives what follows from them. The lists are not of one
	// moment. Operator only.
	Overview(ctx context.Context) (Overview, error)
}
