// Package program holds what the two programs of the hub share: the whole one, and the delivered
// one that carries it (cmd/packed). It says where the program is that people start, where its home is
// and when a signal asks for its end.
//
// Its functions are called from main, before anything else runs. It writes no file.
package program

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// carried is "1" in a whole program that another one carries. The builder of that one sets it.
var carried string

// Self returns the path of the program that people and adapters start. A carried program was
// unpacked into a folder of its own; the one that carries it has given it its own path as the name of the program.
func Self() (string, error) {
	if carried != "" && filepath.IsAbs(os.Args[0]) {
		return os.Args[0], nil
	}
	return os.Executable()
}

// Cache returns the folder into which a carried program is unpacked. It need not be there.
func Cache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(cache); err == nil { // many have their cache on another disk
		cache = real
	}
	return filepath.Join(cache, "hubcli"), nil
}

// InMemory reports whether this is a carried program that runs from memory, because Cache could not hold it or
// the system runs no program there.
func InMemory() bool {
	path, err := os.Executable()
	return carried != "" && err == nil && strings.HasPrefix(path, "/memfd:")
}

// takenAfter is how long a brief command may run before signals are taken. To take them costs a third of the
// processor time of a hook, and a command that is over before has nothing to end cleanly: a signal ends it as it
// would have ended it before its first line.
const takenAfter = 30 * time.Millisecond

// Signals are the signals that ask for the end of the program.
type Signals struct {
	taken  chan os.Signal
	later  *time.Timer // takes them after a while; nil: they are taken
	cancel context.CancelCauseFunc
}

// Interrupted returns a context that ends with a cause when a signal asks for the end of the program. The
// next signal has its usual effect: an end that takes too long can be broken off. In a brief command, signals have
// their usual effect at first, too. The caller calls Stop.
func Interrupted(cause error, brief bool) (context.Context, *Signals) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Signals{taken: make(chan os.Signal, 1), cancel: cancel}
	take := func() { signal.Notify(s.taken, os.Interrupt, syscall.SIGTERM) }
	await := func() {
		select {
		case <-s.taken:
			s.Leave()
			cancel(cause)
		case <-ctx.Done():
			s.Leave()
		}
	}
	if brief {
		s.later = time.AfterFunc(takenAfter, func() {
			take()
			await()
		})
		return ctx, s
	}
	take()
	go await()
	return ctx, s
}

// Leave leaves signals to others: they do not end the context any more.
func (s *Signals) Leave() { signal.Stop(s.taken) }

// Stop ends the context.
func (s *Signals) Stop() {
	if s.later != nil {
		s.later.Stop()
	}
	s.cancel(nil)
}
