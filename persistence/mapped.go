package persistence

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4"
)

// mapped gives back the memory of the files in which Badger keeps large values. Badger
// maps these files whole and writes and reads through the mapping, so each page of a
// value that was ever written or read counts as memory of the process until the system
// takes it. What is given back stays in the system's cache of files, and is mapped again
// when it is read.
//
// The tables of the database are mapped in the same way. They are given back when the store
// comes to rest; see giveBackAtRest.
//
// Values are given back with the lock of those that commit. So Badger maps and unmaps no
// such file meanwhile: it does that within a commit, and when the database is opened or
// closed.
type mapped struct {
	writing *sync.Mutex // the store's
	dir     string      // the database's folder, links resolved

	// Guarded by writing.
	written int64 // bytes of large values since the last time
	last    time.Time

	// What was read since the last time, and whether a goroutine is about to give it back.
	looked atomic.Int64
	giving atomic.Bool
	givers sync.WaitGroup
}

// After so many bytes of large values, or after so long, a commit gives the memory back, and
// reads do so after so many bytes. It costs a tenth of a millisecond, and a millisecond with
// 100 GB of values.
const (
	giveBackBytes  = 4 << 20
	giveBackAfter  = 10 * time.Second
	giveBackLooked = 32 << 20
)

// How Badger calls the files of large values, and its tables.
const (
	valueFiles = ".vlog"
	tableFiles = ".sst"
)

// mappedAround is what the system maps around a page that is read, at most, if it has it in its
// cache. Linux does that by 64 KiB.
const mappedAround = 64 << 10

func newMapped(dir string, writing *sync.Mutex) *mapped {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return &mapped{writing: writing, dir: dir, last: time.Now()}
}

// wrote counts what a commit has written, and gives memory back if that is due. The caller
// has the lock.
func (m *mapped) wrote(entries []codec.Entry) {
	_, values := sizes(entries)
	m.written += values
	if now := time.Now(); m.written >= giveBackBytes || now.Sub(m.last) >= giveBackAfter {
		m.last = now
		m.giveBack()
	}
}

func (m *mapped) giveBack() {
	m.written = 0
	m.looked.Store(0)
	giveBack(m.dir, valueFiles)
}

// giveBackAtRest gives back the memory of the tables too, when the compactors have begun to
// rest. A table goes with a compaction or with the last read of it: now there is neither.
func (s *Store) giveBackAtRest() {
	if !s.writing.TryLock() {
		return // a commit has come: it wakes the compactors
	}
	defer s.writing.Unlock()
	s.mapped.giveBack()
	s.gate.alone(func() { giveBack(s.mapped.dir, tableFiles) })
}

// reads counts a value that is about to be read, and has memory given back if that is due. It
// does not wait for it: the caller may have the lock. A nil m counts nothing.
func (m *mapped) reads(item *badger.Item) {
	if m == nil {
		return
	}
	size := item.ValueSize()
	if size < codec.ValueThreshold || m.looked.Add(size+mappedAround) < giveBackLooked || m.giving.Swap(true) {
		return
	}
	m.givers.Go(func() {
		m.writing.Lock()
		defer m.writing.Unlock()
		m.giving.Store(false)
		m.giveBack()
	})
}

// wait returns when nothing is given back any more. No read is under way, and the caller does
// not have the lock.
func (m *mapped) wait() { m.givers.Wait() }
