package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Options say what to measure and for how long.
type Options struct {
	Figures     []string      // names; empty: all
	Rounds      int           // turns of hub and ceiling per figure
	Round       time.Duration // length of a turn
	Agents      int           // closed loops of the throughput figures
	Waiters     int           // parked polls of the wake figure
	Parked      int           // parked polls of the memory figure
	Bridges     int           // bridges of the wake of the figure mcp
	Messages    int           // messages of the large store
	Things      int           // agents and claims of the figure many; ten times as many as its channels, rooms and seats
	Settle      time.Duration // pause before memory is read
	Idle        time.Duration // length of the idle figure
	Idempotency bool          // writes carry an Idempotency-Key
	Itself      bool          // the ceiling stands in for the hub: shows the noise
	Dir         string        // where stores go; empty: the system's temporary folder
	Executable  string        // a hub that is built already; empty: build it
	Profiles    string        // folder for the hub's processor profiles; empty: none
	Progress    io.Writer     // what goes on, for people
}

// DefaultOptions are those of the figures that the project promises.
func DefaultOptions() Options {
	return Options{
		Rounds: 5, Round: 2 * time.Second, Agents: 64, Waiters: 1_000, Parked: 5_000, Bridges: 50,
		Messages: 1_000_000, Things: 100_000, Settle: 5 * time.Second, Idle: 20 * time.Second, Progress: io.Discard,
	}
}

// Upper bounds, so that a slip of the finger loads the machine for minutes only.
const (
	maxRounds   = 100
	maxRound    = time.Minute
	maxConns    = 15_000 // a hub takes 16,384
	maxBridges  = 1_000
	maxMessages = 10_000_000
	maxThings   = 100_000 // a hub may have a tenth as many rooms
)

// Validate refuses what cannot be measured.
func (o *Options) Validate() error {
	for _, name := range o.Figures {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("no figure %q; the figures are %s", name, strings.Join(Names(), ", "))
		}
	}
	switch {
	case o.Rounds < 1 || o.Rounds > maxRounds:
		return fmt.Errorf("rounds must be 1 to %d", maxRounds)
	case o.Round < 10*time.Millisecond || o.Round > maxRound:
		return fmt.Errorf("a round must take 10ms to %v", maxRound)
	case min(o.Agents, o.Waiters, o.Parked) < 1 || max(o.Agents, o.Waiters, o.Parked) > maxConns:
		return fmt.Errorf("agents, waiters and parked polls must be 1 to %d", maxConns)
	case o.Bridges < 1 || o.Bridges > maxBridges:
		return fmt.Errorf("bridges must be 1 to %d", maxBridges)
	case o.Messages < 1 || o.Messages > maxMessages:
		return fmt.Errorf("messages must be 1 to %d", maxMessages)
	case o.Things < 100 || o.Things > maxThings:
		return fmt.Errorf("things must be 100 to %d", maxThings)
	case o.Profiles != "" && (o.Executable != "" || o.Itself):
		return errors.New("profiles need a hub that is built for them; leave out the executable")
	case o.Settle < 0 || o.Settle > maxRound || o.Idle < time.Second || o.Idle > 10*maxRound:
		return fmt.Errorf("settle must be up to %v, idle 1s to %v", maxRound, 10*maxRound)
	}
	return nil
}

// warmUp is the part of a turn that is not counted.
func (o *Options) warmUp() time.Duration { return min(o.Round/5, 300*time.Millisecond) }
