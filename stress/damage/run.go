package damage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/stress/crash"
	"hubcli/stress/target"
)

// Options say how often to damage and what.
type Options struct {
	Count      int    // damages
	Records    int    // answered writes that make the store
	Salvages   int    // one in so many stores that are not whole is salvaged
	Seed       uint64 // of the damages
	Dir        string // where the stores go; empty: the system's temporary folder
	Executable string // a hub that is built already; empty: build it
	Progress   io.Writer
}

// DefaultOptions run for some minutes.
func DefaultOptions() Options {
	return Options{Count: 200, Records: 20_000, Salvages: 2, Seed: uint64(time.Now().UnixNano()), Progress: io.Discard}
}

// Upper bounds of the options.
const (
	maxCount   = 100_000
	maxRecords = 10_000_000
)

// Validate refuses what cannot be run.
func (o *Options) Validate() error {
	switch {
	case o.Count < 1 || o.Count > maxCount:
		return fmt.Errorf("count must be 1 to %d", maxCount)
	case o.Records < 100 || o.Records > maxRecords:
		return fmt.Errorf("records must be 100 to %d", maxRecords)
	case o.Salvages < 1 || o.Salvages > maxCount:
		return fmt.Errorf("salvages must be 1 to %d", maxCount)
	}
	return nil
}

// Summary counts how the damages ended.
type Summary struct {
	Outcomes map[string]map[outcome]int // by kind of damage
	Salvaged int                        // stores that were salvaged
	Missing  int                        // messages that these lack, each listed
	Files    int                        // that were damaged
}

func (s *Summary) String() string {
	var b strings.Builder
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(s.Outcomes)) {
		fmt.Fprintf(&b, "%-9s", kind)
		for _, o := range []outcome{whole, told, refused} {
			fmt.Fprintf(&b, "  %4d %s", s.Outcomes[kind][o], o)
			total += s.Outcomes[kind][o]
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d damages of %d files: no other history, no panic, each refusal with a reason and a way out; %d stores salvaged, %d messages missing there, all of them listed",
		total, s.Files, s.Salvaged, s.Missing)
	return b.String()
}

// Run damages copies of a store. It leaves no process and no file behind; the damaged
// store is kept, and named, when a promise was broken.
func Run(ctx context.Context, o Options) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-damage-")
	if err != nil {
		return nil, err
	}
	exe := target.Executable{Path: o.Executable}
	if exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		if exe, err = target.Build(ctx, dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	load := crash.DefaultOptions()
	load.Progress = io.Discard
	r := &run{
		Options: o, exe: exe, dir: dir, work: crash.NewWork(load, exe, dir), random: rand.New(rand.NewPCG(o.Seed, 2)),
		summary: &Summary{Outcomes: map[string]map[outcome]int{}}, files: map[string]bool{},
	}
	if err := r.all(ctx); err != nil {
		if ctx.Err() == nil {
			return nil, fmt.Errorf("%w\nseed %d; the stores are kept in %s", err, o.Seed, dir)
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.summary.Files = len(r.files)
	return r.summary, os.RemoveAll(dir)
}

// run is a run of the damages.
type run struct {
	Options
	exe     target.Executable
	dir     string
	work    *crash.Work
	random  *rand.Rand
	summary *Summary
	files   map[string]bool
	done    int
	unwhole int
}

func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

// all fills a store, and damages copies of it as a kill and as a stop has left it.
func (r *run) all(ctx context.Context) error {
	half := int64(r.Records) / 2
	if err := r.work.Fill(ctx, half); err != nil {
		return err
	}
	if err := copyStore(r.work.Store(), r.path("old")); err != nil {
		return err
	}
	if err := r.work.Fill(ctx, half); err != nil {
		return err
	}
	if err := r.state(ctx, "killed", r.Count/2); err != nil {
		return err
	}
	if err := r.work.Stop(ctx); err != nil {
		return err
	}
	return r.state(ctx, "stopped", r.Count-r.Count/2)
}

// state damages copies of the store as it is now.
func (r *run) state(ctx context.Context, name string, count int) error {
	good := r.path(name)
	if err := copyStore(r.work.Store(), good); err != nil {
		return err
	}
	trial := r.path("whole")
	if err := copyStore(good, trial); err != nil {
		return err
	}
	p, err := r.exe.Start(ctx, trial) // learns what was stored and not answered
	if err != nil {
		return err
	}
	err = r.work.Verify(ctx, p.Addr)
	p.Kill()
	if err = errors.Join(err, os.RemoveAll(trial)); err != nil {
		return fmt.Errorf("without damage: %w", err)
	}
	for range count {
		if err := r.damage(ctx, name, good); err != nil {
			return err
		}
	}
	return os.RemoveAll(good)
}

// damage damages one copy and judges what comes of it.
func (r *run) damage(ctx context.Context, state, good string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	kind := kinds[r.done%len(kinds)]
	r.done++
	store := r.path("damaged")
	if err := copyStore(good, store); err != nil {
		return err
	}
	file, how, err := r.hurt(store, kind)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s, %s: %s", state, file, how)
	before, err := listing(store)
	if err != nil {
		return err
	}
	evidence := r.path("evidence")
	if err := copyStore(store, evidence); err != nil {
		return err
	}
	end, err := r.judge(ctx, store)
	if err == nil && end != whole {
		if r.unwhole++; r.unwhole%r.Salvages == 0 {
			err = r.salvage(ctx, evidence, before, strings.Contains(what, "MAKER"))
		}
	}
	if err != nil {
		return fmt.Errorf("damage %d (%s): %w", r.done, what, err)
	}
	fmt.Fprintf(r.Progress, "%d of %d: %s: %s\n", r.done, r.Count, what, end)
	if r.summary.Outcomes[kind] == nil {
		r.summary.Outcomes[kind] = map[outcome]int{}
	}
	r.summary.Outcomes[kind][end]++
	r.files[file] = true
	return errors.Join(os.RemoveAll(store), os.RemoveAll(evidence))
}
