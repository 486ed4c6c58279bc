package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"hubcli/stress/target"
)

// figure measures one or more results. They are in the order of a run: the
// small ones first.
type figure struct {
	name    string
	measure func(*run, context.Context) ([]Result, error)
}

var figures = []figure{
	{"idle", (*run).idle},
	{"posts", (*run).posts},
	{"latency", (*run).latency},
	{"claims", (*run).claims},
	{"contention", (*run).contention},
	{"wake", (*run).wake},
	{"memory", (*run).memory},
	{"python", (*run).python},
	{"relay", (*run).relay},
	{"commands", (*run).commands},
	{"mcp", (*run).mcp},
	{"search", (*run).search},
	{"rebuild", (*run).rebuild},
	{"moments", (*run).moments},
	{"many", (*run).many},
	{"metadata", (*run).metadata},
	{"million", (*run).million},
	{"capsules", (*run).capsules},
}

// Names lists the figures.
func Names() []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

// run is a run of the bench.
type run struct {
	Options
	dir    string // of everything it writes
	exe    target.Executable
	stores int
	figure string       // that is measured now
	done   atomic.Int64 // operations of all drives
}

// Run measures. It leaves no process and no file behind, also when ctx ends.
// With an error the report holds what was measured before it.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-bench-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what a figure left after an error, before the folder goes
	r := &run{Options: o, dir: dir, exe: target.Executable{Path: o.Executable}}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	report = &Report{
		Time: time.Now().UTC(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Options: fmt.Sprintf("%d rounds of %v, idempotency keys: %v", o.Rounds, o.Round, o.Idempotency),
	}
	for _, f := range figures {
		if len(o.Figures) > 0 && !slices.Contains(o.Figures, f.name) {
			continue
		}
		r.say("measuring %s", f.name)
		r.figure = f.name
		results, err := f.measure(r, ctx)
		report.Results = append(report.Results, results...)
		if err != nil {
			return report, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return report, nil
}

func (r *run) build(ctx context.Context) (err error) {
	switch {
	case r.Itself:
		return nil
	case r.Profiles != "":
		r.say("building the hub with profiles")
		if err = os.MkdirAll(r.Profiles, 0o700); err == nil {
			r.exe, err = target.BuildProfiled(ctx, r.dir)
		}
	case r.exe.Path == "":
		r.say("building the hub")
		r.exe, err = target.BuildDelivered(ctx, r.dir)
	}
	return err
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.Progress, format+"\n", args...)
}

// newStore returns the path of a store that does not exist yet.
func (r *run) newStore() string {
	r.stores++
	return filepath.Join(r.dir, fmt.Sprintf("store-%d", r.stores), "hub")
}

// hub starts a hub on a store, or what stands in for it.
func (r *run) hub(ctx context.Context, store string) (*target.Process, error) {
	if r.Itself {
		return target.Ceiling(ctx, "ceiling")
	}
	return r.exe.Start(ctx, store)
}

// pair is a hub on an empty store and a ceiling, both ready.
type pair struct{ hub, ceiling *target.Process }

func (r *run) pair(ctx context.Context) (*pair, error) {
	hub, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	ceiling, err := target.Ceiling(ctx, "ceiling")
	if err != nil {
		hub.Kill()
		return nil, err
	}
	return &pair{hub: hub, ceiling: ceiling}, nil
}

// close ends both. A hub that does not stop by itself is an error.
func (p *pair) close() error {
	p.ceiling.Kill()
	return p.hub.Stop()
}

// rounds lets the hub and the ceiling take turns. Which of them begins changes
// from round to round, so that what slows down with time slows both.
func (r *run) rounds(ctx context.Context, measure func(ctx context.Context, addr string) (float64, error)) (rounds []Round, err error) {
	p, err := r.pair(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := p.close(); err == nil {
			err = closeErr
		}
	}()
	for i := range r.Rounds {
		var round Round
		turns := []func() error{
			func() (err error) {
				defer r.profile(ctx, p.hub, i)()
				round.Hub, round.HubCPU, err = r.turn(ctx, p.hub, measure)
				return err
			},
			func() (err error) {
				round.Ceiling, round.CeilingCPU, err = r.turn(ctx, p.ceiling, measure)
				return err
			},
		}
		if i%2 == 1 {
			slices.Reverse(turns)
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				return rounds, err
			}
		}
		r.say("  hub %.4g, ceiling %.4g", round.Hub, round.Ceiling)
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// turn measures one side and the processor time, in microseconds, that each
// operation cost it: unlike a rate, that hardly depends on what else runs on the
// machine. It is 0 where the system does not tell it.
func (r *run) turn(ctx context.Context, p *target.Process, measure func(context.Context, string) (float64, error)) (value, cpu float64, err error) {
	before, beforeErr := p.CPU()
	done := r.done.Load()
	if value, err = measure(ctx, p.Addr); err != nil {
		return 0, 0, err
	}
	after, afterErr := p.CPU()
	if done = r.done.Load() - done; beforeErr == nil && afterErr == nil && done > 0 {
		cpu = float64((after - before).Microseconds()) / float64(done)
	}
	return value, cpu, nil
}

// profile records the hub's processor profile, if profiles are wanted, until the
// function that it returns is called.
func (r *run) profile(ctx context.Context, hub *target.Process, round int) (wait func()) {
	if r.Profiles == "" || r.Itself {
		return func() {}
	}
	recorded := make(chan error, 1)
	go func() {
		name := filepath.Join(r.Profiles, fmt.Sprintf("%s-%d.pprof", r.figure, round+1))
		file, err := os.Create(name)
		if err == nil {
			err = errors.Join(hub.Profile(ctx, r.Round, file), file.Close())
		}
		recorded <- err
	}()
	return func() {
		if err := <-recorded; err != nil {
			r.say("  no profile: %v", err)
		}
	}
}
