package actors

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// fakeRunner starts no process: the test says when one ends. The HTTP tests and
// the scripts prove that the hub works with a real runner.
type fakeRunner struct {
	mu     sync.Mutex
	plans  []hub.SpawnPlan
	ends   map[int]func(hub.SpawnEnd) // by pid
	stops  map[int]string
	fail   error
	ignore bool // stops are noted but not obeyed
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
	r.allow(change...)
	return r
}

// allow makes a room in which the operator allows spawns of codex.
func (r *spawnRig) allow(change ...func(*hub.SpawnPolicyInput)) {
	r.t.Helper()
	if _, err := r.CreateProject(r.t.Context(), hub.ProjectInput{Name: "p"}); err != nil {
		r.t.Fatal(err)
	}
	room, err := r.CreateRoom(r.t.Context(), hub.RoomInput{Project: "p", Name: "Room"})
	require.NoError(r.t, err)
	r.room = room.Row.RoomID
	in := hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/codex", "--", "{prompt}", "{agent}"}, Dir: "/work"}},
		Allow:    []hub.SpawnAllowance{{RoomID: r.room, Harness: hub.HarnessCodex}},
	}
	for _, c := range change {
		c(&in)
	}
	if _, err := r.SetSpawnPolicy(r.t.Context(), in); err != nil {
		r.t.Fatal(err)
	}
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

// over waits until a spawn has ended and its notice is shown. A row can be read as soon as it is
// on the disk, a message a moment later.
func (r *spawnRig) over(id hub.SpawnID) hub.Spawn {
	r.t.Helper()
	row := r.until(id, "ends", func(row *hub.Spawn) bool { return row.Status.Terminal() })
	written := r.store.Head().Message
	require.Eventually(r.t, "the notice of the end", func() bool { return r.view.Ring.Visible() >= written })
	return row
}

// until waits until holds is true of a spawn.
func (r *spawnRig) until(id hub.SpawnID, what string, holds func(*hub.Spawn) bool) hub.Spawn {
	r.t.Helper()
	for deadline := time.Now().Add(45 * time.Second); ; time.Sleep(time.Millisecond) {
		row, err := r.SpawnByID(context.Background(), id)
		require.NoError(r.t, err)
		if holds(&row) {
			return row
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("spawn %s never %s: %+v", id, what, row)
		}
	}
}

// told returns what system has written to an agent about its spawns.
func (r *spawnRig) told(agent hub.AgentID) (bodies []string) {
	r.t.Helper()
	page, err := r.Inbox(context.Background(), hub.InboxQuery{Agent: agent, Limit: 100})
	require.NoError(r.t, err)
	for _, row := range page.Rows {
		m, err := row.Decode()
		require.NoError(r.t, err)
		if m.FromAgent == hub.AgentSystem && strings.Contains(string(m.Metadata), `"spawn"`) {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}
