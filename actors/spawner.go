package actors

import (
	"context"
	"maps"
	"slices"
	"sync"

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

// spawner knows the processes of the spawns that are tended, and waits for those
// who tend them.
type spawner struct {
	mu     sync.Mutex
	closed bool // no spawn begins any more
	tends  map[hub.SpawnID]*tending
	tended sync.WaitGroup
}

// tending is one spawn on its way.
type tending struct {
	control *hub.SpawnControl // nil: there is no process yet
	stop    string            // why it is to end; empty: it is not
}

func newSpawner() *spawner { return &spawner{tends: map[hub.SpawnID]*tending{}} }

// begin reserves a place for one who tends a spawn; false while the hub stops.
// tended.Done gives it back.
func (s *spawner) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.tended.Add(1)
	return true
}

// expect notes a spawn that is tended from now on.
func (s *spawner) expect(id hub.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tends[id] = &tending{}
	if s.closed {
		s.tends[id].stop = stoppedWithHub
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

// stop asks for the end of a spawn; one that is not tended has ended.
func (s *spawner) stop(id hub.SpawnID, why string) {
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
	done := make(chan struct{})
	go func() {
		s.tended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
