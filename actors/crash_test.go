package actors

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/engine"
	"hubcli/hub"
)

// steps lists the steps of a write in order.
var steps = []engine.Step{engine.StepDecided, engine.StepNumbered, engine.StepApplied, engine.StepAppending, engine.StepAppended, engine.StepShown, engine.StepAnswered, engine.StepNotified}

// crashPoint is the disk after a loss of power, and the promises made before
// it.
type crashPoint struct {
	promised *ledger
	disk     *disk
}

// Invariant 1: a 2xx to a write survives process kill, OS crash and power loss.
// Invariant 3: one command = one record = all or nothing. At every step, under
// load, the test clones the disk and starts a new hub from the clone.
func TestInvariant1AcknowledgedSurvivesCrashAtEveryStep(t *testing.T) {
	for _, at := range steps {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", at, seed), func(t *testing.T) {
				for i, p := range crashes(t, at, seed) {
					r := start(t, &memStore{disk: p.disk})
					wholeTrees(t, r)
					wholeRuns(t, r)
					p.promised.check(t, r)
					if t.Failed() {
						t.Fatalf("crash %d, with %d records on the disk", i, p.disk.head.Seq)
					}
					r.stop()
				}
			})
		}
	}
}

// crashes puts load on a hub and returns crash points from a few moments when
// the hub took this step.
func crashes(t *testing.T, at engine.Step, seed uint64) (points []crashPoint) {
	store, l := newMemStore(), newLedger()
	store.delay = randomDelay(seed, 200*time.Microsecond)
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 99))
	next := 5
	step := func(s engine.Step) {
		if s != at {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if next--; next == 0 {
			next = 5 + rng.IntN(15)
			promised := l.clone() // before the disk, which need not hold what is promised in between
			points = append(points, crashPoint{promised, store.clone()})
		}
	}
	r := start(t, store, func(o *Options) { o.Step = step })
	load(r, l, seed, 6, 40)
	r.idle()
	_ = r.stopQuietly()
	if len(points) == 0 {
		t.Fatalf("step %s was not taken often enough", at)
	}
	return points[:min(len(points), 6)]
}

// wholeTrees fails if a parent is open although all its children are done: the
// record that ended the last child must have ended the parent too.
func wholeTrees(t *testing.T, r *rig) {
	t.Helper()
	tasks, _, err := r.Tasks(asOperator(t.Context()), hub.TasksQuery{Limit: 1000})
	if err != nil {
		t.Fatalf("tasks: %v", err)
	}
	open, children := map[hub.TaskID]int{}, map[hub.TaskID]int{}
	for _, task := range tasks {
		if task.ParentTaskID != nil {
			children[*task.ParentTaskID]++
			if task.Status != hub.TaskDone {
				open[*task.ParentTaskID]++
			}
		}
		if m, err := r.Message(asOperator(t.Context()), task.TaskID, ""); err != nil || m == nil {
			t.Errorf("task %d without its message: %v", task.TaskID, err)
		}
	}
	for _, task := range tasks {
		if id := task.TaskID; !task.Status.Terminal() && children[id] > 0 && open[id] == 0 {
			t.Errorf("task %d is %s although its %d children are done", id, task.Status, children[id])
		}
	}
}

// wholeRuns fails if a run and its tasks do not agree.
func wholeRuns(t *testing.T, r *rig) {
	t.Helper()
	operator := asOperator(t.Context())
	runs, _, err := r.Runs(operator, hub.RunsQuery{Limit: 1000})
	if err != nil {
		t.Fatalf("runs: %v", err)
	}
	for _, run := range runs {
		live := 0
		for _, id := range run.TaskIDs {
			task, err := r.Task(operator, id, "")
			if err != nil || task.RunID == nil || *task.RunID != run.RunID {
				t.Errorf("task %d of run %s is %+v, %v", id, run.RunID, task, err)
			}
			if !task.Status.Terminal() {
				live++
			}
		}
		c := run.Counts
		if c.Total != len(run.TaskIDs) || c.Open+c.Working+c.InputRequired != live || run.Status.Terminal() != (live == 0 && c.Total > 0) {
			t.Errorf("run %+v: %d of its tasks have not ended", run, live)
		}
	}
}

// The order of the steps: nothing is shown before it is on the disk, and
// nothing is answered before it is shown.
func TestInvariant1SyncedBeforeVisibleBeforeAcknowledged(t *testing.T) {
	store := newMemStore()
	var r *rig
	gates := map[engine.Step]chan chan struct{}{engine.StepAppending: make(chan chan struct{}), engine.StepAppended: make(chan chan struct{}), engine.StepShown: make(chan chan struct{})}
	var armed sync.Map
	r = start(t, store, func(o *Options) {
		o.Step = func(s engine.Step) {
			if _, ok := armed.Load("on"); !ok {
				return
			}
			if g, ok := gates[s]; ok {
				release := make(chan struct{})
				g <- release
				<-release
			}
		}
	})
	armed.Store("on", true)
	answer := async(func() (hub.Message, error) {
		return r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: "x"})
	})
	for _, at := range []struct {
		step    engine.Step
		durable hub.Seq
		visible hub.MessageID
	}{{engine.StepAppending, 0, 0}, {engine.StepAppended, 1, 0}, {engine.StepShown, 1, 1}} {
		release := <-gates[at.step]
		if d, v := store.Head().Seq, r.view.Ring.Visible(); d != at.durable || v != at.visible {
			t.Errorf("%s: %d durable, %d visible; want %d, %d", at.step, d, v, at.durable, at.visible)
		}
		p, err := r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Limit: 10})
		if err != nil || len(p.Rows) != int(at.visible) {
			t.Errorf("%s: a poll shows %d rows, %v", at.step, len(p.Rows), err)
		}
		if _, err := r.Message(t.Context(), 1, "bob"); (err == nil) != (at.visible == 1) {
			t.Errorf("%s: message 1: %v", at.step, err)
		}
		parked(t, answer)
		close(release)
	}
	armed.Delete("on")
	if got := within(t, answer); got.err != nil {
		t.Errorf("answer: %v", got.err)
	}
}

// Invariant 5: every answer of an owner, refusals included, waits until
// everything that it rests on is durable.
func TestInvariant5AnswersWaitForWhatTheyRestOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		gate := make(chan struct{})
		store.setGate(gate)
		ctx := t.Context()
		grant := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 600})
		})
		synctest.Wait()
		denied := async(func() (hub.Grant[hub.Claim], error) { // its answer tells of ann's lease
			return r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 600})
		})
		refused := async(func() (hub.Outcome[hub.Claim], error) {
			return r.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: "bob", ClaimKey: "k"})
		})
		same := async(func() (hub.Grant[hub.Claim], error) { // it has no effect of its own
			return r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 60})
		})
		synctest.Wait()
		parked(t, grant)
		parked(t, denied)
		parked(t, refused)
		parked(t, same)
		close(gate)
		if g := within(t, denied); g.err != nil || g.v.Acquired || g.v.Row.OwnerAgentID != "ann" {
			t.Errorf("denied: %+v", g)
		}
		wantCode(t, within(t, refused).err, hub.CodeNotHolder)
		if g := within(t, same); g.err != nil || !g.v.Acquired {
			t.Errorf("same: %+v", g)
		}
		within(t, grant)
		r.idle()
		r.stop()
	})
}
