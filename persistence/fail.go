package persistence

import (
	"errors"
	"syscall"

	"hubcli/persistence/codec"

	"hubcli/hub"
)

// Failed returns a channel that closes when a write fails. It is then unknown
// what the write stored, and the store accepts no more writes: the process must
// end and start again.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns why the store has failed, or nil.
func (s *Store) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail makes the store refuse all further writes and returns the error for
// callers.
func (s *Store) fail(cause error) error {
	s.failing.Do(func() {
		told := hub.NewError(hub.CodeStoreFailed, "the store failed"+systemReason(cause)+"; whether the last writes were kept is unknown").
			WithFix("the hub ends with exit code 70: check the disk, then start it again and look before repeating a write")
		var gone *goneError
		if errors.As(cause, &gone) {
			told = gone.told()
		}
		err := error(&failure{told: told, cause: codec.Redacted{Err: cause}})
		s.failure.Store(&err)
		s.log.Error("the store failed", "cause", codec.Redact(cause.Error()))
		close(s.failed)
	})
	return s.Err()
}

// systemReason is what the operating system said, in brackets: enough to tell a disk that
// breaks from one that became read-only. It holds no path and no text of an agent.
func systemReason(cause error) string {
	var no syscall.Errno
	if errors.As(cause, &no) {
		return " (" + no.Error() + ")"
	}
	return ""
}

// failure is a *hub.Error for clients that keeps its cause for errors.Is.
type failure struct {
	told  *hub.Error
	cause error
}

func (f *failure) Error() string   { return f.told.Message }
func (f *failure) Unwrap() []error { return []error{f.told, f.cause} }
