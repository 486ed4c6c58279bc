package persistence

import (
	"sync"

	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"
)

// gate stands before every use of Badger. close waits for the calls inside, and no
// call gets in after it: a later call would read unmapped memory.
//
// It also knows which commit timestamps are still being read, so that Badger may
// drop superseded versions below them. Reads are counted in two generations; once
// the older one is empty all reads are at or above the start of the newer.
type gate struct {
	mu      sync.Mutex
	visible uint64 // commit timestamp up to which everything is synced
	inside  int
	closed  bool
	empty   chan struct{} // closed when the gate is closed and no call is inside
	old     *generation
	current *generation
}

type generation struct {
	start   uint64 // all its reads are at or above this timestamp
	readers int
}

func newGate(visible uint64) *gate {
	return &gate{
		visible: visible, empty: make(chan struct{}),
		old: &generation{start: visible}, current: &generation{start: visible},
	}
}

// enter admits a call and returns the timestamp at which it reads.
func (g *gate) enter() (gen *generation, ts uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, 0, storedir.ErrClosed
	}
	g.inside++
	g.current.readers++
	return g.current, g.visible, nil
}

func (g *gate) leave(gen *generation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gen.readers--
	if g.inside--; g.inside == 0 && g.closed {
		close(g.empty)
	}
}

// publish makes commits up to ts visible to the reads that follow.
func (g *gate) publish(ts uint64) {
	g.mu.Lock()
	g.visible = ts
	g.mu.Unlock()
}

// unread returns a timestamp below which no call reads any more, or false.
func (g *gate) unread() (uint64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.old.readers > 0 {
		return 0, false
	}
	ts := g.current.start
	g.old, g.current = g.current, &generation{start: g.visible}
	return ts, true
}

// alone runs fn while no call is inside, which lets none in, and reports whether it did.
func (g *gate) alone(fn func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside > 0 || g.closed {
		return false
	}
	fn()
	return true
}

// close refuses all later calls and waits for the calls inside. It returns false
// if the gate was closed before.
func (g *gate) close() bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		<-g.empty
		return false
	}
	g.closed = true
	if g.inside == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	<-g.empty
	return true
}

// committed runs fn on a snapshot of everything that has been committed.
func (s *Store) committed(fn func(*badger.Txn) error) error {
	gen, ts, err := s.gate.enter()
	if err != nil {
		return err
	}
	defer s.gate.leave(gen)
	txn := s.db.NewTransactionAt(ts, false)
	defer txn.Discard()
	return fn(txn)
}
