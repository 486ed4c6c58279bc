package persistence

import (
	"errors"
	"fmt"
	"time"
)

// Close waits for running calls, makes everything durable and releases the
// store. Calls after it return ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	if !s.gate.close() {
		return nil
	}
	s.writing.Lock() // an Append may still have to write HEAD
	defer s.writing.Unlock()
	s.stopHeadTimer()
	whole, open, err := s.closeDatabase()
	s.heading.Lock()
	defer s.heading.Unlock()
	if err == nil && s.Err() == nil {
		err = errors.Join(s.head.write(s.mark(whole)), s.head.sync())
	}
	err = errors.Join(err, s.head.f.Close())
	if !open { // else the lock ends with the process, whose Badger goroutines still use the store
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("persistence: closing the store: %w", redacted{err})
	}
	return nil
}

// closeDatabase closes Badger if that cannot do harm. Closing flushes memory to
// new files, which kills the process on a full disk and is tried forever on a
// failing disk. Data that is not flushed is in Badger's own log, as after a kill:
// whole is false then, and nothing is lost. open says that Badger was left open.
func (s *Store) closeDatabase() (whole, open bool, err error) {
	if ok, _ := s.space.look(); !ok {
		s.rest.close()
		s.leaveOpen()
		return false, true, nil
	}
	s.rest.close()
	done := make(chan error, 1)
	go func() { done <- s.db.Close() }()
	for {
		const patience = 5 * time.Second // with a database that has failed; a slow one may take its time
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
