package persistence

import (
	"fmt"
	"time"

	"hubcli/persistence/storedir"
)

// headSyncEvery is how far HEAD may be behind on the disk.
const headSyncEvery = time.Second

// mark is what HEAD says now.
func (s *Store) mark(clean bool) storedir.Mark {
	return storedir.Mark{Head: s.durable, LastFrame: s.frameEnd, Clean: clean}
}

// writeHead writes HEAD after a commit. HEAD is synced within headSyncEvery, not
// with each commit: it must never promise more than the journal holds, and it does
// no harm if it promises less. On systems where the sync of another file is what
// makes the commit durable (syncEveryCommit), it is synced at once.
func (s *Store) writeHead() error {
	s.heading.Lock()
	defer s.heading.Unlock()
	if err := s.head.Write(s.mark(false)); err != nil {
		return err
	}
	if syncEveryCommit {
		return s.head.Sync()
	}
	if s.headTimer == nil {
		s.headTimer = time.AfterFunc(headSyncEvery, s.syncHead)
	}
	return nil
}

// syncHead runs a second after the first write that is not synced. Commits go on
// meanwhile.
func (s *Store) syncHead() {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.heading.Lock()
	if s.headTimer == nil {
		s.heading.Unlock()
		return // stopped
	}
	s.headTimer = nil
	s.head.Dirty = false
	s.heading.Unlock()
	if err := s.head.F.Sync(); err != nil {
		_ = s.fail(fmt.Errorf("syncing HEAD: %w", err))
	}
}

func (s *Store) stopHeadTimer() {
	s.heading.Lock()
	if s.headTimer != nil {
		s.headTimer.Stop()
		s.headTimer = nil
	}
	s.heading.Unlock()
	s.syncing.Lock() // waits for a run that has begun
	defer s.syncing.Unlock()
}
