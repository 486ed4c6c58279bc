package disks

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options say how many disks to try and of which kinds.
type Options struct {
	Steps      int      // disks, each with a hub and a store of its own
	Scenarios  []string // kinds of disks, of Scenarios; empty: all
	Seed       uint64   // of the harm in the steps
	Dir        string   // where the disks are mounted; empty: the system's temporary folder
	Executable string   // a hub that is built already; empty: build it
	Progress   io.Writer
}

// ErrCannotMount is returned where no disks can be made.
var ErrCannotMount = errors.New("the disks cannot be mounted: run this on Linux, as root")

// DefaultOptions run for some minutes.
func DefaultOptions() Options {
	return Options{Steps: 60, Seed: uint64(time.Now().UnixNano()), Progress: io.Discard}
}

// Scenarios are the kinds of disks.
func Scenarios() []string { return []string{"full", "inodes", "readonly", "errors", "slow"} }

const maxSteps = 100_000

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	if o.Steps < 1 || o.Steps > maxSteps {
		return fmt.Errorf("steps must be 1 to %d", maxSteps)
	}
	for _, s := range o.Scenarios {
		if !slices.Contains(Scenarios(), s) {
			return fmt.Errorf("no scenario %q; there are %s", s, strings.Join(Scenarios(), ", "))
		}
	}
	return nil
}

// Summary counts what was done and how it ended.
type Summary struct {
	Steps    int
	Outcomes map[string]map[string]int // by scenario
	Skipped  []string                  // what this machine could not do, and why
	Kept     int                       // acknowledged messages, each of which was there
	Refused  int                       // posts that were answered 507, none of which was there
	Reads    int                       // that were answered
}

func (s *Summary) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Outcomes)) {
		fmt.Fprintf(&b, "%-9s", name)
		for _, end := range slices.Sorted(maps.Keys(s.Outcomes[name])) {
			fmt.Fprintf(&b, "  %d %s", s.Outcomes[name][end], end)
		}
		b.WriteByte('\n')
	}
	for _, why := range s.Skipped {
		fmt.Fprintf(&b, "SKIPPED: %s\n", why)
	}
	fmt.Fprintf(&b, "%d disks survived: %d acknowledged messages are there, none of %d that were refused with 507, %d reads answered, no line of a log more than %d times",
		s.Steps, s.Kept, s.Refused, s.Reads, maxRepeats)
	return b.String()
}
