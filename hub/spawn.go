package hub

import (
	"context"
	"time"
)

// SpawnID names one supervised run of a harness command.
type SpawnID string

// SpawnCommand is the command with which the operator allows a harness to be
// started: an argument list, never a line for a shell. In all arguments but the
// first, {prompt}, {agent}, {room}, {role}, {title} and {base_url} are replaced
// by the values of the spawn. Env names variables of the hub's environment that
// the child gets, and Connection a connection whose key it gets. Besides those it
// gets only PATH, HOME, the locale's variables, and those that tell it its name and
// the hub's address.
type SpawnCommand struct {
	Harness    Harness  `json:"harness"`
	Args       []string `json:"args"` // the first is the absolute path of an executable
	Env        []string `json:"env,omitempty"`
	Dir        string   `json:"dir,omitempty"`         // empty: the folder bound to the room first
	TimeoutSec int      `json:"timeout_sec,omitempty"` // 0: DefaultSpawnSec
	Connection string   `json:"connection,omitempty"`  // stored as the id; empty: none
}

// SpawnAllowance lets a harness be spawned in a room.
type SpawnAllowance struct {
	RoomID   RoomID  `json:"room_id"`
	Harness  Harness `json:"harness"`
	MaxSeats int     `json:"max_seats,omitempty"` // running at once in the room by this allowance; 0: DefaultSpawnSeats
}

// SpawnPolicy is what the operator allows. The initial policy allows nothing.
type SpawnPolicy struct {
	Commands   []SpawnCommand   `json:"commands"`
	Allow      []SpawnAllowance `json:"allow"`
	MaxRunning int              `json:"max_running"`  // at once, in the whole hub
	MaxPerHour int              `json:"max_per_hour"` // started in any hour, in the whole hub
	MaxDepth   int              `json:"max_depth"`    // 1: a spawned agent may not spawn others
	Remote     bool             `json:"remote"`       // agents on other machines may spawn too
	Version    int64            `json:"version"`      // rises with every change
}

// SpawnPolicyInput replaces the policy. Its version is that of the policy it
// was derived from. Zero means the default.
type SpawnPolicyInput struct {
	Commands   []SpawnCommand   `json:"commands,omitempty"`
	Allow      []SpawnAllowance `json:"allow,omitempty"`
	MaxRunning int              `json:"max_running,omitempty"`
	MaxPerHour int              `json:"max_per_hour,omitempty"`
	MaxDepth   int              `json:"max_depth,omitempty"`
	Remote     bool             `json:"remote,omitempty"`
	Version    int64            `json:"version"`
}

// Limits of spawns.
const (
	MaxSpawnCommands    = 64 // of a policy
	MaxSpawnAllowances  = 1_000
	MaxSpawnArgs        = 256
	MaxSpawnArgBytes    = 120_000 // of one argument as it is given to the child; Linux takes 131,071
	MaxSpawnEnv         = 64      // names of variables
	MaxSpawnPromptBytes = 100_000
	MaxSpawnRunning     = 64
	MaxSpawnsPerHour    = 10_000
	MaxSpawnDepth       = 8
	MaxSpawnSec         = 86_400
	MaxSpawnOutput      = 1 << 20 // bytes of the output that are kept, its beginning and its end

	DefaultSpawnSeats   = 4
	DefaultSpawnRunning = 16
	DefaultSpawnsHour   = 60
	DefaultSpawnDepth   = 1
	DefaultSpawnSec     = 3_600
)

// SpawnGrace is the time between the request to end and the kill of a child.
const SpawnGrace = 5 * time.Second

// SpawnInput asks for a run of a harness in a room. Only the operator names a connection:
// by its id, its label or the beginning of an id.
type SpawnInput struct {
	RoomID  RoomID  `json:"room_id"`
	Harness Harness `json:"harness"`
	Prompt  string  `json:"prompt,omitempty"`
	By      AgentID `json:"by,omitempty"`
	AgentID AgentID `json:"agent_id,omitempty"` // id of the new agent; empty: the hub chooses one
	Role    string  `json:"role,omitempty"`
	Title   string  `json:"title,omitempty"`

	Connection string `json:"connection,omitempty"` // empty: that of the command
}

// SpawnStopInput asks for the end of a spawn.
type SpawnStopInput struct {
	AgentID AgentID `json:"agent_id,omitempty"`
}

// SpawnStatus is the state of a spawn.
type SpawnStatus string

// The states of a spawn; starting and running are the only ones that are not
// terminal.
const (
	SpawnStarting SpawnStatus = "starting" // decided; there is no process yet
	SpawnRunning  SpawnStatus = "running"
	SpawnExited   SpawnStatus = "exited"  // by itself; ExitCode or Signal says how
	SpawnFailed   SpawnStatus = "failed"  // it did not start
	SpawnStopped  SpawnStatus = "stopped" // by the operator, the requester, its time limit or the end of the hub
	SpawnLost     SpawnStatus = "lost"    // the hub died while it ran, and it died with the hub
)

// SpawnStatuses lists the states.
func SpawnStatuses() []SpawnStatus {
	return []SpawnStatus{SpawnStarting, SpawnRunning, SpawnExited, SpawnFailed, SpawnStopped, SpawnLost}
}

// Terminal reports whether the spawn has ended.
func (s SpawnStatus) Terminal() bool { return s != SpawnStarting && s != SpawnRunning }

// Spawn is one supervised run. It holds nothing of the prompt, environment or
// output.
type Spawn struct {
	SpawnID    SpawnID     `json:"spawn_id"`
	RoomID     RoomID      `json:"room_id"`
	Harness    Harness     `json:"harness"`
	AgentID    AgentID     `json:"agent_id"`
	SeatID     SeatID      `json:"seat_id"` // empty while it has none
	By         AgentID     `json:"by"`
	Role       string      `json:"role"`
	Title      string      `json:"title"`
	Depth      int         `json:"depth"` // 1: asked for by an agent that was not spawned
	Status     SpawnStatus `json:"status"`
	Stopping   bool        `json:"stopping"` // its end was requested
	PID        int         `json:"pid"`      // 0: there is none
	ExitCode   *int        `json:"exit_code"`
	Signal     string      `json:"signal"` // the signal that ended it; empty: none or unknown
	Reason     string      `json:"reason"` // why it was stopped, failed or is lost
	ArtifactID *ArtifactID `json:"artifact_id"`
	CreatedAt  Time        `json:"created_at"`
	StartedAt  *Time       `json:"started_at"`
	EndedAt    *Time       `json:"ended_at"`

	ConnectionID ConnectionID `json:"connection_id,omitempty"` // whose key the child gets; empty: none
}

// SpawnKey is the key of a connection that a child gets in a variable.
type SpawnKey struct {
	ConnectionID ConnectionID
	Variable     string
	Key          Secret
}

// SpawnsQuery selects spawns, newest first; zero fields do not select. Active
// selects those that have not ended.
type SpawnsQuery struct {
	RoomID RoomID
	Status SpawnStatus
	Active bool
	Before SpawnID // only those that are older than this one
	Cursor Cursor
	Limit  int
}

// Spawns starts harnesses within what the operator allows.
type Spawns interface {
	// Spawn starts a run and returns it running, or failed if the system
	// refused to start it. Errors: room_not_found, spawn_not_allowed,
	// limit_reached, bad_executable, not_bound, session_conflict,
	// forbidden_relay, spawn_unavailable, operator_required,
	// connection_not_found, ambiguous, credential_unresolved.
	Spawn(ctx context.Context, in SpawnInput) (Outcome[Spawn], error)
	// StopSpawn requests the end of a spawn. Its requester and the operator may
	// do so. A spawn that has ended stays as it is. Errors: spawn_not_found,
	// spawn_not_allowed.
	StopSpawn(ctx context.Context, id SpawnID, in SpawnStopInput) (Outcome[Spawn], error)
	// Spawns lists spawns. Errors: room_not_found.
	Spawns(ctx context.Context, q SpawnsQuery) ([]Spawn, Cursor, error)
	// SpawnByID returns one spawn. Errors: spawn_not_found.
	SpawnByID(ctx context.Context, id SpawnID) (Spawn, error)
	// SpawnPolicy returns the policy. Operator only.
	SpawnPolicy(ctx context.Context) (SpawnPolicy, error)
	// SetSpawnPolicy replaces the policy. Operator only. Errors:
	// version_conflict, room_not_found, connection_not_found, ambiguous.
	SetSpawnPolicy(ctx context.Context, in SpawnPolicyInput) (Outcome[SpawnPolicy], error)
}

// SpawnPlan describes a process that a runner is to start.
type SpawnPlan struct {
	Args    []string          // the first is the absolute path of the executable
	Env     []string          // names of variables that the child inherits
	Vars    map[string]string // additional variables
	Secrets map[string]Secret // more of them, which the runner leaves out of the output
	Dir     string            // absolute
	Timeout time.Duration
}

// SpawnControl is a process that a runner has started.
type SpawnControl struct {
	PID  int
	Stop func(reason string) // requests its end; may be called more than once and from any goroutine
}

// SpawnEnd is how a process ended. No process of its group is left then.
type SpawnEnd struct {
	ExitCode *int   // nil: it did not exit
	Signal   string // that ended it
	Stopped  string // why it was stopped; empty: it ended by itself
	Output   []byte // what it printed, at most MaxSpawnOutput bytes
}
