package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// Options say what to compare and for how long.
type Options struct {
	Rounds     int           // turns of each server
	Round      time.Duration // length of a figure in a turn
	Agents     int           // of the rates
	Waiters    int           // of the wake
	NATS       string        // path of a nats-server; empty: the system's
	Other      string        // another hub: http:// and its address, or a program with the options of a hub; empty: none
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
	report = &Report{Rounds: o.Rounds, Round: o.Round.String(), Agents: o.Agents, Waiters: o.Waiters}
	found, err := o.find(ctx, exe, report)
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		name, lacks := p.describe()
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(at, 0o700); err != nil {
			return nil, err
		}
		defer p.kill()
		if err := p.start(ctx, at); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report.Peers = append(report.Peers, &Peer{Name: name, Lacks: lacks, peer: p})
	}
	for round := range o.Rounds {
		for i := range report.Peers { // another one begins each round: a machine drifts
			p := report.Peers[(round+i)%len(report.Peers)]
			if err := o.turn(ctx, p); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
		fmt.Fprintf(o.Progress, "round %d of %d\n", round+1, o.Rounds)
	}
	for i, p := range report.Peers {
		if err := p.afterwards(ctx, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return report, nil
}

// find returns the servers of this machine, and notes loudly which are left out. One that was
// named must be there.
func (o *Options) find(ctx context.Context, exe target.Executable, report *Report) ([]peer, error) {
	all := []peer{
		&hub{speaker: speaker{name: "the hub"}, exe: exe},
		&floor{speaker: speaker{name: "the ceiling: the protocol of the hub", lacks: "it stores nothing and checks nothing"}},
	}
	switch host, isAddress := strings.CutPrefix(o.Other, "http://"); {
	case isAddress:
		all = append(all, &elsewhere{speaker{name: o.Other, addr: strings.TrimSuffix(host, "/")}})
	case o.Other != "":
		all = append(all, &hub{speaker: speaker{name: filepath.Base(o.Other)}, exe: target.Executable{Path: o.Other}})
	}
	leaveOut := func(err error) {
		report.Skipped = append(report.Skipped, err.Error())
		fmt.Fprintln(o.Progress, "SKIPPED:", err)
	}
	if r, err := findRedis(ctx); err == nil {
		all = append(all, r)
	} else {
		leaveOut(err)
	}
	n, err := findNATS(ctx, o.NATS)
	switch {
	case err == nil:
		all = append(all, n)
	case o.NATS != "":
		return nil, fmt.Errorf("--nats %s: %w", o.NATS, err)
	default:
		leaveOut(err)
	}
	return all, nil
}

// turn measures one server once.
func (o *Options) turn(ctx context.Context, p *Peer) error {
	var agents []agent
	defer func() {
		for _, a := range agents {
			a.Close()
		}
	}()
	connect := func(n int) error { // a server may end a connection that it hears nothing of
		for i := len(agents); i < n; i++ {
			a, err := p.peer.agent(ctx, i)
			if err != nil {
				return err
			}
			agents = append(agents, a)
		}
		return nil
	}
	if err := connect(o.Agents); err != nil {
		return err
	}
	one, err := o.latencies(ctx, agents[0])
	if err != nil {
		return err
	}
	p.posted += int64(len(one))
	p.add("one agent's post, p50", "ms", stat.Percentile(one, 50))
	p.add("one agent's post, p99", "ms", stat.Percentile(one, 99))
	done, rate, err := o.rate(ctx, agents[:o.Agents], agent.post)
	if err != nil {
		return err
	}
	p.posted += done
	p.add(fmt.Sprintf("posts of %d agents", o.Agents), "a second", rate)
	if _, rate, err = o.rate(ctx, agents[:o.Agents], agent.pair); err != nil {
		return err
	}
	p.add(fmt.Sprintf("claim and release pairs of %d agents", o.Agents), "a second", rate)
	if err := connect(o.Waiters + 1); err != nil {
		return err
	}
	wakes, err := o.wakes(ctx, agents[0], agents[1:o.Waiters+1])
	if err != nil {
		return fmt.Errorf("wake: %w", err)
	}
	p.posted += wakesOfTurn
	p.add(fmt.Sprintf("wake of %d, p50", o.Waiters), "ms", stat.Percentile(wakes, 50))
	p.add(fmt.Sprintf("wake of %d, p99", o.Waiters), "ms", stat.Percentile(wakes, 99))
	return nil
}

// afterwards measures the memory of a server after its work, kills it, and counts what it
// has after a start.
func (p *Peer) afterwards(ctx context.Context, dir string) error {
	if own, ok := p.peer.(process); ok {
		memory, err := own.anonymous()
		if err != nil {
			return err
		}
		p.add("memory after the work", "MB", float64(memory)/1e6)
	}
	kept, ok := p.peer.(keeper)
	if !ok {
		return nil
	}
	p.peer.kill()
	began := time.Now()
	if err := p.peer.start(ctx, dir); err != nil {
		return fmt.Errorf("after SIGKILL: %w", err)
	}
	p.add("start after SIGKILL", "ms", stat.Milliseconds(time.Since(began)))
	n, err := kept.messages(ctx)
	if err != nil {
		return err
	}
	p.add("acknowledged messages", "", float64(p.posted))
	p.add("of them lost by SIGKILL", "", float64(max(0, p.posted-n)))
	return nil
}

// latencies are those of one agent that posts, in milliseconds.
func (o *Options) latencies(ctx context.Context, a agent) (all []float64, err error) {
	for end := time.Now().Add(o.Round); time.Now().Before(end) && ctx.Err() == nil; {
		began := time.Now()
		if err := a.post(); err != nil {
			return nil, err
		}
		all = append(all, stat.Milliseconds(time.Since(began)))
	}
	return all, ctx.Err()
}

// rate makes calls of all agents together, each one after the other, and returns how many
// were answered, and how many a second.
func (o *Options) rate(ctx context.Context, agents []agent, call func(agent) error) (done int64, perSecond float64, err error) {
	var answered atomic.Int64
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
				answered.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	select {
	case err := <-failed:
		return 0, 0, err
	default:
		return answered.Load(), float64(answered.Load()) / took.Seconds(), ctx.Err()
	}
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
				took[i] = stat.Milliseconds(time.Since(began))
			})
		}
		if err := poster.post(); err != nil {
			return nil, err
		}
		group.Wait()
		select {
		case err := <-failed:
			return nil, err
		default:
			all = append(all, took...)
		}
	}
	return all, ctx.Err()
}
