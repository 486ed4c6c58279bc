package spawns

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
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

// Options are the parts of the hub that a manager uses.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Gate   *gate.Gate
	Rows   core.Rows
	Log    *slog.Logger
	// Runner starts processes. nil: every request is refused.
	Runner Runner
	// BaseURL is the address by which the processes reach the hub.
	BaseURL string
	// Key returns the key of a connection and its variable, for the child alone. It asks the
	// credential store and may take seconds. Refusals are *hub.Error.
	Key func(ctx context.Context, ref string) (hub.SpawnKey, error)
}

// Manager knows the spawns from their decision to their end. The owner's turn calls
// decided, the writer calls Shown once the record is durable, and only then a process
// is started. So a committed spawn is supervised whatever happens to its caller.
type Manager struct {
	view    *view.View
	engine  *engine.Engine
	gate    *gate.Gate
	rows    core.Rows
	log     *slog.Logger
	runner  Runner
	baseURL string
	key     func(ctx context.Context, ref string) (hub.SpawnKey, error)

	mu     sync.Mutex
	closed bool // no spawn may be requested any more
	busy   int  // requests under way, and supervised spawns
	spawns map[hub.SpawnID]*spawn
}

// spawn is a spawn that was decided and has not ended.
type spawn struct {
	row     hub.Spawn // as decided
	plan    *hub.SpawnPlan
	args    []string // of the operator's command
	values  core.SpawnValues
	started chan hub.Spawn // capacity 1

	// Guarded by the manager.
	committed bool
	control   *hub.SpawnControl // nil: there is no process yet
	stop      string            // why it is to end; empty: it may run on
}

// New returns a manager without spawns.
func New(o Options) *Manager {
	return &Manager{
		view: o.View, engine: o.Engine, gate: o.Gate, rows: o.Rows, log: o.Log, runner: o.Runner, baseURL: o.BaseURL, key: o.Key,
		spawns: map[hub.SpawnID]*spawn{},
	}
}

// begin counts a request under way; false while the hub stops. done ends it.
func (m *Manager) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.busy++
	}
	return !m.closed
}

// done ends what begin or committed has counted.
func (m *Manager) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
}

// decided notes a spawn whose record is about to be committed.
func (m *Manager) decided(row hub.Spawn, t *spawn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.row = row
	if m.closed {
		t.stop = stoppedWithHub
	}
	m.spawns[row.SpawnID] = t
}

// forget undoes decided, unless the record was committed.
func (m *Manager) forget(t *spawn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := t.row.SpawnID; m.spawns[id] == t && !t.committed {
		delete(m.spawns, id)
	}
}

// runs notes the process of a spawn. If a stop was requested meanwhile, it stops the
// process.
func (m *Manager) runs(id hub.SpawnID, c hub.SpawnControl) {
	m.mu.Lock()
	t := m.spawns[id]
	t.control = &c
	why := t.stop
	m.mu.Unlock()
	if why != "" {
		c.Stop(why)
	}
}

// stop requests the end of a spawn; false: the spawn is not supervised and will not be.
func (m *Manager) stop(id hub.SpawnID, why string) bool {
	m.mu.Lock()
	t := m.spawns[id]
	var control *hub.SpawnControl
	if t != nil && t.stop == "" {
		t.stop, control = why, t.control
	}
	m.mu.Unlock()
	if control != nil {
		control.Stop(why)
	}
	return t != nil
}

// stopReason returns why a spawn is to end; empty: it may run on.
func (m *Manager) stopReason(id hub.SpawnID) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spawns[id].stop
}

// over forgets a spawn that has ended.
func (m *Manager) over(id hub.SpawnID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.spawns, id)
}

// Count says how many spawns have been decided and have not ended.
func (m *Manager) Count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.spawns)
}

// stoppedWithHub is why spawns end when the hub is stopped.
const stoppedWithHub = "the hub was stopped"

// Stop ends every spawn and waits until each end is recorded, or ctx is done. A spawn
// whose end is not recorded then is lost at the next start.
func (m *Manager) Stop(ctx context.Context) {
	m.mu.Lock()
	m.closed = true
	left := slices.Collect(maps.Keys(m.spawns))
	m.mu.Unlock()
	for _, id := range left {
		m.stop(id, stoppedWithHub)
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for m.underway() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// underway says how many requests and supervised spawns there are.
func (m *Manager) underway() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy
}
