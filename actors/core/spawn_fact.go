package core

import (
	"encoding/json"
	"maps"
	"slices"

	"hubcli/hub"
)

// The facts of spawns: 820 to 839.
const (
	factSpawnPolicySet FactType = 820
	factSpawnRequested FactType = 821
	factSpawnStarted   FactType = 822
	factSpawnStopAsked FactType = 823
	factSpawnEnded     FactType = 824
)

func spawnFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factSpawnPolicySet: func() Fact { return &SpawnPolicySet{} },
		factSpawnRequested: func() Fact { return &SpawnRequested{} },
		factSpawnStarted:   func() Fact { return &SpawnStarted{} },
		factSpawnStopAsked: func() Fact { return &SpawnStopAsked{} },
		factSpawnEnded:     func() Fact { return &SpawnEnded{} },
	}
}

// SpawnPolicySet says what is allowed from now on.
type SpawnPolicySet struct {
	Policy hub.SpawnPolicy `json:"policy"`
}

// SpawnRequested says that a harness is to be started. The prompt is not
// stored: it goes to the process only.
type SpawnRequested struct {
	Room    hub.RoomID  `json:"room"`
	Harness hub.Harness `json:"harness"`
	Agent   hub.AgentID `json:"agent"`
	By      hub.AgentID `json:"by"`
	Role    string      `json:"role,omitempty"`
	Title   string      `json:"title,omitempty"`
	Depth   int         `json:"depth"`

	Connection hub.ConnectionID `json:"connection,omitempty"`
}

// SpawnStarted says that the process of a spawn runs.
type SpawnStarted struct {
	Spawn hub.SpawnID `json:"spawn"`
	Seat  hub.SeatID  `json:"seat,omitempty"`
	PID   int         `json:"pid"`
}

// SpawnStopAsked says that an agent or the operator asked to stop a spawn.
type SpawnStopAsked struct {
	Spawn hub.SpawnID `json:"spawn"`
	By    hub.AgentID `json:"by,omitempty"` // empty: the operator
}

// SpawnEnded says how a spawn has ended.
type SpawnEnded struct {
	Spawn    hub.SpawnID     `json:"spawn"`
	Status   hub.SpawnStatus `json:"status"`
	ExitCode *int            `json:"exit_code,omitempty"`
	Signal   string          `json:"signal,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Artifact *hub.ArtifactID `json:"artifact,omitempty"`
}

// FactType implements Fact.
func (*SpawnPolicySet) FactType() FactType { return factSpawnPolicySet }

// FactType implements Fact.
func (*SpawnRequested) FactType() FactType { return factSpawnRequested }

// FactType implements Fact.
func (*SpawnStarted) FactType() FactType { return factSpawnStarted }

// FactType implements Fact.
func (*SpawnStopAsked) FactType() FactType { return factSpawnStopAsked }

// FactType implements Fact.
func (*SpawnEnded) FactType() FactType { return factSpawnEnded }

// spawn returns the spawn that the fact creates at a position.
func (f *SpawnRequested) spawn(at Position) hub.Spawn {
	return hub.Spawn{
		SpawnID: hub.SpawnID(IDAt(PrefixSpawn, at.Seq)), RoomID: f.Room, Harness: f.Harness, AgentID: f.Agent, By: f.By,
		Role: f.Role, Title: f.Title, Depth: f.Depth, Status: hub.SpawnStarting, CreatedAt: at.Now.Wall,
		ConnectionID: f.Connection,
	}
}

// started returns the row after the fact.
func (f *SpawnStarted) started(row hub.Spawn, at Position) hub.Spawn {
	row.Status, row.PID, row.SeatID, row.StartedAt = hub.SpawnRunning, f.PID, f.Seat, &at.Now.Wall
	return row
}

// stopping returns the row after the fact.
func (f *SpawnStopAsked) stopping(row hub.Spawn) hub.Spawn {
	row.Stopping = true
	if row.Reason = "the operator stopped it"; f.By != "" && f.By != hub.AgentOperator {
		row.Reason = string(f.By) + " stopped it"
	}
	return row
}

// ended returns the row after the fact.
func (f *SpawnEnded) ended(row hub.Spawn, at Position) hub.Spawn {
	row.Status, row.ExitCode, row.Signal, row.ArtifactID = f.Status, f.ExitCode, f.Signal, f.Artifact
	row.Reason, row.EndedAt, row.Stopping, row.PID = f.Reason, &at.Now.Wall, false, 0
	return row
}

// change replaces the row of a live spawn. It leaves an ended spawn alone.
func (s *Spawns) change(id hub.SpawnID, next func(hub.Spawn) hub.Spawn, rows RowSink) {
	if row, ok := s.live[id]; ok {
		s.put(next(row), rows)
	}
}

// put keeps a spawn while it is live and writes its row. If the set of live
// spawns changes, it also writes the row from which the owner is loaded.
func (s *Spawns) put(row hub.Spawn, rows RowSink) {
	_, was := s.live[row.SpawnID]
	if s.live[row.SpawnID] = row; row.Status.Terminal() {
		delete(s.live, row.SpawnID)
	}
	seq, _ := SeqOf(PrefixSpawn, string(row.SpawnID))
	rows.Put(TableSpawn, SeqKey(seq), mustJSON(row))
	if !was {
		rows.Put(TableSpawnByRoom, OwnedKey(row.RoomID, SeqKey(seq)), nil)
	}
	if was == row.Status.Terminal() { // it has begun, or ended
		rows.Put(TableSpawnLive, SpawnLiveKey(), mustJSON(LiveSpawns{slices.Sorted(maps.Keys(s.live)), s.recent}))
	}
}

// LiveSpawns is the stored row from which the owner is loaded.
type LiveSpawns struct {
	Live   []hub.SpawnID `json:"live"`
	Recent []int64       `json:"recent"` // hub ms of the starts of the last hour
}

// SpawnPolicyKey is the key of the one row of TableSpawnPolicy.
func SpawnPolicyKey() []byte { return []byte("policy") }

// SpawnLiveKey is the key of the one row of TableSpawnLive.
func SpawnLiveKey() []byte { return []byte("live") }

// SpawnKey is the key of a spawn in TableSpawn, and false if id is not the id
// of a spawn.
func SpawnKey(id hub.SpawnID) ([]byte, bool) {
	seq, ok := SeqOf(PrefixSpawn, string(id))
	return SeqKey(seq), ok
}

// RestorePolicy reads a value of TableSpawnPolicy.
func RestorePolicy(value []byte) (hub.SpawnPolicy, error) {
	p := NoSpawns()
	if err := json.Unmarshal(value, &p); err != nil {
		return p, hub.NewError(hub.CodeCorruptRecord, "the stored spawn policy cannot be read")
	}
	return p, nil
}

// RestoreSpawns returns the state with this policy and these spawns, which have
// not ended.
func RestoreSpawns(policy hub.SpawnPolicy, live []hub.Spawn, recent []int64) *Spawns {
	s := &Spawns{policy: policy, live: map[hub.SpawnID]hub.Spawn{}, recent: recent}
	for _, row := range live {
		if !row.Status.Terminal() {
			s.live[row.SpawnID] = row
		}
	}
	return s
}
