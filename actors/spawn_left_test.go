package actors

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/engine"
	"hubcli/hub"
)

// stepped is a spawn rig whose next write runs at, once, when it comes to a step.
type stepped struct {
	*spawnRig
	at atomic.Pointer[func(engine.Step)]
}

func newStepped(t *testing.T, store *memStore) *stepped {
	t.Helper()
	s := &stepped{}
	s.spawnRig = startSpawning(t, store, func(o *Options) {
		o.Step = func(step engine.Step) {
			if at := s.at.Load(); at != nil {
				(*at)(step)
			}
		}
	})
	s.allow()
	return s
}

// once runs f when the next write comes to the step. What is left of earlier writes may follow
// their answers and is waited for first: the test runs in a bubble.
func (s *stepped) once(step engine.Step, f func()) {
	s.t.Helper()
	s.taken()
	var run func(engine.Step)
	run = func(at engine.Step) {
		if at == step && s.at.CompareAndSwap(&run, nil) {
			f()
		}
	}
	s.at.Store(&run)
}

// taken waits for all that goes on. It fails the test if no write has come to the step that
// was given to once.
func (s *stepped) taken() {
	s.t.Helper()
	synctest.Wait()
	if s.at.Load() != nil {
		s.t.Fatal("no write has come to the step")
	}
}

// waysOfAWrite are the steps between the decision and the answer.
var waysOfAWrite = []engine.Step{engine.StepDecided, engine.StepNumbered, engine.StepApplied, engine.StepAppending, engine.StepAppended, engine.StepShown, engine.StepAnswered}

// TestSpawnIsTendedWhoeverLeaves: wherever its caller leaves after the decision, a
// spawn gets its process, once, and its end is told.
func TestSpawnIsTendedWhoeverLeaves(t *testing.T) {
	for _, step := range waysOfAWrite {
		t.Run(string(step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStepped(t, newMemStore())
				const calls = 20
				for i := range calls {
					ctx, leave := context.WithCancel(t.Context())
					s.once(step, leave)
					_, _ = s.trySpawn(ctx, "lead")
					leave()
					rows, _, err := s.Spawns(t.Context(), hub.SpawnsQuery{Active: true, Limit: 10})
					if err != nil || len(rows) != 1 {
						t.Fatalf("call %d: active are %+v, %v", i, rows, err)
					}
					row := s.until(rows[0].SpawnID, "runs", func(row *hub.Spawn) bool { return row.Status == hub.SpawnRunning })
					s.runner.end(row.PID, hub.SpawnEnd{})
					s.over(row.SpawnID)
				}
				s.taken()
				if told := s.told("lead"); len(s.runner.plans) != calls || len(told) != calls {
					t.Errorf("%d calls, %d processes, %d notices", calls, len(s.runner.plans), len(told))
				}
			})
		})
	}
}

// TestSpawnOfWhoLeftBefore: a spawn whose caller leaves before the decision
// does not begin.
func TestSpawnOfWhoLeftBefore(t *testing.T) {
	r := newSpawnRig(t)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err := r.trySpawn(ctx, "lead")
	wantCode(t, err, hub.CodeTimedOut)
	if rows, _, err := r.Spawns(t.Context(), hub.SpawnsQuery{Limit: 10}); err != nil || len(rows) != 0 {
		t.Errorf("there are %+v, %v", rows, err)
	}
}

// TestSpawnWhileTheHubStops: wherever the hub begins to stop on the way of a spawn,
// and its caller leaves, the stop records how it ended: nothing is left to be lost.
func TestSpawnWhileTheHubStops(t *testing.T) {
	for _, step := range waysOfAWrite {
		for _, leaves := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%v", step, leaves), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { spawnWhileTheHubStops(t, step, leaves) })
			})
		}
	}
}

func spawnWhileTheHubStops(t *testing.T, step engine.Step, leaves bool) {
	t.Helper()
	store := newMemStore()
	s := newStepped(t, store)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var stopped <-chan result[struct{}]
	s.once(step, func() {
		stopped = async(func() (struct{}, error) { return struct{}{}, s.stopQuietly() })
		<-s.engine.Ending
		if leaves {
			leave()
		}
	})
	_, _ = s.trySpawn(ctx, "lead")
	s.taken() // the step may come after the answer
	if end := within(t, stopped); end.err != nil {
		t.Fatal(end.err)
	}
	again := startSpawning(t, store)
	rows, _, err := again.Spawns(t.Context(), hub.SpawnsQuery{Limit: 10})
	if err != nil || len(rows) != 1 || rows[0].Status != hub.SpawnStopped || len(again.told("lead")) != 1 {
		t.Errorf("after the stop there are %+v, %v; lead was told %q", rows, err, again.told("lead"))
	}
}

// TestStopOfAnUnsupervisedSpawn: a start that a full disk keeps from recording what is
// lost supervises no old spawn. A stop then records the end itself, once.
func TestStopOfAnUnsupervisedSpawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpawnRig(t)
		row := r.spawn("lead")
		left := r.crash()
		left.setFull(true)
		again := startSpawning(t, left)
		synctest.Wait() // the disk has refused the end of the spawn
		left.setFull(false)
		out, err := again.StopSpawn(t.Context(), row.SpawnID, hub.SpawnStopInput{AgentID: "lead"})
		if err != nil || out.Row.Status != hub.SpawnStopped || out.Row.Reason != "lead stopped it" {
			t.Errorf("the spawn is %+v, %v", out.Row, err)
		}
		time.Sleep(time.Minute) // the start tries again to record that it was lost
		if now := again.over(row.SpawnID); now.Status != hub.SpawnStopped || len(again.told("lead")) != 1 {
			t.Errorf("later the spawn is %+v, lead was told %q", now, again.told("lead"))
		}
		again.stop()
	})
}

// TestStopOfWhoLeaves is carried out all the same once it is decided.
func TestStopOfWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped(t, newMemStore())
		row := s.spawn("lead")
		ctx, leave := context.WithCancel(t.Context())
		s.once(engine.StepDecided, leave)
		_, _ = s.StopSpawn(ctx, row.SpawnID, hub.SpawnStopInput{AgentID: "lead"})
		ended := s.over(row.SpawnID)
		s.taken()
		if told := s.told("lead"); ended.Status != hub.SpawnStopped || len(told) != 1 {
			t.Errorf("the spawn is %+v, lead was told %q", ended, told)
		}
	})
}

// TestSpawnIsNobodyElse: if another has registered as the agent to be, there is no
// process that would take it for itself.
func TestSpawnIsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped(t, newMemStore())
		s.once(engine.StepDecided, func() { s.register("codex") })
		row := s.spawn("lead")
		s.taken()
		if row.Status != hub.SpawnFailed || row.Reason != "another has registered as codex meanwhile" || row.SeatID != "" ||
			len(s.runner.plans) != 0 || len(s.told("lead")) != 1 {
			t.Errorf("the spawn is %+v, %d processes, lead was told %q", row, len(s.runner.plans), s.told("lead"))
		}
	})
}
