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
	Harness Harness `json:"harness" bounds:"1..64 runes"` // A harness, by its name or another name of it.
	// The absolute path of the executable, and its arguments; in these {prompt}, {role}, {title}, {agent}, {room}
	// and {base_url} stand for what the spawn is asked with.
	Args []string `json:"args" bounds:"1..MaxSpawnArgs items; each ..MaxSpawnArgBytes runes"`
	// Names of variables of the hub's environment that the child gets.
	Env []string `json:"env,omitempty" bounds:"..MaxSpawnEnv items; each like ^[A-Za-z_][A-Za-z0-9_]{0,127}$"`
	// Where it runs, an absolute path; left out: in the folder that was bound to the room first.
	Dir        string `json:"dir,omitempty"`
	TimeoutSec int    `json:"timeout_sec,omitempty" bounds:"1..MaxSpawnSec"` // 3600 if left out.
	// The child gets the key of this connection in its variable. Id, label or the beginning of an id; kept as the
	// id.
	Connection string `json:"connection,omitempty" bounds:"..MaxConnectionLabel runes"`
}

// SpawnAllowance lets a harness be spawned in a room.
type SpawnAllowance struct {
	RoomID   RoomID  `json:"room_id" bounds:"as Name"`
	Harness  Harness `json:"harness" bounds:"1..64 runes"`
	MaxSeats int     `json:"max_seats,omitempty" bounds:"1..MaxSpawnRunning"` // How many may run at once in the room by this; 4 if left out.
}

// SpawnPolicy is what the operator allows. The initial policy allows nothing.
type SpawnPolicy struct {
	Commands   []SpawnCommand   `json:"commands"`
	Allow      []SpawnAllowance `json:"allow"`
	MaxRunning int              `json:"max_running" bounds:"1.."`  // At once, in the whole hub.
	MaxPerHour int              `json:"max_per_hour" bounds:"1.."` // Started in any hour, in the whole hub.
	MaxDepth   int              `json:"max_depth" bounds:"1.."`    // With 1 an agent that was spawned spawns nobody.
	Remote     bool             `json:"remote"`                    // Agents on other machines may spawn too.
	Version    int64            `json:"version" bounds:"0.."`      // 0 until the first change.
}

// SpawnPolicyInput replaces the policy. Its version is that of the policy it
// was derived from. Zero means the default.
type SpawnPolicyInput struct {
	Commands   []SpawnCommand   `json:"commands,omitempty" bounds:"..MaxSpawnCommands items"`
	Allow      []SpawnAllowance `json:"allow,omitempty" bounds:"..MaxSpawnAllowances items"`
	MaxRunning int              `json:"max_running,omitempty" bounds:"1..MaxSpawnRunning; default 16"`
	MaxPerHour int              `json:"max_per_hour,omitempty" bounds:"1..MaxSpawnsPerHour; default 60"`
	MaxDepth   int              `json:"max_depth,omitempty" bounds:"1..MaxSpawnDepth; default 1"`
	Remote     bool             `json:"remote,omitempty"`
	Version    int64            `json:"version" bounds:"0.."` // Of the policy that this one was made from.
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
	RoomID  RoomID  `json:"room_id" bounds:"name 1..MaxNameChars"`
	Harness Harness `json:"harness" bounds:"1..64 runes"`
	// What the new agent is to do: at most 100000 bytes. Needed if the command takes one.
	Prompt string `json:"prompt,omitempty"`
	// The agent that asks and is told of the end; needed unless a session or the operator token says it.
	By      AgentID `json:"by,omitempty"`
	AgentID AgentID `json:"agent_id,omitempty"` // Of the new agent; left out, the hub finds one.
	Role    string  `json:"role,omitempty" bounds:"name ..MaxRoleChars"`
	Title   string  `json:"title,omitempty" bounds:"name ..MaxTitleChars"`

	// Whose key the child gets: id, label or the beginning of an id; left out, that of the command. Only the
	// operator may name one.
	Connection string `json:"connection,omitempty" bounds:"name ..MaxConnectionLabel"`
}

// SpawnStopInput asks for the end of a spawn.
type SpawnStopInput struct {
	AgentID AgentID `json:"agent_id,omitempty"` // The agent that asks; needed unless a session or the operator token says it.
}

// SpawnStatus is the state of a spawn.
//
// API: starting and running have not ended. exited: by itself; stopped: by the operator, the agent that asked for it, its
// time limit or the end of the hub; lost: the hub died while it ran.
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
	SpawnID    SpawnID     `json:"spawn_id" bounds:"like ^sp_[0-9a-z]+$"`
	RoomID     RoomID      `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Harness    Harness     `json:"harness"`
	AgentID    AgentID     `json:"agent_id"`                                  // Under which the child may register; it has it as HUB_AGENT.
	SeatID     SeatID      `json:"seat_id" bounds:"like ^(seat_[0-9a-z]+)?$"` // Empty while it has none.
	By         AgentID     `json:"by"`                                        // Who asked for it and is told of its end.
	Role       string      `json:"role" bounds:"..64 runes"`                  // May be empty.
	Title      string      `json:"title" bounds:"..300 runes"`                // May be empty.
	Depth      int         `json:"depth" bounds:"1.."`                        // 1 if the agent that asked for it was not spawned itself.
	Status     SpawnStatus `json:"status"`
	Stopping   bool        `json:"stopping"`         // Its end was asked for.
	PID        int         `json:"pid" bounds:"0.."` // 0 if there is no process.
	ExitCode   *int        `json:"exit_code"`
	Signal     string      `json:"signal"`      // That ended it; may be empty.
	Reason     string      `json:"reason"`      // Why it was stopped, failed or is lost; may be empty.
	ArtifactID *ArtifactID `json:"artifact_id"` // What it printed, once it has ended and if that is anything.
	CreatedAt  Time        `json:"created_at"`
	StartedAt  *Time       `json:"started_at"`
	EndedAt    *Time       `json:"ended_at"`

	ConnectionID ConnectionID `json:"connection_id,omitempty" bounds:"like ^cn_[0-9a-z]+$"` // Of the connection whose key the child gets; left out: none.
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
