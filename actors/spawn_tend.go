package actors

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

// recordAgain is how long the hub waits until it tries again to record something
// that the full disk has refused.
const recordAgain = time.Second

// tend goes with a committed spawn to its end: a seat, a process, and when that has
// ended its output and how it ended. started gets the row once there is a process,
// or none will be.
func (h *Hub) tend(t *tending) {
	row := t.row
	defer h.spawner.done()
	defer h.spawner.over(row.SpawnID)
	fails := func(why string) {
		t.started <- h.endSpawn(row, core.SpawnOutcome{Status: hub.SpawnFailed, Reason: why})
	}
	if err := t.complete(h.options.BaseURL); err != nil {
		fails(err.Error())
		return
	}
	if _, _, live := h.view.Directory.Session(row.AgentID); live {
		fails("another has registered as " + string(row.AgentID) + " meanwhile")
		return
	}
	seat, err := h.seatSpawn(row)
	if err != nil {
		fails("it got no seat: " + err.Error())
		return
	}
	row.SeatID = seat.SeatID
	if why := h.spawner.stopOf(row.SpawnID); why != "" {
		t.started <- h.endSpawn(row, core.SpawnOutcome{Status: hub.SpawnStopped, Reason: why})
		return
	}
	ended := make(chan hub.SpawnEnd, 1)
	control, err := h.options.Runner.Start(t.plan, func(e hub.SpawnEnd) { ended <- e })
	if err != nil {
		fails(err.Error())
		return
	}
	h.spawner.runs(row.SpawnID, control)
	h.logSpawn("spawn started", &row, slog.Int("pid", control.PID))
	running, err := h.recordSpawn(func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
		return s.Start(row.SpawnID, row.SeatID, control.PID)
	})
	if err != nil { // the hub is about to end, and the process with it
		running = row
	}
	t.started <- running
	h.endSpawn(running, h.keepOutput(running, <-ended))
}

// seatSpawn is the second step: the room's.
func (h *Hub) seatSpawn(row hub.Spawn) (core.StoredSeat, error) {
	c := core.SeatCommand{Spawn: row, Gone: func(agent hub.AgentID) bool {
		_, _, live := h.view.Directory.Session(agent)
		return !live
	}}
	seat, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Room, core.StoredSeat, core.StoredSeat]{
		Owner: core.RoomOwner(row.RoomID), Late: true,
		Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredSeat], error) { return r.SeatSpawn(c, now) },
		Answer: func(s core.StoredSeat, _ *core.Record) core.StoredSeat { return s },
	})
	return seat, err
}

// keepOutput stores what the process printed as an artifact of the room and says
// how it ended.
func (h *Hub) keepOutput(row hub.Spawn, e hub.SpawnEnd) core.SpawnOutcome {
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
	artifact, err := recordLate(h, engine.Command[*core.Room, hub.Artifact, hub.Artifact]{
		Owner: core.RoomOwner(row.RoomID), Size: 2 * len(e.Output), Late: true,
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Artifact], error) { return r.AddArtifact(command, by) },
		Answer: func(a hub.Artifact, _ *core.Record) hub.Artifact { return a },
	})
	if err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "output of a spawn not kept",
			slog.String("spawn", string(row.SpawnID)), slog.Any("error", err))
		return o
	}
	o.Artifact = &artifact
	return o
}

// endSpawn records the end of a spawn, which tells who asked for it.
func (h *Hub) endSpawn(row hub.Spawn, o core.SpawnOutcome) hub.Spawn {
	ended, err := h.recordSpawn(func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
		return s.End(row.SpawnID, o)
	})
	if errors.Is(err, core.ErrNotLive) {
		return row
	}
	if err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "end of a spawn not recorded; the next start says that it is lost",
			slog.String("spawn", string(row.SpawnID)), slog.Any("error", err))
		return row
	}
	code := []slog.Attr{slog.String("status", string(ended.Status)), slog.String("signal", ended.Signal)}
	if ended.ExitCode != nil {
		code = append(code, slog.Int("exit", *ended.ExitCode))
	}
	h.logSpawn("spawn ended", &ended, code...)
	return ended
}

// logSpawn writes a line that shows nothing of what an agent or a child has
// written.
func (h *Hub) logSpawn(what string, row *hub.Spawn, more ...slog.Attr) {
	h.log.LogAttrs(context.Background(), slog.LevelInfo, what, append([]slog.Attr{
		slog.String("spawn", string(row.SpawnID)), slog.String("room", string(row.RoomID)), slog.String("harness", string(row.Harness)),
		slog.String("agent", string(row.AgentID)), slog.String("by", string(row.By)),
	}, more...)...)
}

// recordSpawn has the owner decide something that has happened.
func (h *Hub) recordSpawn(decide func(*core.Spawns, core.Now) (core.Decision[hub.Spawn], error)) (hub.Spawn, error) {
	return recordLate(h, engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
		Owner: core.SpawnsOwner(), Late: true, Decide: decide,
		Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn { return row },
	})
}

// recordLate submits what has happened already and must be recorded: also while
// the hub stops, and again until the disk has room or the queue does, unless the
// hub stops.
func recordLate[S core.Machine, T any](h *Hub, w engine.Command[S, T, T]) (T, error) {
	for {
		row, _, err := engine.Submit(context.Background(), h.engine, w)
		passing := errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) || errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) ||
			errors.Is(err, &hub.Error{Code: hub.CodeTimedOut})
		if !passing {
			return row, err
		}
		select {
		case <-time.After(recordAgain):
		case <-h.engine.Ending:
			return row, err
		}
	}
}

// StopSpawn asks for the end of a spawn; see hub.Spawns.
func (h *Hub) StopSpawn(ctx context.Context, id hub.SpawnID, in hub.SpawnStopInput) (hub.Outcome[hub.Spawn], error) {
	row, err := h.spawnRow(id)
	if err != nil {
		return hub.Outcome[hub.Spawn]{}, err
	}
	by, operator := in.AgentID, hub.CallerOf(ctx).Operator
	if hub.CallerOf(ctx).Relay != "" {
		return hub.Outcome[hub.Spawn]{}, hub.NewError(hub.CodeForbiddenRelay, "no call that came through a spool stops a process outside of its sandbox").
			WithFix("make the call on the hub's machine")
	}
	// Who leaves before the decision has asked for nothing; a decided stop is carried
	// out whether or not anybody waits for it.
	out, replayed, err := engine.Submit(context.WithoutCancel(ctx), h.engine, engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
		Owner: core.SpawnsOwner(), Agent: by,
		Decide: func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
			if ctx.Err() != nil {
				return core.Decision[hub.Spawn]{}, engine.ErrExpired()
			}
			return s.Stop(id, by, operator)
		},
		Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn { return row },
		Codec:  h.spawnCodec(),
	})
	switch {
	case errors.Is(err, core.ErrNotLive):
		row, err = h.spawnRow(id) // it has ended, which is durable
		return hub.Outcome[hub.Spawn]{Row: row}, err
	case errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) && (operator || by == row.By):
		// A full disk keeps nobody from ending what may be filling it.
		h.spawner.stop(id, "it was stopped")
		row.Stopping = true
		return hub.Outcome[hub.Spawn]{Row: row}, nil
	case err != nil:
		return hub.Outcome[hub.Spawn]{}, err
	}
	if !out.Status.Terminal() && !h.spawner.stop(row.SpawnID, out.Reason) {
		// Nobody tends it, so there is no process; or it is ending just now.
		h.endSpawn(out, core.SpawnOutcome{Status: hub.SpawnStopped, Reason: out.Reason})
		out, err = h.spawnRow(row.SpawnID)
	}
	return hub.Outcome[hub.Spawn]{Row: out, Replayed: replayed}, err
}

// loseSpawns records that the spawns of an earlier run are lost: their processes
// have ended with it. Whoever asked is told with the same record, so once.
func (h *Hub) loseSpawns(left []hub.Spawn) {
	for _, row := range left {
		h.endSpawn(row, core.SpawnOutcome{Status: hub.SpawnLost, Reason: "the hub ended while it ran"})
	}
}
