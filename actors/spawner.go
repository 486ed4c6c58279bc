package actors

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Runner starts processes and watches over them. Refusals are *hub.Error.
type Runner interface {
	// Check refuses what cannot be started: bad_executable. It looks at files and
	// may wait for them.
	Check(plan *hub.SpawnPlan) error
	// Start starts a process in a group of its own. ended is called once, from
	// another goroutine, when no process of the group is left and its output is
	// complete. The process ends with this one, however that ends.
	Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error)
}

// spawner knows the spawns from their decision to their end. The owner's turn notes
// what was decided, the view of committed records has it tended: nothing that
// becomes of the caller in between keeps a committed spawn from it.
type spawner struct {
	tend func(*tending) // goes with a spawn to its end, then calls done

	mu     sync.Mutex
	closed bool // no spawn is asked for any more
	busy   int  // requests under way, and spawns that are tended
	tends  map[hub.SpawnID]*tending
}

// tending is one spawn on its way.
type tending struct {
	row     hub.Spawn // as decided
	plan    *hub.SpawnPlan
	args    []string // of the operator's command
	values  core.SpawnValues
	started chan hub.Spawn // capacity 1

	// Guarded by the spawner.
	committed bool
	control   *hub.SpawnControl // nil: there is no process yet
	stop      string            // why it is to end; empty: it is not
}

func newSpawner(tend func(*tending)) *spawner {
	return &spawner{tend: tend, tends: map[hub.SpawnID]*tending{}}
}

// begin notes a request under way; false while the hub stops. done ends it.
func (s *spawner) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.busy++
	}
	return !s.closed
}

// done ends what begin or committed has begun.
func (s *spawner) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
}

// decided notes a spawn whose record is about to be committed.
func (s *spawner) decided(row hub.Spawn, t *tending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.row = row
	if s.closed {
		t.stop = stoppedWithHub
	}
	s.tends[row.SpawnID] = t
}

// forget takes back what decided has noted, if that was not committed.
func (s *spawner) forget(t *tending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := t.row.SpawnID; s.tends[id] == t && !t.committed {
		delete(s.tends, id)
	}
}

// shown learns of a committed record: a spawn that was asked for in it is tended.
func (s *spawner) shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind != core.OwnerSpawns {
		return
	}
	for _, f := range facts {
		if _, ok := f.(*core.SpawnRequested); ok {
			s.committed(hub.SpawnID(core.IDAt(core.PrefixSpawn, r.Seq)))
		}
	}
}

// committed has the spawn of a committed record tended, once. It does not block.
func (s *spawner) committed(id hub.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tends[id]; t != nil && !t.committed {
		t.committed = true
		s.busy++
		go s.tend(t)
	}
}

// runs notes the process of a spawn. A stop that was asked for meanwhile reaches
// it.
func (s *spawner) runs(id hub.SpawnID, c hub.SpawnControl) {
	s.mu.Lock()
	t := s.tends[id]
	t.control = &c
	why := t.stop
	s.mu.Unlock()
	if why != "" {
		c.Stop(why)
	}
}

// stop asks for the end of a spawn; false: nobody tends it, or will.
func (s *spawner) stop(id hub.SpawnID, why string) bool {
	s.mu.Lock()
	t := s.tends[id]
	var control *hub.SpawnControl
	if t != nil && t.stop == "" {
		t.stop, control = why, t.control
	}
	s.mu.Unlock()
	if control != nil {
		control.Stop(why)
	}
	return t != nil
}

// stopOf returns why a spawn is to end; empty: it is not.
func (s *spawner) stopOf(id hub.SpawnID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tends[id].stop
}

// over forgets a spawn that has ended.
func (s *spawner) over(id hub.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tends, id)
}

// count says how many spawns are tended.
func (s *spawner) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tends)
}

// stoppedWithHub is why spawns end when the hub is stopped.
const stoppedWithHub = "the hub was stopped"

// endSpawns ends every spawn and waits until each is recorded, or ctx is done:
// what is not recorded then is lost at the next start.
func (h *Hub) endSpawns(ctx context.Context) {
	s := h.spawner
	s.mu.Lock()
	s.closed = true
	left := slices.Collect(maps.Keys(s.tends))
	s.mu.Unlock()
	for _, id := range left {
		s.stop(id, stoppedWithHub)
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for s.underway() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// underway says how many requests and tended spawns there are.
func (s *spawner) underway() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}
