package persistence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"
)

// patience is how long a store that has failed is waited for; one whose disk is slow may
// take its time.
const patience = 5 * time.Second

// Close waits for running calls, makes everything durable and releases the
// store. Calls after it return ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	if s.start != nil { // Begin was not called
		s.abandon()
		s.start = nil
		return nil
	}
	first, ended := s.closeGate()
	if !ended {
		// The process must end now. All stays open: the call still uses it.
		return errors.New("persistence: closing the store: a call does not end after its failure")
	}
	if !first {
		return nil
	}
	defer s.mapped.wait()
	close(s.closing)
	s.writing.Lock() // an Append may still have to write HEAD
	defer s.writing.Unlock()
	s.stopHeadTimer()
	whole, open, err := s.closeDatabase()
	s.heading.Lock()
	defer s.heading.Unlock()
	if err == nil && s.Err() == nil {
		err = errors.Join(s.head.Write(s.mark(whole)), s.head.Sync())
	}
	err = errors.Join(err, s.head.F.Close())
	if !open { // else the lock ends with the process, whose Badger goroutines still use the store and its folder
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("persistence: closing the store: %w", codec.Redacted{Err: err})
	}
	return nil
}

// closeGate lets no call in and waits for those inside. In a store that has failed a commit
// may wait for ever for Badger to make a table: ended is false then.
func (s *Store) closeGate() (first, ended bool) {
	closed := make(chan bool, 1)
	go func() { closed <- s.gate.close() }()
	select {
	case first := <-closed:
		return first, true
	case <-s.failed:
	}
	select {
	case first := <-closed:
		return first, true
	case <-time.After(patience):
		return true, false
	}
}

// closeDatabase closes Badger if that cannot do harm. Closing flushes memory to
// new files, which kills the process on a full disk and is tried forever on a
// failing disk. Data that is not flushed is in Badger's own log, as after a kill:
// whole is false then, and nothing is lost. open says that Badger was left open.
func (s *Store) closeDatabase() (whole, open bool, err error) {
	var gone *goneError
	if errors.As(s.Err(), &gone) { // closing it would write where the folder was
		s.rest.close()
		return false, true, nil
	}
	if ok, _ := s.space.look(); !ok {
		s.rest.close()
		s.leaveOpen()
		return false, true, nil
	}
	s.rest.close()
	done := make(chan error, 1)
	go func() { done <- s.db.Close() }()
	for {
		select {
		case err := <-done:
			if err != nil || s.Err() != nil {
				return false, false, err
			}
			return true, false, s.badger.failure()
		case <-time.After(patience):
		}
		switch {
		case s.Err() != nil:
			return false, true, errors.New("the database does not close after its failure")
		case s.badger.failure() == nil:
		case s.space.short():
			s.leaveOpen()
			return false, true, nil
		default:
			return false, true, fmt.Errorf("the database does not close: %w", s.badger.failure())
		}
	}
}

func (s *Store) leaveOpen() {
	s.log.Warn("the disk is full, so the database is left as it is; nothing is lost: the next start goes on from its logs")
}

// forget deletes the files that earlier starts put aside, because this start
// has shown that nothing is missing.
func (s *Store) forget(earlier []string) {
	aside := filepath.Join(s.dir, storedir.NameBadger, badgerfile.NameAside)
	for _, name := range earlier {
		if err := os.RemoveAll(filepath.Join(aside, name)); err != nil {
			s.log.Warn("what an earlier start had put aside cannot be deleted", "file", name, "cause", err)
		}
	}
	_ = os.Remove(aside) // stays if something is in it
}
