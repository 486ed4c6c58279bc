package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"hubcli/hub"
)

// hourMS is an hour of hub time.
const hourMS = 3_600_000

// Spawns decides which harnesses are started and keeps the running spawns. An
// ended spawn leaves the state and is a stored row.
//
// Invariants:
//  1. live holds every spawn that is not terminal, and no other.
//  2. No two of live have the same agent.
//  3. recent holds the hub times of the starts of the last hour, rising; older ones
//     stay until the next start.
type Spawns struct {
	policy hub.SpawnPolicy
	live   map[hub.SpawnID]hub.Spawn
	recent []int64
}

// NoSpawns is the policy of a hub whose operator has set none.
func NoSpawns() hub.SpawnPolicy {
	return hub.SpawnPolicy{
		Commands: []hub.SpawnCommand{}, Allow: []hub.SpawnAllowance{},
		MaxRunning: hub.DefaultSpawnRunning, MaxPerHour: hub.DefaultSpawnsHour, MaxDepth: hub.DefaultSpawnDepth,
	}
}

// SetPolicy decides what is allowed from now on. Running spawns go on. Error:
// version_conflict.
func (s *Spawns) SetPolicy(in hub.SpawnPolicyInput) (Decision[hub.SpawnPolicy], error) {
	if in.Version != s.policy.Version {
		return Decision[hub.SpawnPolicy]{}, hub.NewError(hub.CodeVersionConflict, "the policy has changed since it was read").
			With("version", s.policy.Version).WithFix("read it, change that, and send it with its version")
	}
	p := hub.SpawnPolicy{
		Commands: append([]hub.SpawnCommand{}, in.Commands...), Allow: append([]hub.SpawnAllowance{}, in.Allow...),
		MaxRunning: cmp.Or(in.MaxRunning, hub.DefaultSpawnRunning), MaxPerHour: cmp.Or(in.MaxPerHour, hub.DefaultSpawnsHour),
		MaxDepth: cmp.Or(in.MaxDepth, hub.DefaultSpawnDepth), Remote: in.Remote, Version: in.Version + 1,
	}
	for i := range p.Commands {
		p.Commands[i].TimeoutSec = cmp.Or(p.Commands[i].TimeoutSec, hub.DefaultSpawnSec)
	}
	for i := range p.Allow {
		p.Allow[i].MaxSeats = cmp.Or(p.Allow[i].MaxSeats, hub.DefaultSpawnSeats)
	}
	return answering(p, &SpawnPolicySet{Policy: p}), nil
}

// SpawnRequest asks for a spawn. By is never empty.
type SpawnRequest struct {
	In      hub.SpawnInput
	Remote  bool // the call came from another machine
	Version int64
	// Connection is the one whose key the child gets; empty: none.
	Connection hub.ConnectionID
	// Taken reports whether an agent id is in use.
	Taken func(hub.AgentID) bool
}

// ErrPolicyChanged says that a request rests on an earlier policy.
var ErrPolicyChanged = errors.New("core: the spawn policy has changed")

// PermittedBy returns the command and the allowance by which a policy permits
// the request. Error: spawn_not_allowed.
func (c *SpawnRequest) PermittedBy(p *hub.SpawnPolicy) (hub.SpawnCommand, hub.SpawnAllowance, error) {
	if c.Remote && !p.Remote {
		return hub.SpawnCommand{}, hub.SpawnAllowance{}, spawnNotAllowed("agents on other machines spawn nothing here").
			WithFix("ask from the hub's machine; or ask the operator to set remote in the spawn policy")
	}
	command := slices.IndexFunc(p.Commands, func(m hub.SpawnCommand) bool { return m.Harness == c.In.Harness })
	allow := slices.IndexFunc(p.Allow, func(a hub.SpawnAllowance) bool { return a.Harness == c.In.Harness && a.RoomID == c.In.RoomID })
	if command < 0 || allow < 0 {
		e := spawnNotAllowed("the operator has not allowed "+string(c.In.Harness)+" to be started in this room").
			With("room_id", c.In.RoomID).With("harness", c.In.Harness).
			With("allowed", allow >= 0).With("command", command >= 0)
		return hub.SpawnCommand{}, hub.SpawnAllowance{}, e.WithFix(allowFix(c.In, command >= 0))
	}
	return p.Commands[command], p.Allow[allow], nil
}

// allowFix says what the operator must do to permit the request.
func allowFix(in hub.SpawnInput, hasCommand bool) string {
	fix := `ask the operator to add {"room_id":"` + string(in.RoomID) + `","harness":"` + string(in.Harness) + `"} to allow`
	if !hasCommand {
		fix += ` and {"harness":"` + string(in.Harness) + `","args":["/absolute/path","--","{prompt}"]} to commands`
	}
	return fix + ` of the policy: hubcli app spawns policy prints it, and hubcli app spawns policy --set FILE takes the new one`
}

func spawnNotAllowed(why string) *hub.Error { return hub.NewError(hub.CodeSpawnNotAllowed, why) }

// Request decides that a harness is started. Errors: spawn_not_allowed,
// limit_reached, session_conflict; ErrPolicyChanged if the request's version is
// not the policy's.
func (s *Spawns) Request(c SpawnRequest, now Now) (Decision[hub.Spawn], error) {
	if c.Version != s.policy.Version {
		return Decision[hub.Spawn]{}, ErrPolicyChanged
	}
	_, allow, err := c.PermittedBy(&s.policy)
	if err != nil {
		return Decision[hub.Spawn]{}, err
	}
	depth := s.depthOf(c.In.By) + 1
	if depth > s.policy.MaxDepth {
		return Decision[hub.Spawn]{}, spawnNotAllowed(string(c.In.By)+" was spawned itself, and what is spawned may not spawn so deep").
			With("depth", depth).With("limit", s.policy.MaxDepth).
			WithFix("ask the agent that spawned " + string(c.In.By) + " to do it; or the operator to raise max_depth in the spawn policy")
	}
	if err := s.checkLimits(&c, allow, now); err != nil {
		return Decision[hub.Spawn]{}, err
	}
	agent, err := s.nameFor(&c)
	if err != nil {
		return Decision[hub.Spawn]{}, err
	}
	f := &SpawnRequested{
		Room: c.In.RoomID, Harness: c.In.Harness, Agent: agent, By: c.In.By, Role: c.In.Role, Title: c.In.Title, Depth: depth,
		Connection: c.Connection,
	}
	return Decision[hub.Spawn]{Draft: Draft{Facts: []Fact{f}}, Answer: f.spawn}, nil
}

// depthOf is the depth of an agent in its chain of spawns; 0 if it was not
// spawned.
func (s *Spawns) depthOf(agent hub.AgentID) int {
	for _, row := range s.live {
		if row.AgentID == agent {
			return row.Depth
		}
	}
	return 0
}

func (s *Spawns) checkLimits(c *SpawnRequest, allow hub.SpawnAllowance, now Now) error {
	inRoom := 0
	for _, row := range s.live {
		if row.RoomID == c.In.RoomID && row.Harness == c.In.Harness {
			inRoom++
		}
	}
	wait := "wait for one to end, or stop one"
	switch {
	case inRoom >= allow.MaxSeats:
		return limitReached(string(c.In.Harness)+" spawns running in this room", allow.MaxSeats).WithFix(wait)
	case len(s.live) >= s.policy.MaxRunning:
		return limitReached("spawns running", s.policy.MaxRunning).WithFix(wait)
	case len(s.since(now)) >= s.policy.MaxPerHour:
		return limitReached("spawns in this hour", s.policy.MaxPerHour).
			WithFix("wait some minutes; the operator can raise max_per_hour in the spawn policy")
	}
	return nil
}

// since returns the starts of the last hour.
func (s *Spawns) since(now Now) []int64 {
	i, _ := slices.BinarySearch(s.recent, now.HubMS-hourMS+1)
	return s.recent[i:]
}

// nameFor finds the id of the new agent: the requested id, or the harness's
// name with the lowest suffix number that gives a free id.
func (s *Spawns) nameFor(c *SpawnRequest) (hub.AgentID, error) {
	taken := func(name hub.AgentID) bool {
		for _, row := range s.live {
			if row.AgentID == name {
				return true
			}
		}
		return name == c.In.By || c.Taken(name)
	}
	if asked := c.In.AgentID; asked != "" {
		if taken(asked) {
			return "", hub.Errorf(hub.CodeSessionConflict, "agent id %s is in use", asked).
				With("agent_id", asked).WithFix("leave agent_id out, so that the hub finds a free one, or choose another")
		}
		return asked, nil
	}
	base := hub.AgentID(c.In.Harness)
	for n, name := 2, base; n <= maxNames; n++ {
		if !taken(name) {
			return name, nil
		}
		name = base + hub.AgentID("-"+strconv.Itoa(n))
	}
	return "", hub.NewError(hub.CodeSessionConflict, "every agent id with this harness's name is in use").
		WithFix("choose an agent_id")
}

// Start decides that a spawn's process runs. ErrNotLive if it has ended.
func (s *Spawns) Start(id hub.SpawnID, seat hub.SeatID, pid int) (Decision[hub.Spawn], error) {
	row, ok := s.live[id]
	if !ok {
		return Decision[hub.Spawn]{}, ErrNotLive
	}
	f := &SpawnStarted{Spawn: id, Seat: seat, PID: pid}
	return Decision[hub.Spawn]{
		Draft:  Draft{Facts: []Fact{f}},
		Answer: func(at Position) hub.Spawn { return f.started(row, at) },
	}, nil
}

// Stop decides that a spawn is to end. A second request changes nothing.
// Errors: spawn_not_allowed; ErrNotLive if it has ended.
func (s *Spawns) Stop(id hub.SpawnID, by hub.AgentID, operator bool) (Decision[hub.Spawn], error) {
	row, ok := s.live[id]
	switch {
	case !ok:
		return Decision[hub.Spawn]{}, ErrNotLive
	case !operator && by != row.By:
		return Decision[hub.Spawn]{}, spawnNotAllowed("only the agent that asked for a spawn and the operator may stop it").
			With("by", row.By).WithFix("ask " + string(row.By) + " to stop it, or the operator")
	case row.Stopping:
		return answering(row), nil
	}
	f := &SpawnStopAsked{Spawn: id, By: by}
	return answering(f.stopping(row), f), nil
}

// SpawnOutcome is the end of a spawn.
type SpawnOutcome struct {
	Status   hub.SpawnStatus // terminal
	ExitCode *int
	Signal   string
	Reason   string
	Artifact *hub.Artifact // with the output; nil: none
}

// End decides that a spawn has ended and notifies the requester. Error:
// ErrNotLive if it has already ended.
func (s *Spawns) End(id hub.SpawnID, o SpawnOutcome) (Decision[hub.Spawn], error) {
	row, ok := s.live[id]
	if !ok {
		return Decision[hub.Spawn]{}, ErrNotLive
	}
	f := &SpawnEnded{Spawn: id, Status: o.Status, ExitCode: o.ExitCode, Signal: o.Signal, Reason: o.Reason}
	if o.Artifact != nil {
		f.Artifact = &o.Artifact.ArtifactID
	}
	return Decision[hub.Spawn]{
		Draft:  Draft{Facts: []Fact{f}, Messages: []MessageDraft{endNotice(f.ended(row, Position{}))}},
		Answer: func(at Position) hub.Spawn { return f.ended(row, at) },
	}, nil
}

// endNotice tells the requester how a spawn ended. The hub is its sender, so it
// contains no text that an agent wrote.
func endNotice(row hub.Spawn) MessageDraft {
	body := "Spawn " + string(row.SpawnID) + " (agent " + string(row.AgentID) + ", room " + string(row.RoomID) + ") ended: " + howEnded(&row)
	if row.ArtifactID != nil {
		body += ". Its output is an artifact. " + readArtifact(string(*row.ArtifactID))
	}
	return MessageDraft{
		From: hub.AgentSystem, To: row.By, Channel: hub.DirectChannel, Kind: hub.KindNotice, Body: body, Room: row.RoomID,
		Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession,
		Metadata: mustJSON(map[string]any{"spawn": spawnNotice{
			row.SpawnID, row.RoomID, row.AgentID, row.Harness, row.Status, row.ExitCode, row.Signal, row.ArtifactID,
		}}),
	}
}

// spawnNotice is the metadata of the notice.
type spawnNotice struct {
	SpawnID    hub.SpawnID     `json:"spawn_id"`
	RoomID     hub.RoomID      `json:"room_id"`
	AgentID    hub.AgentID     `json:"agent_id"`
	Harness    hub.Harness     `json:"harness"`
	Status     hub.SpawnStatus `json:"status"`
	ExitCode   *int            `json:"exit_code"`
	Signal     string          `json:"signal"`
	ArtifactID *hub.ArtifactID `json:"artifact_id"`
}

// howEnded describes the end of a spawn in words.
func howEnded(row *hub.Spawn) string {
	said := string(row.Status)
	switch {
	case row.ExitCode != nil:
		said += ", exit code " + strconv.Itoa(*row.ExitCode)
	case row.Signal != "":
		said += ", by " + row.Signal
	}
	if row.Reason != "" {
		said += " (" + row.Reason + ")"
	}
	return said
}

// Apply changes the state by one fact. Applying a fact twice has the same
// effect as once.
func (s *Spawns) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *SpawnPolicySet:
		s.policy = f.Policy
		rows.Put(TableSpawnPolicy, SpawnPolicyKey(), mustJSON(f.Policy))
	case *SpawnRequested:
		row := f.spawn(at)
		if _, known := s.live[row.SpawnID]; !known {
			s.recent = append(slices.Clone(s.since(at.Now)), at.Now.HubMS)
			s.put(row, rows)
		}
	case *SpawnStarted:
		s.change(f.Spawn, func(row hub.Spawn) hub.Spawn { return f.started(row, at) }, rows)
	case *SpawnStopAsked:
		s.change(f.Spawn, f.stopping, rows)
	case *SpawnEnded:
		s.change(f.Spawn, func(row hub.Spawn) hub.Spawn { return f.ended(row, at) }, rows)
	default:
		panic(fmt.Sprintf("core: spawns were given the fact %T", f))
	}
}
