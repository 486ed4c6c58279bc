package hub

import "time"

// The bounds of the lists of Debug.
const (
	MaxDebugOwners  = 1000
	MaxDebugParked  = 200
	MaxDebugRecords = 100
	MaxProfileTime  = 30 * time.Second
)

// Debug shows what the hub does at one moment, for an operator who looks for
// what hangs. It holds no text of an agent, no key and no secret. Each list is
// bounded; the count beside it is of all.
type Debug struct {
	At Time `json:"at"`

	OwnerCount   int          `json:"owner_count" bounds:"0.."`     // In memory or in quarantine.
	RetiredCount int64        `json:"retired_count" bounds:"0.."`   // Owners that left the memory since the start of the hub.
	Owners       []DebugOwner `json:"owners" bounds:"..1000 items"` // Those in quarantine first, then by commands.

	ParkedCount int          `json:"parked_count" bounds:"0.."`
	Parked      []ParkedCall `json:"parked" bounds:"..200 items"` // The longest first.

	NumberedSeq    Seq           `json:"numbered_seq" bounds:"0.."` // The last record that has a number.
	DurableSeq     Seq           `json:"durable_seq" bounds:"0.."`  // The last record that is on the disk and visible.
	PendingCount   int           `json:"pending_count" bounds:"0.."`
	PendingAnswers int           `json:"pending_answers" bounds:"0.."` // Answers without a record that wait for earlier records.
	Pending        []DebugRecord `json:"pending" bounds:"..100 items"` // The oldest first.
	Recent         []DebugRecord `json:"recent" bounds:"..100 items"`  // The last durable records; the latest first.

	Views      map[string]int `json:"views" bounds:"each 0.."` // How many entries each view holds.
	Goroutines int            `json:"goroutines" bounds:"1.."`
	// The stacks of all goroutines as text; equal ones stand together. At most 1 MiB.
	Stacks string      `json:"stacks,omitempty"`
	Heap   HeapFigures `json:"heap"`
}

// OwnerState says what an owner does.
type OwnerState string

// The states of an owner.
const (
	OwnerIdle        OwnerState = "idle"
	OwnerBusy        OwnerState = "busy"        // commands wait for it or for the disk
	OwnerQuarantined OwnerState = "quarantined" // it refuses every command
)

// DebugOwner is one owner in memory.
type DebugOwner struct {
	Kind     string     `json:"kind" bounds:"1.. runes"`
	Name     string     `json:"name"` // Empty: the kind has one owner.
	State    OwnerState `json:"state"`
	Commands int        `json:"commands" bounds:"0.."` // Admitted and not ended.
	Bytes    int64      `json:"bytes" bounds:"0.."`    // Size of these commands.
	LastSeq  Seq        `json:"last_seq" bounds:"0.."` // Its last record that the process knows of; 0: none.
}

// ParkedKind says what a parked call waits for.
type ParkedKind string

// The kinds of parked calls.
const (
	ParkedPoll  ParkedKind = "poll"
	ParkedWatch ParkedKind = "watch"
	ParkedLease ParkedKind = "lease"
)

// ParkedCall is a call that waits inside the hub.
type ParkedCall struct {
	Kind    ParkedKind `json:"kind"`
	AgentID AgentID    `json:"agent_id" bounds:"as string"` // Empty: the call names no agent.
	Since   Time       `json:"since"`
}

// RecordState says how far a record is on its way to the disk.
type RecordState string

// The states of a record, in their order.
const (
	RecordFilling    RecordState = "filling"    // numbered; its owner still applies it
	RecordReady      RecordState = "ready"      // it waits for the commit before it
	RecordCommitting RecordState = "committing" // it is in the commit that runs
	RecordDurable    RecordState = "durable"
)

// DebugRecord is a record without its content.
type DebugRecord struct {
	Seq   Seq    `json:"seq" bounds:"1.."`
	At    Time   `json:"at"`
	Owner string `json:"owner" bounds:"1.. runes"`
	// filling: its owner still applies it; ready: it waits for the commit before it.
	State     RecordState `json:"state"`
	FactTypes []string    `json:"fact_types"` // Of the first facts, each type once.
	Facts     int         `json:"facts" bounds:"0.."`
	Messages  int         `json:"messages" bounds:"0.."`
	Rows      int         `json:"rows" bounds:"0.."`  // 0 while filling.
	Bytes     int         `json:"bytes" bounds:"0.."` // Roughly; 0 while filling.
}

// HeapFigures are the figures of Go's memory, in bytes and numbers.
type HeapFigures struct {
	LiveBytes  int64 `json:"live_bytes" bounds:"0.."` // Of objects, dead ones that are not swept yet included.
	Objects    int64 `json:"objects" bounds:"0.."`
	GoalBytes  int64 `json:"goal_bytes" bounds:"0.."`  // Heap size at which the next collection ends.
	TotalBytes int64 `json:"total_bytes" bounds:"0.."` // Mapped by the Go runtime.
	GCCycles   int64 `json:"gc_cycles" bounds:"0.."`
}

// DebugQuery says what Debug shows. Stacks adds the stacks of all goroutines.
type DebugQuery struct {
	Stacks bool
}

// ProfileKind names a profile of the process.
type ProfileKind string

// The profiles.
const (
	ProfileHeap      ProfileKind = "heap"
	ProfileGoroutine ProfileKind = "goroutine"
	ProfileCPU       ProfileKind = "cpu"
)

// ProfileKinds lists them all.
func ProfileKinds() []ProfileKind { return []ProfileKind{ProfileHeap, ProfileGoroutine, ProfileCPU} }

// ProfileQuery asks for a profile. For is how long a CPU profile samples, up to
// MaxProfileTime.
type ProfileQuery struct {
	Kind ProfileKind
	For  time.Duration
}
