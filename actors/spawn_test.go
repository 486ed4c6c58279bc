package actors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

func TestSpawnFromRequestToNotice(t *testing.T) {
	r := newSpawnRig(t)
	row := r.spawn("lead")
	if row.Status != hub.SpawnRunning || row.PID != 1001 || row.AgentID != "codex" || row.SeatID == "" || row.Depth != 1 {
		t.Fatalf("the spawn is %+v", row)
	}
	plan := r.runner.plans[0]
	if strings.Join(plan.Args, " ") != "/bin/codex -- the prompt codex" || plan.Dir != "/work" || plan.Timeout != time.Hour ||
		plan.Vars["HUB_AGENT"] != "codex" || plan.Vars["HUB_BASE_URL"] != "http://hub" || plan.Vars["HUB_ROOM"] != string(r.room) {
		t.Errorf("the plan is %+v", plan)
	}
	status, err := r.RoomStatus(t.Context(), hub.StatusQuery{RoomID: r.room})
	if err != nil || len(status.Spawns) != 1 || len(status.Seats) != 1 || *status.Seats[0].SpawnID != row.SpawnID || status.Seats[0].Role != "tester" {
		t.Errorf("the room shows %+v, %v", status, err)
	}
	if n := r.Counts().Spawns; n != 1 {
		t.Errorf("%d spawns are counted", n)
	}
	one := 1
	r.runner.end(1001, hub.SpawnEnd{ExitCode: &one, Output: []byte("it failed\n")})
	row = r.over(row.SpawnID)
	if row.Status != hub.SpawnExited || *row.ExitCode != 1 || row.ArtifactID == nil {
		t.Fatalf("the end is %+v", row)
	}
	content, err := r.ArtifactContent(t.Context(), *row.ArtifactID)
	if err != nil || string(content.Data) != "it failed\n" || content.Artifact.Kind != "log" || content.Artifact.By != hub.AgentSystem {
		t.Errorf("the output is %+v, %v", content, err)
	}
	if told := r.told("lead"); len(told) != 1 || !strings.Contains(told[0], "exit code 1") || !strings.Contains(told[0], string(*row.ArtifactID)) {
		t.Errorf("lead was told %q", told)
	}
	// The end is logged after it is told.
	require.Eventually(t, "the end is not logged", func() bool { return strings.Contains(r.log.String(), "spawn ended") })
	if log := r.log.String(); strings.Contains(log, "the prompt") || strings.Contains(log, "it failed") {
		t.Errorf("the log is %s", log)
	}
}

func TestSpawnIsRefused(t *testing.T) {
	code := func(err error) hub.Code {
		var e *hub.Error
		if errors.As(err, &e) {
			return e.Code
		}
		return ""
	}
	r := newSpawnRig(t, func(in *hub.SpawnPolicyInput) { in.Allow[0].MaxSeats = 2 })
	for name, c := range map[string]struct {
		ctx    context.Context
		change func(*hub.SpawnInput)
		want   hub.Code
	}{
		"another harness":  {t.Context(), func(in *hub.SpawnInput) { in.Harness = hub.HarnessZed }, hub.CodeSpawnNotAllowed},
		"another machine":  {hub.WithCaller(t.Context(), &hub.Caller{Remote: true}), nil, hub.CodeSpawnNotAllowed},
		"a spool":          {hub.WithCaller(t.Context(), &hub.Caller{Relay: "lead"}), nil, hub.CodeForbiddenRelay},
		"no room":          {t.Context(), func(in *hub.SpawnInput) { in.RoomID = "r_zz" }, hub.CodeRoomNotFound},
		"the asker's name": {t.Context(), func(in *hub.SpawnInput) { in.AgentID = "lead" }, hub.CodeSessionConflict},
		"nobody asks":      {t.Context(), func(in *hub.SpawnInput) { in.By = "" }, hub.CodeInvalid},
		"no prompt":        {t.Context(), func(in *hub.SpawnInput) { in.Prompt = "" }, hub.CodeInvalid},
		"the name of the asker's session": {
			hub.WithCaller(t.Context(), &hub.Caller{Agent: "lead"}),
			func(in *hub.SpawnInput) { in.AgentID, in.By = "lead", "lead" }, hub.CodeSessionConflict,
		},
	} {
		in := hub.SpawnInput{RoomID: r.room, Harness: hub.HarnessCodex, Prompt: "x", By: "lead"}
		if c.change != nil {
			c.change(&in)
		}
		if _, err := r.Spawn(c.ctx, in); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	first := r.spawn("lead")
	if second := r.spawn("lead"); second.AgentID == first.AgentID {
		t.Errorf("two spawns have the name %s", second.AgentID)
	}
	if _, err := r.trySpawn(t.Context(), "lead"); code(err) != hub.CodeLimitReached {
		t.Errorf("a third: %v", err)
	}
	if _, err := r.trySpawn(t.Context(), first.AgentID); code(err) != hub.CodeSpawnNotAllowed {
		t.Errorf("one that was spawned spawns: %v", err)
	}
	if len(r.runner.plans) != 2 {
		t.Errorf("%d processes were started", len(r.runner.plans))
	}
}

// TestSpawnThatDoesNotStart is told like any other end.
func TestSpawnThatDoesNotStart(t *testing.T) {
	r := newSpawnRig(t)
	r.runner.fail = errors.New("exec format error")
	row := r.spawn("lead")
	if row.Status != hub.SpawnFailed || row.Reason != "exec format error" || len(r.told("lead")) != 1 {
		t.Errorf("the spawn is %+v", row)
	}
}

// TestSpawnsEndWithTheHub: a stop ends and records every spawn, and is not
// kept waiting by one that does not end.
func TestSpawnsEndWithTheHub(t *testing.T) {
	r := newSpawnRig(t)
	row := r.spawn("lead")
	store := r.store
	r.stop()
	again := startSpawning(t, store)
	again.room = r.room
	got, err := again.SpawnByID(t.Context(), row.SpawnID)
	if err != nil || got.Status != hub.SpawnStopped || got.Reason != "the hub was stopped" {
		t.Errorf("after a stop the spawn is %+v, %v", got, err)
	}
	if told := again.told("lead"); len(told) != 1 {
		t.Errorf("lead was told %q", told)
	}
	again.runner.ignore = true
	again.spawn("lead")
	ctx, hurry := context.WithCancel(context.Background())
	defer hurry()
	stopped := async(func() (struct{}, error) { return struct{}{}, again.Hub.Stop(ctx) })
	<-again.engine.Ending
	hurry()
	within(t, stopped)
	again.runner.end(1001, hub.SpawnEnd{})
}

// TestSpawnsAreLostOnce: a spawn that ran when the hub died is lost, and its
// caller is told once, however often the hub starts.
func TestSpawnsAreLostOnce(t *testing.T) {
	r := newSpawnRig(t)
	row := r.spawn("lead")
	left := r.crash()
	for range 3 {
		again := startSpawning(t, left)
		again.room = r.room
		got := again.over(row.SpawnID)
		if got.Status != hub.SpawnLost || got.PID != 0 || len(again.told("lead")) != 1 {
			t.Fatalf("the spawn is %+v, lead was told %q", got, again.told("lead"))
		}
		left = again.crash()
	}
}

// TestSpawnsOnAFullDisk: a full disk starts nothing new and keeps nobody from
// stopping what runs; the end is recorded when there is room.
func TestSpawnsOnAFullDisk(t *testing.T) {
	r := newSpawnRig(t)
	row := r.spawn("lead")
	r.store.setFull(true)
	if _, err := r.trySpawn(t.Context(), "lead"); !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
		t.Errorf("a spawn on a full disk: %v", err)
	}
	if _, err := r.StopSpawn(t.Context(), row.SpawnID, hub.SpawnStopInput{AgentID: "dev"}); err == nil {
		t.Error("anybody stops it")
	}
	out, err := r.StopSpawn(t.Context(), row.SpawnID, hub.SpawnStopInput{AgentID: "lead"})
	if err != nil || !out.Row.Stopping {
		t.Errorf("a stop on a full disk: %+v, %v", out.Row, err)
	}
	if got, err := r.SpawnByID(t.Context(), row.SpawnID); err != nil || got.Status != hub.SpawnRunning {
		t.Errorf("nothing can be recorded, and the spawn is %+v, %v", got, err)
	}
	r.store.setFull(false)
	if got := r.over(row.SpawnID); got.Status != hub.SpawnStopped || len(r.told("lead")) != 1 {
		t.Errorf("the spawn is %+v, lead was told %q", got, r.told("lead"))
	}
}

// TestSpawnIsAnsweredAgain: a repeated call gets the spawn of the first, whatever the
// operator has changed since, and nothing more is started.
func TestSpawnIsAnsweredAgain(t *testing.T) {
	r := newSpawnRig(t)
	ctx := withKey(t.Context(), "k", "body")
	first, err := r.trySpawn(ctx, "lead")
	require.NoError(t, err)
	if _, err := r.SetSpawnPolicy(t.Context(), hub.SpawnPolicyInput{Version: 1}); err != nil {
		t.Fatal(err)
	}
	again, err := r.trySpawn(ctx, "lead")
	if err != nil || again.SpawnID != first.SpawnID || len(r.runner.plans) != 1 {
		t.Errorf("the repeated call: %+v, %v; %d processes", again, err, len(r.runner.plans))
	}
}
