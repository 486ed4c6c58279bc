package spawns

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// recordAgain is how long the manager waits before it repeats a command that a full
// disk or a full queue has refused.
const recordAgain = time.Second

// supervise takes a committed spawn to its end: it gets a seat, then a process; when
// the process has ended, its output and its end are recorded. started gets the row as
// soon as there is a process, or it is known that there will be none.
func (m *Manager) supervise(t *spawn) {
	row := t.row
	defer m.done()
	defer m.over(row.SpawnID)
	fails := func(why string) {
		t.started <- m.end(row, core.SpawnOutcome{Status: hub.SpawnFailed, Reason: why})
	}
	if err := t.complete(m.baseURL); err != nil {
		fails(err.Error())
		return
	}
	if _, _, live := m.view.Directory.Session(row.AgentID); live {
		fails("another has registered as " + string(row.AgentID) + " meanwhile")
		return
	}
	seat, err := m.seat(row)
	if err != nil {
		fails("it got no seat: " + err.Error())
		return
	}
	row.SeatID = seat.SeatID
	if why := m.stopReason(row.SpawnID); why != "" {
		t.started <- m.end(row, core.SpawnOutcome{Status: hub.SpawnStopped, Reason: why})
		return
	}
	ended := make(chan hub.SpawnEnd, 1)
	control, err := m.runner.Start(t.plan, func(e hub.SpawnEnd) { ended <- e })
	if err != nil {
		fails(err.Error())
		return
	}
	m.runs(row.SpawnID, control)
	m.logSpawn("spawn started", &row, slog.Int("pid", control.PID))
	running, err := m.record(func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
		return s.Start(row.SpawnID, row.SeatID, control.PID)
	})
	if err != nil { // the hub is about to end, and the process with it
		running = row
	}
	t.started <- running
	m.end(running, m.keepOutput(running, <-ended))
}

// seat has the room give the spawned agent a seat.
func (m *Manager) seat(row hub.Spawn) (core.StoredSeat, error) {
	c := core.SeatCommand{Spawn: row, Gone: func(agent hub.AgentID) bool {
		_, _, live := m.view.Directory.Session(agent)
		return !live
	}}
	seat, _, err := engine.Submit(context.Background(), m.engine, engine.Command[*core.Room, core.StoredSeat, core.StoredSeat]{
		Owner: core.RoomOwner(row.RoomID), Late: true,
		Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredSeat], error) { return r.SeatSpawn(c, now) },
		Answer: func(s core.StoredSeat, _ *core.Record) core.StoredSeat { return s },
	})
	return seat, err
}

// keepOutput stores what the process printed as an artifact of the room and says
// how it ended.
func (m *Manager) keepOutput(row hub.Spawn, e hub.SpawnEnd) core.SpawnOutcome {
	o := core.SpawnOutcome{Status: hub.SpawnExited, ExitCode: e.ExitCode, Signal: e.Signal, Reason: e.Stopped}
	if e.Stopped != "" {
		o.Status = hub.SpawnStopped
	}
	if len(e.Output) == 0 {
		return o
	}
	sum := sha256.Sum256(e.Output)
	command := core.ArtifactCommand{
		Title: "output of " + string(row.AgentID), Kind: "log", ContentType: http.DetectContentType(e.Output),
		Content: e.Output, SHA256: hex.EncodeToString(sum[:]),
	}
	by := core.TaskActor{Agent: hub.AgentSystem, Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession}
	artifact, err := recordLate(m, engine.Command[*core.Room, hub.Artifact, hub.Artifact]{
		Owner: core.RoomOwner(row.RoomID), Size: 2 * len(e.Output), Late: true,
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Artifact], error) { return r.AddArtifact(command, by) },
		Answer: func(a hub.Artifact, _ *core.Record) hub.Artifact { return a },
	})
	if err != nil {
		m.log.LogAttrs(context.Background(), slog.LevelWarn, "output of a spawn not kept",
			slog.String("spawn", string(row.SpawnID)), slog.Any("error", err))
		return o
	}
	o.Artifact = &artifact
	return o
}

// end records the end of a spawn; the same record tells its requester.
func (m *Manager) end(row hub.Spawn, o core.SpawnOutcome) hub.Spawn {
	ended, err := m.record(func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
		return s.End(row.SpawnID, o)
	})
	if errors.Is(err, core.ErrNotLive) {
		return row
	}
	if err != nil {
		m.log.LogAttrs(context.Background(), slog.LevelWarn, "end of a spawn not recorded; the next start says that it is lost",
			slog.String("spawn", string(row.SpawnID)), slog.Any("error", err))
		return row
	}
	code := []slog.Attr{slog.String("status", string(ended.Status)), slog.String("signal", ended.Signal)}
	if ended.ExitCode != nil {
		code = append(code, slog.Int("exit", *ended.ExitCode))
	}
	m.logSpawn("spawn ended", &ended, code...)
	return ended
}

// logSpawn logs an event of a spawn. The line contains no text of an agent or of a
// process.
func (m *Manager) logSpawn(what string, row *hub.Spawn, more ...slog.Attr) {
	m.log.LogAttrs(context.Background(), slog.LevelInfo, what, append([]slog.Attr{
		slog.String("spawn", string(row.SpawnID)), slog.String("room", string(row.RoomID)), slog.String("harness", string(row.Harness)),
		slog.String("agent", string(row.AgentID)), slog.String("by", string(row.By)),
	}, more...)...)
}

// record has the owner of the spawns decide about something that has happened.
func (m *Manager) record(decide func(*core.Spawns, core.Now) (core.Decision[hub.Spawn], error)) (hub.Spawn, error) {
	return recordLate(m, engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
		Owner: core.SpawnsOwner(), Late: true, Decide: decide,
		Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn { return row },
	})
}

// recordLate submits a command about something that has happened and must be recorded.
// The command is also admitted while the hub stops. If the disk or the queue is full,
// recordLate submits it again until it is accepted or the hub stops.
func recordLate[S core.Machine, T any](m *Manager, w engine.Command[S, T, T]) (T, error) {
	for {
		row, _, err := engine.Submit(context.Background(), m.engine, w)
		passing := errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) || errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) ||
			errors.Is(err, &hub.Error{Code: hub.CodeTimedOut})
		if !passing {
			return row, err
		}
		select {
		case <-time.After(recordAgain):
		case <-m.engine.Ending:
			return row, err
		}
	}
}

// Lose records that the spawns of an earlier run of the hub are lost: their processes
// ended with that run. The same record tells the requester, so it is told once.
func (m *Manager) Lose(left []hub.Spawn) {
	for _, row := range left {
		m.end(row, core.SpawnOutcome{Status: hub.SpawnLost, Reason: "the hub ended while it ran"})
	}
}

// complete fills the plan of a spawn with the agent that it got.
func (t *spawn) complete(baseURL string) (err error) {
	t.values.Agent = t.row.AgentID
	if t.plan.Args, err = core.SpawnArguments(t.args, &t.values); err != nil {
		return err
	}
	t.plan.Vars = map[string]string{
		"HUB_AGENT": string(t.row.AgentID), "HUB_ROOM": string(t.row.RoomID), "HUB_SPAWN": string(t.row.SpawnID), "HUB_BASE_URL": baseURL,
	}
	return nil
}

// Shown learns of a committed record: it has the spawns supervised that the record
// requests. It does not block.
func (m *Manager) Shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind != core.OwnerSpawns {
		return
	}
	for _, f := range facts {
		if _, ok := f.(*core.SpawnRequested); ok {
			m.committed(hub.SpawnID(core.IDAt(core.PrefixSpawn, r.Seq)))
		}
	}
}

// committed has the spawn of a committed record supervised, once.
func (m *Manager) committed(id hub.SpawnID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.spawns[id]; t != nil && !t.committed {
		t.committed = true
		m.busy++
		go m.supervise(t)
	}
}
