package core_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

var (
	spawnRooms  = []hub.RoomID{"r_1", "r_2"}
	spawnAgents = []hub.AgentID{"lead", "dev", "codex", "codex-2"}
)

// spawnModel is what the owner of spawns has to come to, by the rules as
// docs/spawn.md has them.
type spawnModel struct {
	*spawnRig
	policy hub.SpawnPolicy
	live   map[hub.SpawnID]hub.Spawn
	starts []int64
}

// TestSpawnProperties: whatever is asked, started, stopped, ended and allowed, the
// limits hold, names are unique, the rows are the state, and each spawn is told of
// once.
func TestSpawnProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &spawnModel{newSpawnRig(t), core.NoSpawns(), map[hub.SpawnID]hub.Spawn{}, nil}
		t.Repeat(map[string]func(*rapid.T){
			"time":    func(t *rapid.T) { m.at.Now.HubMS += rapid.Int64Range(1, 2_000_000).Draw(t, "ms") },
			"policy":  m.setPolicy,
			"request": m.ask,
			"start":   m.start,
			"stop":    m.stop,
			"end":     m.end,
			"":        m.check,
		})
	})
}

// pick draws one of the live spawns, or now and then none.
func (m *spawnModel) pick(t *rapid.T) (hub.SpawnID, bool) {
	ids := slices.Sorted(maps.Keys(m.live))
	if len(ids) == 0 || rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		return "sp_zz", false
	}
	return rapid.SampledFrom(ids).Draw(t, "id"), true
}

func (m *spawnModel) setPolicy(t *rapid.T) {
	in := hub.SpawnPolicyInput{
		Commands:   []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/x", "{prompt}"}}},
		MaxRunning: rapid.IntRange(0, 3).Draw(t, "running"), MaxPerHour: rapid.IntRange(0, 4).Draw(t, "hour"),
		MaxDepth: rapid.IntRange(0, 2).Draw(t, "depth"), Version: m.policy.Version - int64(rapid.IntRange(0, 1).Draw(t, "stale")),
	}
	for _, room := range spawnRooms[:rapid.IntRange(0, 2).Draw(t, "rooms")] {
		in.Allow = append(in.Allow, hub.SpawnAllowance{RoomID: room, Harness: hub.HarnessCodex, MaxSeats: rapid.IntRange(0, 2).Draw(t, "seats")})
	}
	p, err := m.spawnRig.policy(in)
	if (err == nil) != (in.Version == m.policy.Version) {
		t.Fatalf("a policy of version %d at %d: %v", in.Version, m.policy.Version, err)
	}
	if err == nil {
		m.policy = p
	}
}

func (m *spawnModel) ask(t *rapid.T) {
	in := hub.SpawnInput{
		RoomID: rapid.SampledFrom(spawnRooms).Draw(t, "room"), Harness: hub.HarnessCodex,
		By: rapid.SampledFrom(spawnAgents).Draw(t, "by"),
	}
	row, err := m.request(m.policy.Version, in, "codex-3")
	want, depth := m.want(in)
	if codeOf(err) != want {
		t.Fatalf("%+v: %v, want %q", in, err, want)
	}
	if err != nil {
		return
	}
	if row.Depth != depth || row.AgentID == in.By || row.AgentID == "codex-3" {
		t.Fatalf("the spawn is %+v, want depth %d", row, depth)
	}
	for _, other := range m.live {
		if other.AgentID == row.AgentID {
			t.Fatalf("two spawns are %s", row.AgentID)
		}
	}
	m.live[row.SpawnID], m.starts = row, append(m.starts, m.at.Now.HubMS)
}

// want is what a request comes to, and how deep.
func (m *spawnModel) want(in hub.SpawnInput) (hub.Code, int) {
	seats := 0
	for _, a := range m.policy.Allow {
		if a.RoomID == in.RoomID {
			seats = a.MaxSeats
		}
	}
	depth, inRoom, lately := 1, 0, 0
	for _, row := range m.live {
		if row.AgentID == in.By {
			depth = row.Depth + 1
		}
		if row.RoomID == in.RoomID {
			inRoom++
		}
	}
	for _, at := range m.starts {
		if m.at.Now.HubMS-at < 3_600_000 {
			lately++
		}
	}
	switch {
	case seats == 0 || depth > m.policy.MaxDepth:
		return hub.CodeSpawnNotAllowed, depth
	case inRoom >= seats || len(m.live) >= m.policy.MaxRunning || lately >= m.policy.MaxPerHour:
		return hub.CodeLimitReached, depth
	}
	return "", depth
}

func (m *spawnModel) start(t *rapid.T) {
	id, known := m.pick(t)
	d, err := m.spawnRig.live.Start(id, "seat_1", 7)
	row, err := commit(m.spawnRig, d, err)
	if known != (err == nil) || known && row.Status != hub.SpawnRunning {
		t.Fatalf("start of %s: %+v %v", id, row, err)
	}
	if known {
		m.live[id] = row
	}
}

func (m *spawnModel) stop(t *rapid.T) {
	id, known := m.pick(t)
	by, operator := rapid.SampledFrom(spawnAgents).Draw(t, "by"), rapid.Bool().Draw(t, "operator")
	d, err := m.spawnRig.live.Stop(id, by, operator)
	row, err := commit(m.spawnRig, d, err)
	switch {
	case !known:
		if !errors.Is(err, core.ErrNotLive) {
			t.Fatalf("stop of nothing: %v", err)
		}
	case !operator && by != m.live[id].By:
		if codeOf(err) != hub.CodeSpawnNotAllowed {
			t.Fatalf("stop by %s: %v", by, err)
		}
	case err != nil || !row.Stopping:
		t.Fatalf("stop: %+v %v", row, err)
	default:
		m.live[id] = row
	}
}

func (m *spawnModel) end(t *rapid.T) {
	id, known := m.pick(t)
	d, err := m.spawnRig.live.End(id, core.SpawnOutcome{Status: hub.SpawnExited})
	messages := len(d.Messages)
	row, err := commit(m.spawnRig, d, err)
	if known != (err == nil) || known && (messages != 1 || !row.Status.Terminal() || d.Messages[0].To != m.live[id].By) {
		t.Fatalf("end of %s: %+v %v, %d messages", id, row, err, messages)
	}
	delete(m.live, id)
	if known && m.stored(id).Status != hub.SpawnExited {
		t.Fatalf("the row of %s is %+v", id, m.stored(id))
	}
}

// check compares the rows and goes on with the state that they make, as after a
// restart.
func (m *spawnModel) check(t *rapid.T) {
	for id, want := range m.live {
		if got := m.stored(id); got.Status != want.Status || got.Stopping != want.Stopping {
			t.Fatalf("the row of %s is %+v, want %+v", id, got, want)
		}
	}
	m.spawnRig.live = m.loaded()
	for id := range m.live {
		if _, err := m.spawnRig.live.End(id, core.SpawnOutcome{Status: hub.SpawnLost}); err != nil {
			t.Fatalf("%s is not loaded: %v", id, err)
		}
	}
}
