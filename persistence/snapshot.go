package persistence

import (
	"sync"

	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
)

// Snapshot returns the rows as they are after the latest commit. Commits and reads go on
// meanwhile; the database keeps for it what they replace. Close waits for open snapshots,
// so the owner of the store has them closed first. Errors: ErrClosed, and why the store
// failed.
func (s *Store) Snapshot() (core.Snapshot, error) {
	s.writing.Lock() // so that head and transaction are those of one commit
	defer s.writing.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	gen, ts, err := s.gate.enter()
	if err != nil {
		return nil, err
	}
	v := &instant{head: s.durable, txn: s.db.NewTransactionAt(ts, false), leave: func() { s.gate.leave(gen) }}
	gaps := s.importGaps() // what was out of sight then stays so
	v.reads = reads{view: v.read, importGaps: func() importGaps { return gaps }, mapped: s.mapped}
	return v, nil
}

// instant reads through one transaction, whose iterators may be used by several
// goroutines. A read holds mu as a reader, so that Close waits for it.
type instant struct {
	reads

	head  core.Head
	mu    sync.RWMutex
	txn   *badger.Txn // nil: closed
	leave func()
}

// Head returns the end of the journal at the commit that the snapshot shows.
func (v *instant) Head() core.Head { return v.head }

func (v *instant) read(fn func(*badger.Txn) error) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.txn == nil {
		return storedir.ErrClosed
	}
	return fn(v.txn)
}

// Close ends the snapshot when no read is under way.
func (v *instant) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.txn == nil {
		return
	}
	v.txn.Discard()
	v.txn = nil
	v.leave()
}
