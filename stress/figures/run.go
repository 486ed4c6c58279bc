package figures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"hubcli/stress/bench"
	"hubcli/stress/crash"
	"hubcli/stress/crowd"
	"hubcli/stress/damage"
	"hubcli/stress/disks"
	"hubcli/stress/linear"
	"hubcli/stress/peers"
	"hubcli/stress/power"
	"hubcli/stress/target"
)

// Options say how long to measure and where the page goes.
type Options struct {
	Docs     string        // folder of the docs
	Budget   time.Duration // for the programs that look for broken promises, together
	Figures  []string      // names of the bench, or peers, which replace those of the last run on this machine; empty: all
	Rounds   int           // of the bench; 0: its own number
	Messages int           // of the large store; 0: its own number
	NATS     string        // path of a nats-server for the comparison; empty: the system's
	Dir      string        // where stores go; empty: the system's temporary folder
	Progress io.Writer
}

// Validate refuses what cannot be measured.
func (o *Options) Validate() error {
	if o.Budget < 0 || o.Budget > 24*time.Hour {
		return errors.New("the budget must be up to 24h")
	}
	for _, name := range o.Figures {
		if known := append(bench.Names(), peersFigure); !slices.Contains(known, name) {
			return fmt.Errorf("no figure %q; the figures are %s", name, strings.Join(known, ", "))
		}
	}
	if info, err := os.Stat(o.Docs); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder: run it in the folder of the repository, or name the folder with -docs", o.Docs)
	}
	return nil
}

// Run measures everything and writes the page. An error leaves the page as it was.
func Run(ctx context.Context, o Options) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	began := time.Now()
	dir, err := os.MkdirTemp(o.Dir, "hubcli-figures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(o.Progress, "building the hub")
	exe, err := target.Build(ctx, dir)
	if err != nil {
		return err
	}
	d := &Data{Machine: machine(dir), Bench: bench.Report{Time: began}}
	err = o.measure(ctx, dir, exe.Path, d)
	if err != nil && d.Bench.Results == nil && d.Peers == nil {
		return err
	}
	d.Took = time.Since(began)
	if len(o.Figures) > 0 || err != nil { // what was measured before an error is kept
		if earlier, err := read(o.Docs); err == nil && earlier.Machine == d.Machine {
			earlier.replace(d)
			d = earlier
		}
	}
	return errors.Join(err, d.write(o.Docs))
}

// measure measures what was asked for. After an error d has what came before.
func (o *Options) measure(ctx context.Context, dir, exe string, d *Data) error {
	others := slices.Contains(o.Figures, peersFigure)
	if !others || len(o.Figures) > 1 {
		measured, err := bench.Run(ctx, o.bench(dir, exe))
		if err != nil {
			return err
		}
		d.Bench = *measured
	}
	var err error
	if others || len(o.Figures) == 0 {
		if d.Peers, err = o.compare(ctx, dir, exe); err != nil {
			return err
		}
	}
	d.Proofs, err = o.prove(ctx, dir, exe)
	return err
}

func (o *Options) bench(dir, exe string) bench.Options {
	b := bench.DefaultOptions()
	b.Dir, b.Executable, b.Progress = dir, exe, o.Progress
	b.Figures = slices.DeleteFunc(slices.Clone(o.Figures), func(name string) bool { return name == peersFigure })
	if o.Rounds > 0 {
		b.Rounds = o.Rounds
	}
	if o.Messages > 0 {
		b.Messages = o.Messages
	}
	return b
}

// peersFigure is the name of the comparison with other servers among the figures.
const peersFigure = "peers"

// compare puts the same work to the hub and to the servers that are there.
func (o *Options) compare(ctx context.Context, dir, exe string) (*Proof, error) {
	p := peers.DefaultOptions()
	p.Dir, p.Executable, p.NATS, p.Progress = dir, exe, o.NATS, o.Progress
	began := time.Now()
	report, err := peers.Run(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	says := strings.Split(strings.TrimSpace(report.String()), "\n")
	return &Proof{Name: "The hub and other servers", Command: "go run ./stress peers", Took: time.Since(began), Says: says}, nil
}

// A program looks for a broken promise, n times.
type program struct {
	name    string
	command string        // with the verb %d for n
	each    time.Duration // about what one time takes; the budget is divided by it
	run     func(ctx context.Context, n int) (fmt.Stringer, error)
}

// prove runs the programs, each for its share of the budget.
func (o *Options) prove(ctx context.Context, dir, exe string) (proofs []Proof, err error) {
	programs := []program{
		{"Every answer is that of one program that does one call after the other", "go run ./stress linear -cycles %d", 2 * time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			l := linear.DefaultOptions()
			l.Cycles, l.Dir, l.Executable, l.Progress = n, dir, exe, o.Progress
			return linear.Run(ctx, l)
		}},
		{"Nothing acknowledged is lost by a kill", "go run ./stress kill -cycles %d", 2 * time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			c := crash.DefaultOptions()
			c.Cycles, c.Dir, c.Executable, c.Progress = n, dir, exe, o.Progress
			return crash.Run(ctx, c)
		}},
		{"A damaged store is whole, or refused", "go run ./stress damage -count %d", time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			h := damage.DefaultOptions()
			h.Count, h.Dir, h.Executable, h.Progress = n, dir, exe, o.Progress
			return damage.Run(ctx, h)
		}},
		{"A full disk ends nothing, and a failing one loses nothing", "go run ./stress disks -steps %d", 6 * time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			k := disks.DefaultOptions()
			k.Steps, k.Dir, k.Executable, k.Progress = n, dir, exe, o.Progress
			return disks.Run(ctx, k)
		}},
		{"Nothing acknowledged is lost by a power cut", "go run ./stress power -cuts %d", 6 * time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			w := power.DefaultOptions()
			w.Cuts, w.Dir, w.Executable, w.Progress = n, dir, exe, o.Progress
			return power.Run(ctx, w)
		}},
		{"A crowd takes nothing from others", "go run ./stress crowd -duration %ds", time.Duration(len(crowd.Scenarios())) * time.Second, func(ctx context.Context, n int) (fmt.Stringer, error) {
			c := crowd.DefaultOptions()
			c.Duration, c.Dir, c.Executable, c.Progress = time.Duration(n)*time.Second, dir, exe, o.Progress
			return crowd.Run(ctx, c)
		}},
	}
	share := o.Budget / time.Duration(len(programs))
	for _, p := range programs {
		n := int(share / p.each)
		if n == 0 {
			continue
		}
		began := time.Now()
		found, err := p.run(ctx, n)
		if errors.Is(err, disks.ErrCannotMount) || errors.Is(err, power.ErrNoMachine) {
			fmt.Fprintln(o.Progress, "SKIPPED:", p.name+":", err)
			proofs = append(proofs, Proof{Name: p.name, Command: fmt.Sprintf(p.command, n), Says: []string{"not made here: " + err.Error()}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		says := strings.Split(strings.TrimSpace(found.String()), "\n")
		proofs = append(proofs, Proof{Name: p.name, Command: fmt.Sprintf(p.command, n), Took: time.Since(began), Says: says})
	}
	return proofs, nil
}

// machine describes where the program runs; dir is on the disk of the stores.
func machine(dir string) Machine {
	m := Machine{Processors: runtime.NumCPU(), System: runtime.GOOS}
	m.look(filepath.Clean(dir))
	return m
}
