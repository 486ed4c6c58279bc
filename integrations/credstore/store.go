package credstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

// Timeout is how long a call waits for the operating system.
const Timeout = 5 * time.Second

// service is the name under which the system's store lists the secrets.
const service = "hubcli"

// Store reads and keeps secrets. The zero value is ready.
type Store struct {
	// Timeout bounds a call; 0: Timeout.
	Timeout time.Duration
	// File is used in the place of the operating system's store; nil: that is used.
	File *File
	// LookupEnv reads a variable; nil: os.LookupEnv.
	LookupEnv func(name string) (string, bool)

	system system // nil: the operating system's
	once   sync.Once
	turn   chan struct{} // holds one token: one call at a time speaks to the system's store
}

// system is a credential store, of the operating system or a file. Its calls may wait for a human,
// without a limit.
type system interface {
	// missing says why there is no store; empty: there may be one.
	missing() string
	// classify says what an error of the other calls means, if it recognizes it.
	classify(err error) (Kind, string)
	get(service, name string) (string, error)
	set(service, name, secret string) error
	remove(service, name string) error
}

// Get returns a secret. Errors: NoStore, Locked, NotFound, BadRef, Failed.
func (s *Store) Get(ctx context.Context, r Ref) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	if r.Source == Env {
		return s.variable(r)
	}
	var secret string
	err := s.call(ctx, r, func(sys system) (err error) {
		secret, err = sys.get(service, r.Name)
		return err
	}, nil)
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Set keeps a secret under a name, in place of the one that was there. A call that fails
// has kept nothing, also if the system opens its store later. Errors: NoStore, Locked,
// TooLarge, ReadOnly, Empty, BadRef, Failed.
func (s *Store) Set(ctx context.Context, r Ref, secret string) error {
	if err := r.check(); err != nil {
		return err
	}
	switch {
	case r.Source == Env:
		return readOnly(r)
	case secret == "":
		return &Error{Kind: Empty, Ref: r, Message: "the secret is empty", Fix: "give the secret; nothing was kept"}
	case len(secret) > maxSecret:
		return tooLarge(r, nil)
	}
	return s.call(ctx, r,
		func(sys system) error { return sys.set(service, r.Name, secret) },
		func(sys system) { _ = sys.remove(service, r.Name) })
}

// Delete removes a secret. One that is not there is no error, so that a call that was
// broken off can be repeated. Errors: NoStore, Locked, ReadOnly, BadRef, Failed.
func (s *Store) Delete(ctx context.Context, r Ref) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.Source == Env {
		return readOnly(r)
	}
	err := s.call(ctx, r, func(sys system) error { return sys.remove(service, r.Name) }, nil)
	if KindOf(err) == NotFound {
		return nil
	}
	return err
}

func (s *Store) variable(r Ref) (string, error) {
	look := s.LookupEnv
	if look == nil {
		look = os.LookupEnv
	}
	// A key that a shell reads from a file often ends with the end of a line.
	if value, ok := look(r.Name); ok && strings.TrimSpace(value) != "" {
		return strings.TrimSpace(value), nil
	}
	return "", &Error{
		Kind: NotFound, Ref: r,
		Message: "the variable " + r.Name + " is not set in the environment of the hub",
		Fix:     "set " + r.Name + " where the hub is started, and start the hub again: it keeps the environment with which it was started",
	}
}

func readOnly(r Ref) error {
	return &Error{
		Kind: ReadOnly, Ref: r,
		Message: "a variable of the environment is only read: " + r.Name,
		Fix:     "change it where the hub is started, and start the hub again",
	}
}

func tooLarge(r Ref, cause error) error {
	return &Error{
		Kind: TooLarge, Ref: r, Cause: cause,
		Message: fmt.Sprintf("the secret is too long for the credential store: it takes %d bytes", maxSecret),
		Fix:     "check that it is the secret alone and not a whole file",
	}
}

// call runs act with the system's store and waits for it until the time is over. If act
// succeeds later than that, undo takes it back. Until then no other call begins: a store
// that waits for its password answers nobody.
func (s *Store) call(ctx context.Context, r Ref, act func(system) error, undo func(system)) error {
	s.once.Do(func() {
		switch {
		case s.system != nil:
		case s.File != nil:
			s.system = s.File
		default:
			s.system = operatingSystem{}
		}
		s.turn = make(chan struct{}, 1)
	})
	if why := s.system.missing(); why != "" {
		return noStore(r, why, nil)
	}
	limit := s.Timeout
	if limit == 0 {
		limit = Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errWaited)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return gaveUp(ctx, r, limit)
	}
	done := make(chan error)
	go func() {
		defer func() { <-s.turn }()
		err := act(s.system)
		said := s.explain(r, err)
		select {
		case done <- said:
		case <-ctx.Done():
			if err == nil && undo != nil {
				undo(s.system)
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return gaveUp(ctx, r, limit)
	}
}

// errWaited is the cause of a call that has taken its whole time.
var errWaited = errors.New("the time for the credential store is over")

// gaveUp says that a call ended before the system answered.
func gaveUp(ctx context.Context, r Ref, limit time.Duration) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errWaited) {
		return locked(r, fmt.Sprintf("it did not answer within %s and may wait for its password", limit), cause)
	}
	return cause
}

// explain turns the system's error into one of this package.
func (s *Store) explain(r Ref, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return &Error{
			Kind: NotFound, Ref: r, Cause: err,
			Message: "the credential store has no secret with the name " + r.Name,
			Fix:     "give the secret again; it may have been removed by another program, or belong to another user",
		}
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return tooLarge(r, err)
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return noStore(r, "this operating system has none that the hub knows", err)
	}
	kind, why := s.system.classify(err)
	if kind == NoStore {
		return noStore(r, why, err)
	}
	if kind == Locked {
		return locked(r, why, err)
	}
	return &Error{
		Kind: Failed, Ref: r, Cause: err,
		Message: "the credential store failed: " + cmp.Or(why, err.Error()),
		Fix:     "try again; " + withoutStore,
	}
}

// operatingSystem is the store of this machine.
type operatingSystem struct{}

func (operatingSystem) missing() string                          { return whyNone() }
func (operatingSystem) classify(err error) (Kind, string)        { return classify(err) }
func (operatingSystem) get(service, name string) (string, error) { return keyring.Get(service, name) }

func (operatingSystem) set(service, name, secret string) error {
	return keyring.Set(service, name, secret)
}
func (operatingSystem) remove(service, name string) error { return keyring.Delete(service, name) }
