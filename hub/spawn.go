package hub

import "context"

// SpawnID names one supervised run of a harness command.
type SpawnID string

// SpawnCommand is how the operator lets a harness be started: an argument list,
// never a line for a shell. In Args {prompt}, {agent}, {room}, {name} and
// {base_url} stand for what the spawn is asked with. Env names the variables of
// the hub's own environment that the child gets; it gets no others but those that
// tell it who it is and where the hub is, PATH, HOME and the locale's.
type SpawnCommand struct {
	Harness    Harness  `json:"harness"`
	Args       []string `json:"args"`
	Env        []string `json:"env,omitempty"`
	Dir        string   `json:"dir,omitempty"` // empty: the folder bound to the room
	TimeoutSec int      `json:"timeout_sec,omitempty"`
}

// SpawnAllowance lets a harness be spawned in a room.
type SpawnAllowance struct {
	RoomID   RoomID  `json:"room_id"`
	Harness  Harness `json:"harness"`
	MaxSeats int     `json:"max_seats,omitempty"` // running at once in the room by this allowance; 0: the default
}

// SpawnPolicy is what the operator allows. The empty one allows nothing.
type SpawnPolicy struct {
	Commands   []SpawnCommand   `json:"commands"`
	Allow      []SpawnAllowance `json:"allow"`
	MaxRunning int              `json:"max_running"` // in the whole hub; 0: the default
	Version    int64            `json:"version"`
}

// SpawnInput asks for a run of a harness in a room.
type SpawnInput struct {
	RoomID  RoomID  `json:"room_id"`
	Harness Harness `json:"harness"`
	Prompt  string  `json:"prompt"`
	By      AgentID `json:"by,omitempty"`
	AgentID AgentID `json:"agent_id,omitempty"` // of the new agent; empty: the hub finds one
	Role    string  `json:"role,omitempty"`
	Title   string  `json:"title,omitempty"`
}

// SpawnStatus is the state of a spawn.
type SpawnStatus string

// The states of a spawn; running is the only one that is not terminal.
const (
	SpawnRunning SpawnStatus = "running"
	SpawnExited  SpawnStatus = "exited"  // by itself; ExitCode says how
	SpawnFailed  SpawnStatus = "failed"  // it did not start
	SpawnStopped SpawnStatus = "stopped" // by the operator, who asked for it, or its time limit
	SpawnLost    SpawnStatus = "lost"    // the hub ended while it ran, and it with the hub
)

// Spawn is one supervised run.
type Spawn struct {
	SpawnID    SpawnID     `json:"spawn_id"`
	RoomID     RoomID      `json:"room_id"`
	Harness    Harness     `json:"harness"`
	AgentID    AgentID     `json:"agent_id"`
	SeatID     SeatID      `json:"seat_id"`
	By         AgentID     `json:"by"`
	Title      string      `json:"title"`
	Status     SpawnStatus `json:"status"`
	PID        int         `json:"pid"`
	ExitCode   *int        `json:"exit_code"`
	Reason     string      `json:"reason"`
	ArtifactID *ArtifactID `json:"artifact_id"` // the output, once it has ended
	StartedAt  Time        `json:"started_at"`
	EndedAt    *Time       `json:"ended_at"`
}

// SpawnsQuery selects spawns, newest first.
type SpawnsQuery struct {
	RoomID RoomID
	Status SpawnStatus
	Limit  int
}

// Spawns starts harnesses within what the operator allows.
type Spawns interface {
	// Spawn starts one.
	Spawn(ctx context.Context, in SpawnInput) (Outcome[Spawn], error)
	// Spawns lists them.
	Spawns(ctx context.Context, q SpawnsQuery) ([]Spawn, error)
	// SpawnByID returns one.
	SpawnByID(ctx context.Context, id SpawnID) (Spawn, error)
}
