package crowd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Options say which crowds come, how large they are and how long they stay.
type Options struct {
	Scenarios  []string      // of Scenarios; empty: all
	Duration   time.Duration // that a crowd stays
	Quiet      time.Duration // before it comes
	Agents     int           // that talk in channels
	Channels   int           // in which they talk
	Pace       time.Duration // between two posts of one of them
	Sessions   int           // that begin in a second
	Slow       int           // slow clients, a quarter of each kind
	Greedy     int           // connections of the greedy agent that do nothing; it has an eighth as many of each kind that does something
	Dir        string        // where the stores go; empty: the system's temporary folder
	Executable string        // a hub that is built already; empty: build it
	Progress   io.Writer
}

// DefaultOptions run for two minutes.
func DefaultOptions() Options {
	return Options{
		Duration: 20 * time.Second, Quiet: 4 * time.Second, Agents: 300, Channels: 50, Pace: 5 * time.Second,
		Sessions: 100, Slow: 400, Greedy: 400, Progress: io.Discard,
	}
}

// Scenarios are the kinds of crowds, in the order in which they come.
func Scenarios() []string { return []string{"channels", "churn", "slow", "greedy"} }

// Upper bounds of the options: of the open files of a process, and of loads that
// must stop by themselves.
const (
	maxDuration = time.Hour
	maxAgents   = 5_000
	maxChannels = 1_000
	maxSessions = 1_000
	maxClients  = 5_000
)

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	for _, s := range o.Scenarios {
		if !slices.Contains(Scenarios(), s) {
			return fmt.Errorf("no scenario %q; there are %s", s, strings.Join(Scenarios(), ", "))
		}
	}
	switch {
	case o.Duration <= 0 || o.Duration > maxDuration || o.Quiet <= 0 || o.Quiet > maxDuration:
		return fmt.Errorf("the times with and without a crowd must be more than 0 and at most %v", maxDuration)
	case o.Agents < 1 || o.Agents > maxAgents:
		return fmt.Errorf("agents must be 1 to %d", maxAgents)
	case o.Channels < 1 || o.Channels > maxChannels:
		return fmt.Errorf("channels must be 1 to %d", maxChannels)
	case o.Pace <= 0:
		return errors.New("the pace must be more than 0")
	case o.Sessions < 1 || o.Sessions > maxSessions:
		return fmt.Errorf("sessions must be 1 to %d in a second", maxSessions)
	case o.Slow < 4 || o.Slow > maxClients:
		return fmt.Errorf("slow clients must be 4 to %d", maxClients)
	case o.Greedy < 8 || o.Greedy > maxClients:
		return fmt.Errorf("greedy connections must be 8 to %d", maxClients)
	}
	return nil
}
