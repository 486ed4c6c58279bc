package linear

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"hubcli/stress/target"
)

// Options say how often to do harm and under which load.
type Options struct {
	Cycles     int    // starts, most of which end by a kill
	Clients    int    // that call all the time
	Followers  int    // that poll all the time
	Answers    int    // harm comes after 1 to so many answers
	Seed       uint64 // of the faults and the calls
	Clock      bool   // build a hub whose wall clock can be set, and set it
	Dir        string // where the store goes; empty: the system's temporary folder
	Executable string // a hub that is built already; empty: build it
	Progress   io.Writer
}

// DefaultOptions run for some minutes.
func DefaultOptions() Options {
	return Options{Cycles: 100, Clients: 64, Followers: 24, Answers: 400, Seed: uint64(time.Now().UnixNano()), Progress: io.Discard}
}

// Upper bounds of the options.
const (
	maxCycles  = 100_000
	maxClients = 1_000
	maxAnswers = 100_000
)

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	switch {
	case o.Cycles < 1 || o.Cycles > maxCycles:
		return fmt.Errorf("cycles must be 1 to %d", maxCycles)
	case o.Clients < 8 || o.Clients > maxClients:
		return fmt.Errorf("clients must be 8 to %d", maxClients)
	case o.Followers < 3 || o.Followers > maxClients:
		return fmt.Errorf("followers must be 3 to %d", maxClients)
	case o.Answers < 1 || o.Answers > maxAnswers:
		return fmt.Errorf("answers must be 1 to %d", maxAnswers)
	case o.Clock && o.Executable != "":
		return errors.New("a clock takes a hub that is built for it; leave out the built one")
	}
	return nil
}

// Summary counts what was done and checked.
type Summary struct {
	Kills, Starts, Stops, Pauses, Jumps int
	Cuts                                int64 // connections
	Histories, Calls                    int
	Answers, Unknown, Repeats           int64
	Messages                            int // of the final histories
	Followers                           int
	Wakes                               int
	Took                                time.Duration
}

func (s *Summary) String() string {
	return fmt.Sprintf("%d kills survived, %d in a start, %d restarts, %d pauses, %d connections cut, %d jumps of the clock, in %v: "+
		"%d answers, %d calls without one, %d sent again; %d calls in %d histories are linear; "+
		"%d followers have the %d messages in order, once; %d wakes in time",
		s.Kills, s.Starts, s.Stops, s.Pauses, s.Cuts, s.Jumps, s.Took.Round(time.Second),
		s.Answers, s.Unknown, s.Repeats, s.Calls, s.Histories, s.Followers, s.Messages, s.Wakes)
}

// Run does o.Cycles cycles. It leaves no process and no file behind; the store, and
// pictures of the calls, are kept and named when a promise was broken.
func Run(ctx context.Context, o Options) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-linear-")
	if err != nil {
		return nil, err
	}
	exe := target.Executable{Path: o.Executable}
	if exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		build := target.Build
		if o.Clock {
			build = target.BuildClock
		}
		if exe, err = build(ctx, dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	p, err := newProxy()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r := &run{
		Options: o, exe: exe, dir: dir, proxy: p, time: newTimeline(),
		random: rand.New(rand.NewPCG(o.Seed, 1)), summary: &Summary{Followers: o.Followers},
	}
	for i := range o.Clients {
		r.clients = append(r.clients, &client{n: i, random: rand.New(rand.NewPCG(o.Seed, uint64(2+i)))})
	}
	err = r.cycles(ctx)
	closed := p.close()
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w\nseed %d; the store is kept in %s", err, o.Seed, dir)
	}
	r.summary.finish(r)
	return r.summary, errors.Join(err, closed, os.RemoveAll(dir))
}

func (s *Summary) finish(r *run) {
	s.Answers, s.Unknown, s.Repeats = r.count.Answers.Load(), r.count.Unknown.Load(), r.count.Repeats.Load()
	s.Cuts, s.Took = r.count.Cuts.Load(), time.Since(r.time.began)
}

// run is a run of the cycles.
type run struct {
	Options
	exe     target.Executable
	dir     string
	proxy   *proxy
	time    *timeline
	count   counts
	random  *rand.Rand
	clients []*client
	now     *generation
	made    int // generations
	stopAt  int // the cycle that ends by a stop; see stops
	summary *Summary
}

// Objects are used for so many cycles.
const life = 4

func (r *run) store() string { return filepath.Join(r.dir, "hub") }

func (r *run) cycles(ctx context.Context) error {
	for cycle := range r.Cycles + 1 { // the last checks what the one before has left
		if err := r.killStart(ctx); err != nil {
			return fmt.Errorf("before cycle %d: %w", cycle+1, err)
		}
		if err := r.cycle(ctx, cycle); err != nil {
			return fmt.Errorf("cycle %d: %w", cycle+1, err)
		}
	}
	return nil
}

// cycle starts the hub, checks the objects that have been used long enough, lets the
// clients call while it does harm, and ends the hub.
func (r *run) cycle(ctx context.Context, cycle int) (err error) {
	p, err := r.exe.Start(ctx, r.store())
	if err != nil {
		return err
	}
	e := r.begin(ctx, p)
	var work crew
	defer func() {
		e.finish()
		p.Kill()
		r.time.end()
		if brokenErr := work.wait(); brokenErr != nil {
			err = brokenErr
		}
	}()
	if r.now != nil {
		for _, f := range r.now.followers {
			work.run(e, func() error { return f.work(ctx, e) })
		}
	}
	if cycle%life == 0 || cycle == r.Cycles {
		if err := r.renew(e); err != nil || cycle == r.Cycles {
			return err
		}
		for _, f := range r.now.followers {
			work.run(e, func() error { return f.work(ctx, e) })
		}
	}
	var calls crew
	for i, c := range r.clients {
		c.choose = r.now.choose(i + r.now.n)
		calls.run(e, func() error { return c.work(ctx, e) })
	}
	err = r.harm(ctx, e, &calls, r.stops(cycle))
	if brokenErr := calls.wait(); brokenErr != nil {
		return brokenErr
	}
	return err
}

// begin makes the epoch of a process.
func (r *run) begin(ctx context.Context, p *target.Process) *epoch {
	e := &epoch{n: r.time.start(), addr: p.Addr, process: p, proxy: r.proxy, time: r.time, count: &r.count}
	e.over, e.finish = context.WithCancel(ctx)
	e.idle, e.quiet = context.WithCancel(e.over)
	r.proxy.to(p.Addr)
	return e
}

// renew checks the objects of the generation and makes others.
func (r *run) renew(e *epoch) error {
	since := int64(0)
	if r.now != nil {
		s, err := r.now.settle(e, filepath.Join(r.dir, "histories"))
		if err != nil {
			return err
		}
		since = s.last
		r.summary.Histories += s.histories
		r.summary.Calls += s.calls
		r.summary.Messages += s.messages
		fmt.Fprintf(r.Progress, "%d calls in %d histories are linear; %d kills so far\n", s.calls, s.histories, r.summary.Kills)
	}
	r.made++
	next, err := newGeneration(e, r.made, since, r.Followers, r.Seed)
	if err != nil {
		return err
	}
	r.now = next
	for _, c := range r.clients {
		c.open = nil // of an object that is used no more
	}
	return nil
}
