package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// Options say how often to kill and under which load.
type Options struct {
	Cycles     int    // starts, each of which ends by a kill
	Agents     int    // agents that write messages and claims
	Keepers    int    // agents that write tasks, artifacts and memories
	Pollers    int    // agents that poll besides the one that follows everything
	Answers    int    // a kill comes after 1 to so many answers
	Seed       uint64 // of the moments of the kills
	Dir        string // where the store goes; empty: the system's temporary folder
	Executable string // a hub that is built already; empty: build it
	// SmallTables builds a hub that writes and merges small tables all the time,
	// so that many kills hit it there.
	SmallTables bool
	Progress    io.Writer
}

// DefaultOptions run for some minutes.
func DefaultOptions() Options {
	return Options{Cycles: 50, Agents: 32, Keepers: 8, Pollers: 8, Answers: 3_000, Seed: uint64(time.Now().UnixNano()), Progress: io.Discard}
}

// Upper bounds of the options.
const (
	maxCycles  = 10_000
	maxAgents  = 1_000
	maxAnswers = 1_000_000
)

// One in killedStarts cycles comes after a start that is killed within maxStart,
// ready or not: what a start writes must stand a kill too.
const (
	killedStarts = 3
	maxStart     = 150 * time.Millisecond
)

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	switch {
	case o.Cycles < 1 || o.Cycles > maxCycles:
		return fmt.Errorf("cycles must be 1 to %d", maxCycles)
	case o.Agents < 1 || o.Agents > maxAgents:
		return fmt.Errorf("agents must be 1 to %d", maxAgents)
	case o.Keepers < 0 || o.Keepers > maxAgents:
		return fmt.Errorf("keepers must be 0 to %d", maxAgents)
	case o.Pollers < 0 || o.Pollers > maxAgents:
		return fmt.Errorf("pollers must be 0 to %d", maxAgents)
	case o.SmallTables && o.Executable != "":
		return errors.New("small tables take a hub that is built for them; leave out the built one")
	case o.Answers < 1 || o.Answers > maxAnswers:
		return fmt.Errorf("answers must be 1 to %d", maxAnswers)
	}
	return nil
}

// Summary counts what was checked.
type Summary struct {
	Cycles    int   // kills under load
	Starts    int   // kills in a start
	Debris    int   // starts that put something aside
	Tables    int   // that the database has made
	Answers   int64 // to writes
	Repeats   int64 // writes that were sent again with their key after a start
	Messages  int   // in the store at the end
	Grants    int   // of claims
	Tasks     int
	Artifacts int
}

func (s *Summary) String() string {
	return fmt.Sprintf("%d kills survived, and %d in a start: %d writes answered, %d sent again, %d messages, %d grants, %d tasks and %d artifacts checked, nothing lost, nothing twice; "+
		"%d tables made, %d starts found debris, none was refused; the search index was kept",
		s.Cycles, s.Starts, s.Answers, s.Repeats, s.Messages, s.Grants, s.Tasks, s.Artifacts, s.Tables, s.Debris)
}

// Run kills a hub o.Cycles times. It leaves no process and no file behind; the
// store is kept, and named, when a promise was broken.
func Run(ctx context.Context, o Options) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-kill-")
	if err != nil {
		return nil, err
	}
	exe := target.Executable{Path: o.Executable}
	if exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		build := target.Build
		if o.SmallTables {
			build = target.BuildSmallTables
		}
		if exe, err = build(ctx, dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	r := newRun(o, exe, dir)
	summary, err := r.cycles(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w\nseed %d; the store is kept in %s", err, o.Seed, dir)
	}
	return summary, errors.Join(err, os.RemoveAll(dir))
}

// run is a run of the kills.
type run struct {
	Options
	exe     target.Executable
	store   string
	agents  []*agent
	keepers []*keeper
	pollers []*poller
	ledger  *ledger
	starts  int
	debris  int
}

func (r *run) cycles(ctx context.Context) (*Summary, error) {
	random := rand.New(rand.NewPCG(r.Seed, 1))
	for cycle := range r.Cycles {
		if random.IntN(killedStarts) == 0 {
			d := time.Duration(random.Int64N(int64(maxStart)))
			if err := r.exe.StartAndKill(ctx, r.store, d); err != nil {
				return nil, fmt.Errorf("before cycle %d, killed %v after its start: %w", cycle+1, d, err)
			}
			r.starts++
			fmt.Fprintf(r.Progress, "killed %v after its start\n", d.Round(time.Millisecond))
		}
		kill := 1 + random.Int64N(int64(r.Answers))
		if err := r.cycle(ctx, kill); err != nil {
			return nil, fmt.Errorf("cycle %d: %w", cycle+1, err)
		}
		fmt.Fprintf(r.Progress, "killed %d of %d, after %d answers; %d messages\n", cycle+1, r.Cycles, kill, len(r.ledger.feed))
	}
	if err := r.last(ctx); err != nil {
		return nil, fmt.Errorf("after the last kill: %w", err)
	}
	return r.summary(), nil
}

func (r *run) summary() *Summary {
	s := &Summary{
		Cycles: r.Cycles, Starts: r.starts, Debris: r.debris, Tables: r.tables(),
		Messages: len(r.ledger.feed), Grants: len(r.ledger.fences),
	}
	for _, a := range r.agents {
		s.Answers += a.answers
		s.Repeats += a.repeats
	}
	for _, k := range r.keepers {
		s.Answers += k.answers
		s.Repeats += k.repeats
		s.Tasks += len(k.tasks)
		s.Artifacts += len(k.arts)
	}
	return s
}

// tables is the highest number of a table: they are counted as they are made.
func (r *run) tables() (highest int) {
	names, _ := filepath.Glob(filepath.Join(r.store, "badger", "*.sst")) // a good pattern
	for _, name := range names {
		n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".sst"))
		if err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}

// start starts the hub, which must come up, and checks all promises.
func (r *run) start(ctx context.Context, all bool) (*target.Process, error) {
	p, err := r.exe.Start(ctx, r.store)
	if err != nil {
		return nil, err
	}
	if aside, _ := filepath.Glob(filepath.Join(r.store, "badger", "aside", "*")); len(aside) > 0 {
		r.debris++
	}
	if err := r.verify(ctx, p.Addr, all); err != nil {
		how := "it was running"
		select {
		case <-p.Ended():
			how = "it had ended by itself"
		default:
			p.Kill()
		}
		return nil, fmt.Errorf("looking at what is there, %s: %w\n%s", how, err, p.Output())
	}
	return p, nil
}

// verify compares the hub with all that it has told. Nobody writes meanwhile.
func (r *run) verify(ctx context.Context, addr string, all bool) error {
	if err := r.ledger.verify(ctx, addr, r.agents); err != nil {
		return err
	}
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, k := range r.keepers {
		if k.room == "" {
			if k.room, err = makeRoom(c, addr); err != nil {
				return err
			}
		}
		if err := k.verify(c, addr, all); err != nil {
			return err
		}
	}
	return nil
}

// cycle starts the hub, checks all promises, and kills it under load after so
// many answers.
func (r *run) cycle(ctx context.Context, kill int64) error {
	p, err := r.start(ctx, false)
	if err != nil {
		return err
	}
	defer p.Kill()
	var (
		wg      sync.WaitGroup
		left    atomic.Int64
		reached = make(chan struct{})
		broken  = make(chan error, len(r.agents)+len(r.keepers)+len(r.pollers)+1)
	)
	left.Store(kill)
	answered := func() {
		if left.Add(-1) == 0 {
			close(reached)
		}
	}
	// The kill ends the connections and thereby all loops.
	for _, a := range r.agents {
		wg.Go(func() { broken <- a.work(ctx, p.Addr, r.ledger, answered) })
	}
	for _, k := range r.keepers {
		wg.Go(func() { broken <- k.work(ctx, p.Addr, answered) })
	}
	for _, f := range r.pollers {
		wg.Go(func() { broken <- f.work(ctx, p.Addr, r.ledger) })
	}
	wg.Go(func() { broken <- r.ledger.follow(ctx, p.Addr) })
	select {
	case <-reached:
	case err = <-broken: // an agent ends before the kill only over a broken promise
		if err == nil {
			err = fmt.Errorf("a connection ended before the kill\n%s", p.Output())
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Kill()
	wg.Wait()
	if err == nil {
		err = keptIndex(p)
	}
	close(broken)
	for brokenErr := range broken {
		if err == nil {
			err = brokenErr
		}
	}
	return err
}

// last lets every agent settle what is open, stops the hub cleanly, and checks
// all promises twice: before the stop and after the next start.
func (r *run) last(ctx context.Context) error {
	for range 2 {
		p, err := r.start(ctx, false)
		if err != nil {
			return err
		}
		for _, a := range r.agents {
			if err == nil {
				err = a.settle(ctx, p.Addr, r.ledger)
			}
		}
		for _, k := range r.keepers {
			if err == nil {
				err = k.settle(ctx, p.Addr)
			}
		}
		if err == nil {
			err = r.verify(ctx, p.Addr, true)
		}
		if err := errors.Join(err, p.Stop(), keptIndex(p)); err != nil {
			return err
		}
	}
	return nil
}

// rebuilt is what a hub logs when it makes its search index anew; TestKilled of the index
// holds these words.
const rebuilt = "the search index cannot be used and is made anew"

// keptIndex returns an error if a hub that has ended had made its search index anew. A kill
// is no reason for that.
func keptIndex(p *target.Process) error {
	if out := p.Output(); strings.Contains(out, rebuilt) {
		return fmt.Errorf("a kill has made the search index unusable:\n%s", out)
	}
	return nil
}
