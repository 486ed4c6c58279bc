package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/target"
)

// Options say what to compare and for how long.
type Options struct {
	Rounds     int           // turns of each server
	Round      time.Duration // length of a figure in a turn
	Agents     int           // of the rates
	Waiters    int           // of the wake
	NATS       string        // path of a nats-server; empty: the system's
	Other      string        // another program with the options and the protocol of a hub; empty: none
	Dir        string        // where data goes; empty: the system's temporary folder
	Executable string        // a hub that is built already; empty: build it
	Progress   io.Writer
}

// DefaultOptions run for about two minutes.
func DefaultOptions() Options {
	return Options{Rounds: 5, Round: 2 * time.Second, Agents: 64, Waiters: 100, Progress: io.Discard}
}

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	switch {
	case o.Rounds < 1 || o.Rounds > 100:
		return errors.New("rounds must be 1 to 100")
	case o.Round < 10*time.Millisecond || o.Round > time.Minute:
		return errors.New("a round must last 10ms to 1m")
	case o.Agents < 1 || o.Agents > 1000 || o.Waiters < 1 || o.Waiters > 1000:
		return errors.New("agents and waiters must be 1 to 1000")
	}
	return nil
}

// Run compares the hub with the peers that are there. It leaves no process and no file behind.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-peers-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	exe := target.Executable{Path: o.Executable}
	if exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		if exe, err = target.Build(ctx, dir); err != nil {
			return nil, err
		}
	}
	report = &Report{Options: o}
	for _, p := range o.find(ctx, exe, report) {
		name, lacks := p.describe()
		at := filepath.Join(dir, fmt.Sprint(len(report.Peers)))
		if err := os.Mkdir(at, 0o700); err != nil {
			return nil, err
		}
		defer p.stop()
		if err := p.start(ctx, at); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report.Peers = append(report.Peers, &Peer{Name: name, Lacks: lacks, peer: p, values: map[string][]float64{}})
	}
	for round := range o.Rounds {
		for _, p := range report.Peers {
			if err := o.turn(ctx, p); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
		fmt.Fprintf(o.Progress, "round %d of %d\n", round+1, o.Rounds)
	}
	return report, nil
}

// find returns the servers of this machine, and notes loudly which are left out.
func (o *Options) find(ctx context.Context, exe target.Executable, report *Report) []peer {
	all := []peer{&hub{name: "the hub", exe: exe}}
	if o.Other != "" {
		all = append(all, &hub{name: filepath.Base(o.Other), exe: target.Executable{Path: o.Other}})
	}
	r, err := findRedis(ctx)
	if err == nil {
		all = append(all, r)
	}
	n, missing := findNATS(ctx, o.NATS)
	if missing == nil {
		all = append(all, n)
	}
	for _, err := range []error{err, missing} {
		if err != nil {
			report.Skipped = append(report.Skipped, err.Error())
			fmt.Fprintln(o.Progress, "SKIPPED:", err)
		}
	}
	return all
}

// turn measures one server once.
func (o *Options) turn(ctx context.Context, p *Peer) error {
	var agents []agent
	defer func() {
		for _, a := range agents {
			a.Close()
		}
	}()
	for i := range max(o.Agents, o.Waiters+1) {
		a, err := p.peer.agent(ctx, i)
		if err != nil {
			return err
		}
		agents = append(agents, a)
	}
	one, err := o.latencies(ctx, agents[0])
	if err != nil {
		return err
	}
	p.add(figurePost50, percentile(one, 50))
	p.add(figurePost99, percentile(one, 99))
	for name, call := range map[string]func(agent) error{figurePosts: agent.post, figurePairs: agent.pair} {
		rate, err := o.rate(ctx, agents[:o.Agents], call)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.add(name, rate)
	}
	wakes, err := o.wakes(ctx, agents[0], agents[1:o.Waiters+1])
	if err != nil {
		return fmt.Errorf("wake: %w", err)
	}
	p.add(figureWake50, percentile(wakes, 50))
	p.add(figureWake99, percentile(wakes, 99))
	return nil
}

// latencies are those of one agent that posts, in milliseconds.
func (o *Options) latencies(ctx context.Context, a agent) (all []float64, err error) {
	for end := time.Now().Add(o.Round); time.Now().Before(end) && ctx.Err() == nil; {
		began := time.Now()
		if err := a.post(); err != nil {
			return nil, err
		}
		all = append(all, float64(time.Since(began))/float64(time.Millisecond))
	}
	return all, ctx.Err()
}

// rate is how many calls a second all agents together make, each one after the other.
func (o *Options) rate(ctx context.Context, agents []agent, call func(agent) error) (float64, error) {
	var done atomic.Int64
	var group sync.WaitGroup
	failed := make(chan error, len(agents))
	began := time.Now()
	end := began.Add(o.Round)
	for _, a := range agents {
		group.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				if err := call(a); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	close(failed)
	for err := range failed {
		return 0, err
	}
	return float64(done.Load()) / took.Seconds(), ctx.Err()
}

// A turn has so many wakes; before each one the waiters have time to be parked.
const (
	wakesOfTurn = 5
	parkTime    = 200 * time.Millisecond
)

// wakes are the times from the begin of a post until each waiter has it, in milliseconds.
func (o *Options) wakes(ctx context.Context, poster agent, waiters []agent) (all []float64, err error) {
	for range wakesOfTurn {
		for _, w := range waiters {
			if err := w.park(); err != nil {
				return nil, err
			}
		}
		pause.For(ctx, parkTime)
		took, failed := make([]float64, len(waiters)), make(chan error, len(waiters))
		began := time.Now()
		var group sync.WaitGroup
		for i, w := range waiters {
			group.Go(func() {
				if err := w.woken(); err != nil {
					failed <- err
				}
				took[i] = float64(time.Since(began)) / float64(time.Millisecond)
			})
		}
		if err := poster.post(); err != nil {
			return nil, err
		}
		group.Wait()
		close(failed)
		for err := range failed {
			return nil, err
		}
		all = append(all, took...)
	}
	return all, ctx.Err()
}

func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}
