package hub

import (
	"context"
	"time"
)

// SpawnID names one supervised run of a harness command.
type SpawnID string

// SpawnCommand is how the operator lets a harness be started: an argument list,
// never a line for a shell. In all but the first of Args {prompt}, {agent},
// {room}, {role}, {title} and {base_url} stand for what the spawn is asked with.
// Env names the variables of the hub's own environment that the child gets; it
// gets no others but those that tell it who it is and where the hub is, PATH, HOME
// and the locale's.
type SpawnCommand struct {
	Harness    Harness  `json:"harness"`
	Args       []string `json:"args"` // the first is the absolute path of an executable
	Env        []string `json:"env,omitempty"`
	Dir        string   `json:"dir,omitempty"`         // empty: the folder bound to the room first
	TimeoutSec int      `json:"timeout_sec,omitempty"` // 0: DefaultSpawnSec
}

// SpawnAllowance lets a harness be spawned in a room.
type SpawnAllowance struct {
	RoomID   RoomID  `json:"room_id"`
	Harness  Harness `json:"harness"`
	MaxSeats int     `json:"max_seats,omitempty"` // running at once in the room by this allowance; 0: DefaultSpawnSeats
}

// SpawnPolicy is what the operator allows. The first one allows nothing.
type SpawnPolicy struct {
	Commands   []SpawnCommand   `json:"commands"`
	Allow      []SpawnAllowance `json:"allow"`
	MaxRunning int              `json:"max_running"`  // at once, in the whole hub
	MaxPerHour int              `json:"max_per_hour"` // started in any hour, in the whole hub
	MaxDepth   int              `json:"max_depth"`    // 1: who was spawned spawns nobody
	Remote     bool             `json:"remote"`       // agents on other machines may spawn too
	Version    int64            `json:"version"`      // rises with every change
}

// SpawnPolicyInput replaces the policy of the version that it names, which is the
// one that it was made from. Zero numbers are the defaults.
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

// SpawnGrace is how long a child that was asked to end has until it is killed.
const SpawnGrace = 5 * time.Second

// SpawnInput asks for a run of a harness in a room.
type SpawnInput struct {
	RoomID  RoomID  `json:"room_id"`
	Harness Harness `json:"harness"`
	Prompt  string  `json:"prompt,omitempty"`
	By      AgentID `json:"by,omitempty"`
	AgentID AgentID `json:"agent_id,omitempty"` // of the new agent; empty: the hub finds one
	Role    string  `json:"role,omitempty"`
	Title   string  `json:"title,omitempty"`
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
	SpawnStopped  SpawnStatus = "stopped" // by the operator, who asked for it, its time limit or the end of the hub
	SpawnLost     SpawnStatus = "lost"    // the hub died while it ran, and it with the hub
)

// SpawnStatuses lists the states.
func SpawnStatuses() []SpawnStatus {
	return []SpawnStatus{SpawnStarting, SpawnRunning, SpawnExited, SpawnFailed, SpawnStopped, SpawnLost}
}

// Terminal reports whether the spawn has ended.
func (s SpawnStatus) Terminal() bool { return s != SpawnStarting && s != SpawnRunning }

// Spawn is one supervised run. Nothing of its prompt, environment or output
// stands in it.
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
	Stopping   bool        `json:"stopping"` // its end was asked for
	PID        int         `json:"pid"`      // 0: there is none
	ExitCode   *int        `json:"exit_code"`
	Signal     string      `json:"signal"` // that ended it; empty: none, or it is not known
	Reason     string      `json:"reason"` // why it was stopped, failed or is lost
	ArtifactID *ArtifactID `json:"artifact_id"`
	CreatedAt  Time        `json:"created_at"`
	StartedAt  *Time       `json:"started_at"`
	EndedAt    *Time       `json:"ended_at"`
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
	// Spawn starts one and returns it running, or failed where the system refused.
	// room_not_found, spawn_not_allowed, limit_reached, bad_executable, not_bound,
	// session_conflict, forbidden_relay, spawn_unavailable.
	Spawn(ctx context.Context, in SpawnInput) (Outcome[Spawn], error)
	// StopSpawn asks for the end of one; who asked for it and the operator may. One
	// that has ended stays as it is. spawn_not_found, spawn_not_allowed.
	StopSpawn(ctx context.Context, id SpawnID, in SpawnStopInput) (Outcome[Spawn], error)
	// Spawns lists them. room_not_found.
	Spawns(ctx context.Context, q SpawnsQuery) ([]Spawn, Cursor, error)
	// SpawnByID returns one. spawn_not_found.
	SpawnByID(ctx context.Context, id SpawnID) (Spawn, error)
	// SpawnPolicy returns what is allowed. Operator only.
	SpawnPolicy(ctx context.Context) (SpawnPolicy, error)
	// SetSpawnPolicy replaces it. Operator only. version_conflict.
	SetSpawnPolicy(ctx context.Context, in SpawnPolicyInput) (Outcome[SpawnPolicy], error)
}

// SpawnPlan is a process to be: what a runner starts.
type SpawnPlan struct {
	Args    []string          // the first is the absolute path of the executable
	Env     []string          // names of variables that are handed on
	Vars    map[string]string // variables that are set besides
	Dir     string            // absolute
	Timeout time.Duration
}

// SpawnControl is a process that a runner has started.
type SpawnControl struct {
	PID  int
	Stop func(reason string) // asks for its end; may be called more than once and from any goroutine
}

// SpawnEnd is how a process ended. No process of its group is left then.
type SpawnEnd struct {
	ExitCode *int   // nil: it did not exit
	Signal   string // that ended it
	Stopped  string // why it was stopped; empty: it ended by itself
	Output   []byte // what it printed, at most MaxSpawnOutput bytes
}
