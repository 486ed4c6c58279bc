package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
)

// fakeRunner starts nothing: the test says when a process ends. Whether the hub and
// a real one go together is the HTTP tests' and the scripts' to show.
type fakeRunner struct {
	mu     sync.Mutex
	plans  []hub.SpawnPlan
	ends   map[int]func(hub.SpawnEnd) // by pid
	stops  map[int]string
	fail   error
	ignore bool // stops are noted and not obeyed
}

func newFakeRunner() *fakeRunner {
	return &fakeRunner{ends: map[int]func(hub.SpawnEnd){}, stops: map[int]string{}}
}

func (f *fakeRunner) Check(plan *hub.SpawnPlan) error {
	if plan.Args[0] == "/missing" {
		return hub.NewError(hub.CodeBadExecutable, "it is missing")
	}
	return nil
}

func (f *fakeRunner) Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return hub.SpawnControl{}, f.fail
	}
	f.plans = append(f.plans, *plan)
	pid := 1000 + len(f.plans)
	f.ends[pid] = ended
	return hub.SpawnControl{PID: pid, Stop: func(why string) {
		f.mu.Lock()
		f.stops[pid] = why
		ignore := f.ignore
		f.mu.Unlock()
		if !ignore {
			f.end(pid, hub.SpawnEnd{Signal: "SIGTERM", Stopped: why})
		}
	}}, nil
}

// end lets a process end.
func (f *fakeRunner) end(pid int, e hub.SpawnEnd) {
	f.mu.Lock()
	ended := f.ends[pid]
	delete(f.ends, pid)
	f.mu.Unlock()
	if ended != nil {
		ended(e)
	}
}

// spawnRig is a hub with a room in which codex may be spawned.
type spawnRig struct {
	*rig
	runner *fakeRunner
	room   hub.RoomID
}

func startSpawning(t *testing.T, store *memStore, change ...func(*Options)) *spawnRig {
	t.Helper()
	f := newFakeRunner()
	r := start(t, store, append(change, func(o *Options) { o.Runner, o.BaseURL = f, "http://hub" })...)
	return &spawnRig{rig: r, runner: f}
}

func newSpawnRig(t *testing.T, change ...func(*hub.SpawnPolicyInput)) *spawnRig {
	t.Helper()
	r := startSpawning(t, newMemStore())
	if _, err := r.CreateProject(t.Context(), hub.ProjectInput{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	room, err := r.CreateRoom(t.Context(), hub.RoomInput{Project: "p", Name: "Room"})
	if err != nil {
		t.Fatal(err)
	}
	r.room = room.Row.RoomID
	in := hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/codex", "--", "{prompt}", "{agent}"}, Dir: "/work"}},
		Allow:    []hub.SpawnAllowance{{RoomID: r.room, Harness: hub.HarnessCodex}},
	}
	for _, c := range change {
		c(&in)
	}
	if _, err := r.SetSpawnPolicy(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *spawnRig) spawn(by hub.AgentID) hub.Spawn {
	r.t.Helper()
	out, err := r.trySpawn(r.t.Context(), by)
	if err != nil {
		r.t.Fatalf("spawn by %s: %v", by, err)
	}
	return out
}

func (r *spawnRig) trySpawn(ctx context.Context, by hub.AgentID) (hub.Spawn, error) {
	out, err := r.Spawn(ctx, hub.SpawnInput{RoomID: r.room, Harness: hub.HarnessCodex, Prompt: "the prompt", By: by, Role: "tester"})
	return out.Row, err
}

// over waits until a spawn has ended.
func (r *spawnRig) over(id hub.SpawnID) hub.Spawn {
	r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		row, err := r.SpawnByID(context.Background(), id)
		if err != nil {
			r.t.Fatal(err)
		}
		if row.Status.Terminal() {
			return row
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("spawn %s does not end: %+v", id, row)
		}
	}
}

// told returns what system has written to an agent about its spawns.
func (r *spawnRig) told(agent hub.AgentID) (bodies []string) {
	r.t.Helper()
	page, err := r.Inbox(context.Background(), hub.InboxQuery{Agent: agent, Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, row := range page.Rows {
		m, err := row.Decode()
		if err != nil {
			r.t.Fatal(err)
		}
		if m.FromAgent == hub.AgentSystem && strings.Contains(string(m.Metadata), `"spawn"`) {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

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
	if log := r.log.String(); strings.Contains(log, "the prompt") || strings.Contains(log, "it failed") || !strings.Contains(log, "spawn ended") {
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
		"the asker's session's name": {
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
	if err != nil || got.Status != hub.SpawnStopped || got.Reason != stoppedWithHub {
		t.Errorf("after a stop the spawn is %+v, %v", got, err)
	}
	if told := again.told("lead"); len(told) != 1 {
		t.Errorf("lead was told %q", told)
	}
	again.runner.ignore = true
	again.spawn("lead")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	go func() { _ = again.Hub.Stop(ctx); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the stop hangs")
	}
	again.runner.end(1001, hub.SpawnEnd{})
}

// TestSpawnsAreLostOnce: what ran when the hub died is lost, whatever it had come to,
// and who asked is told once, however often the hub starts.
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

// TestSpawnCrashAtEveryStep: wherever the hub dies on the way of a spawn, the next
// start knows of no spawn, or records it once as lost or as what it was.
func TestSpawnCrashAtEveryStep(t *testing.T) {
	for _, step := range []Step{StepDecided, StepNumbered, StepApplied, StepAppending, StepAppended, StepShown, StepAnswered} {
		for nth := 1; nth <= 4; nth++ {
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) { crashSpawn(t, step, nth) })
		}
	}
}

func crashSpawn(t *testing.T, step Step, nth int) {
	var mu sync.Mutex
	var left *memStore
	armed, seen := false, 0
	store := newMemStore()
	f := newFakeRunner()
	r := start(t, store, func(o *Options) {
		o.Runner = f
		o.Step = func(s Step) {
			mu.Lock()
			defer mu.Unlock()
			if armed && s == step {
				if seen++; seen == nth && left == nil {
					left = store.restarted()
				}
			}
		}
	})
	sr := &spawnRig{rig: r, runner: f}
	if _, err := r.CreateProject(t.Context(), hub.ProjectInput{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	room, err := r.CreateRoom(t.Context(), hub.RoomInput{Project: "p", Name: "Room"})
	if err != nil {
		t.Fatal(err)
	}
	sr.room = room.Row.RoomID
	if _, err := r.SetSpawnPolicy(t.Context(), hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/codex", "{prompt}"}, Dir: "/work"}},
		Allow:    []hub.SpawnAllowance{{RoomID: sr.room, Harness: hub.HarnessCodex}},
	}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	armed = true
	mu.Unlock()
	row := sr.spawn("lead")
	zero := 0
	f.end(row.PID, hub.SpawnEnd{ExitCode: &zero, Output: []byte("out")})
	sr.over(row.SpawnID)
	mu.Lock()
	if left == nil { // there are fewer such steps: a crash after all of it
		left = store.restarted()
	}
	after := left
	mu.Unlock()
	again := startSpawning(t, after)
	again.room = sr.room
	rows, err := again.Spawns(t.Context(), hub.SpawnsQuery{Limit: 10})
	if err != nil || len(rows) > 1 {
		t.Fatalf("%d spawns, %v", len(rows), err)
	}
	if len(rows) == 1 {
		if got := again.over(rows[0].SpawnID); got.Status != hub.SpawnLost && got.Status != hub.SpawnExited {
			t.Errorf("the spawn is %+v", got)
		}
	}
	if told := again.told("lead"); len(told) != len(rows) {
		t.Errorf("%d spawns, lead was told %q", len(rows), told)
	}
	// The limits count it no more.
	if fresh := again.spawn("lead"); fresh.Status != hub.SpawnRunning {
		t.Errorf("a new one is %+v", fresh)
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetSpawnPolicy(t.Context(), hub.SpawnPolicyInput{Version: 1}); err != nil {
		t.Fatal(err)
	}
	again, err := r.trySpawn(ctx, "lead")
	if err != nil || again.SpawnID != first.SpawnID || len(r.runner.plans) != 1 {
		t.Errorf("the repeated call: %+v, %v; %d processes", again, err, len(r.runner.plans))
	}
}
