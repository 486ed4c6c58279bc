package persistence

import (
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/dgraph-io/badger/v4"
)

// restAfter is how long no commit comes before the compactors rest, or up to twice
// as long.
const restAfter = 2 * time.Second

// Badger's compactors look for work twenty times a second each, for ever. In a hub
// that nobody calls these looks were 230 wakeups a second and half a percent of a
// core: nearly all of what the process did. Badger has no setting for it, and stops
// and starts its compactors in Flatten, which rewrites the whole database. So the
// store calls the two functions themselves. If a later Badger has them no more, the
// link fails; if they do something else, TestCompactorsRest does.
//
//go:linkname stopCompactions github.com/dgraph-io/badger/v4.(*DB).stopCompactions
func stopCompactions(db *badger.DB)

//go:linkname startCompactions github.com/dgraph-io/badger/v4.(*DB).startCompactions
func startCompactions(db *badger.DB)

// rest stops the compactors while there is nothing to do: no commit for restAfter,
// and no level that is due. Tables come only from commits, so a commit starts them
// again before it writes.
type rest struct {
	db      *badger.DB
	rests   func()      // is called when the compactors have begun to rest, with mu held
	used    atomic.Bool // since the last look
	resting atomic.Bool // changes under mu

	mu     sync.Mutex
	look   *time.Timer
	closed bool
}

func newRest(db *badger.DB, rests func()) *rest {
	r := &rest{db: db, rests: rests}
	r.look = time.AfterFunc(restAfter, r.tick)
	return r
}

// wake is called before each commit.
func (r *rest) wake() {
	r.used.Store(true)
	if !r.resting.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rise()
}

// rise starts the compactors if they rest. mu is held.
func (r *rest) rise() {
	if !r.resting.Load() || r.closed {
		return
	}
	startCompactions(r.db)
	r.resting.Store(false)
	r.look.Reset(restAfter)
}

// tick lets the compactors rest if there was no commit since the last tick.
func (r *rest) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.used.Swap(false) || r.due() {
		r.look.Reset(restAfter)
		return
	}
	stopCompactions(r.db)
	r.resting.Store(true)
	if r.used.Load() { // a commit came meanwhile, and may not have seen that they rest
		r.rise()
		return
	}
	r.rests()
}

// due reports whether a compactor would find work.
func (r *rest) due() bool {
	for _, level := range r.db.Levels() {
		if level.Score >= 1 && (level.Level == 0 || level.Adjusted >= 1) {
			return true
		}
	}
	return false
}

// close ends the looks, with the compactors running: Badger flushes its memory when
// it is closed, and a flush may have to wait for them.
func (r *rest) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rise()
	r.closed = true
	r.look.Stop()
}
