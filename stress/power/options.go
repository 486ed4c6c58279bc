package power

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Options say how often to cut the power.
type Options struct {
	Cuts       int    // of the hub as it is delivered
	Fresh      int    // a new disk after so many cuts
	Control    int    // cuts, at most, in which a hub without synced writes must lose something; 0: no control
	Seed       uint64 // of the moments of the cuts
	Dir        string // where the disks go; empty: the system's temporary folder
	Executable string // a hub that is built already; empty: build it
	Progress   io.Writer
}

// DefaultOptions run for some minutes.
func DefaultOptions() Options {
	return Options{Cuts: 20, Fresh: 20, Control: 5, Seed: uint64(time.Now().UnixNano()), Progress: io.Discard}
}

// Command is the first argument of the program when it is the first process of the machine.
const Command = "power-guest"

// ErrNoMachine is returned where no machine can be started.
var ErrNoMachine = errors.New("this needs user-mode Linux and mkfs.ext4: on Debian, as root, apt-get install user-mode-linux e2fsprogs")

const maxCuts = 10_000

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	switch {
	case o.Cuts < 1 || o.Cuts > maxCuts:
		return fmt.Errorf("cuts must be 1 to %d", maxCuts)
	case o.Fresh < 1 || o.Fresh > maxCuts:
		return fmt.Errorf("a new disk must come after 1 to %d cuts", maxCuts)
	case o.Control < 0 || o.Control > maxCuts:
		return fmt.Errorf("the cuts of the control must be 0 to %d", maxCuts)
	}
	return nil
}

// Summary counts what was done.
type Summary struct {
	Cuts     int
	Messages int // acknowledged, each of which was there after the next start
	Claims   int // granted, each of which was held
	Control  int // cuts of the control until it had lost something
	Lost     string
	Hung     int // machines whose kernel did not start a process; they were started again
}

func (s *Summary) String() string {
	text := fmt.Sprintf("%d power cuts survived: %d acknowledged messages are there, once and unchanged, and %d claims are held", s.Cuts, s.Messages, s.Claims)
	if s.Hung > 0 {
		text += fmt.Sprintf("\n%d kernels hung before they started a process, and were started again", s.Hung)
	}
	if s.Control > 0 {
		text += fmt.Sprintf("\nthe control without synced writes lost something at cut %d: %s", s.Control, s.Lost)
	}
	return text
}
