package power

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/target"
)

// Bounds of a cut.
const (
	bootWait  = time.Minute     // until the kernel has started its first process
	bootTries = 3               // tries of that: a kernel that hangs before it says nothing about a hub
	workWait  = 6 * time.Minute // from there until the power is cut
	maxAcks   = 600             // the power is cut after 1 to so many answered posts
)

// Run cuts the power. It leaves no process and no file behind. A broken promise is said with
// the seed.
func Run(ctx context.Context, o Options) (summary *Summary, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-power-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g, err := newRig(dir)
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, rig: g, random: rand.New(rand.NewPCG(o.Seed, 0)), summary: &Summary{}}
	if o.Executable == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		exe, err := target.Build(ctx, dir)
		if err != nil {
			return nil, err
		}
		r.Executable = exe.Path
	}
	if err := r.all(ctx); err != nil {
		return nil, fmt.Errorf("%w\nseed %d", err, o.Seed)
	}
	return r.summary, nil
}

type run struct {
	Options
	*rig
	random  *rand.Rand
	summary *Summary
}

func (r *run) all(ctx context.Context) error {
	if r.Control > 0 {
		if err := r.control(ctx); err != nil {
			return err
		}
	}
	for r.summary.Cuts < r.Cuts {
		if err := r.disk(ctx); err != nil {
			return fmt.Errorf("cut %d: %w", r.summary.Cuts, err)
		}
	}
	return nil
}

// disk cuts the power of machines with the same disk, then looks at it a last time.
func (r *run) disk(ctx context.Context) error {
	disk, err := r.newDisk(ctx, "disk")
	if err != nil {
		return err
	}
	l := newLedger()
	last := min(r.Fresh, r.Cuts-r.summary.Cuts)
	for n := range last + 1 {
		began := time.Now()
		if err := r.cutOnce(ctx, disk, r.Executable, l, n < last); err != nil {
			return err
		}
		if l.refused != "" {
			return fmt.Errorf("the hub does not start: %s", l.refused)
		}
		if n == last {
			break
		}
		r.summary.Cuts++
		fmt.Fprintf(r.Progress, "cut %d of %d after %d answers, %d messages before, %.1f s\n", r.summary.Cuts, r.Cuts, l.acks, len(l.rows), time.Since(began).Seconds())
	}
	r.summary.Messages += len(l.bodies)
	r.summary.Claims += len(l.fences)
	return nil
}

// control cuts the power of a hub without synced writes until it has lost something.
func (r *run) control(ctx context.Context) error {
	fmt.Fprintln(r.Progress, "building the control: a hub without synced writes")
	exe, err := target.BuildUnsynced(ctx, r.dir)
	if err != nil {
		return err
	}
	disk, err := r.newDisk(ctx, "control")
	if err != nil {
		return err
	}
	l := newLedger()
	for n := range r.Control + 1 {
		err := r.cutOnce(ctx, disk, exe.Path, l, true)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if l.refused != "" {
			err = errors.New(l.refused)
		}
		if err != nil {
			r.summary.Control, r.summary.Lost = n, err.Error()
			fmt.Fprintf(r.Progress, "the control has lost something at cut %d: %v\n", n, err)
			return nil
		}
	}
	return fmt.Errorf("the control without synced writes has lost nothing in %d cuts: this machine proves nothing", r.Control)
}

// cutOnce starts a machine, compares what the hub has with the ledger, and, if work is set,
// cuts the power while agents work.
func (r *run) cutOnce(ctx context.Context, disk, hub string, l *ledger, work bool) (err error) {
	acks := 1 + r.random.IntN(maxAcks)
	more := time.Duration(r.random.IntN(20)) * time.Millisecond // a cut comes at any moment of a commit
	m, err := r.bootSurely(ctx, disk, hub, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.cut(l.take)) }()
	timer := time.NewTimer(workWait)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-m.lines:
			if !ok {
				if l.refused == "" {
					err = errors.New("the machine ended by itself")
				}
				return err
			}
			if err := l.take(line); err != nil {
				return err
			}
		case <-timer.C:
			return fmt.Errorf("the hub has shown %d messages (all: %t) and answered %d of %d posts within %v", len(l.rows), l.checked, l.acks, acks, workWait)
		case <-ctx.Done():
			return ctx.Err()
		}
		if l.checked && (!work || l.acks >= acks) {
			pause.For(ctx, more)
			return nil
		}
	}
}

// bootSurely starts a machine until its first process has started.
func (r *run) bootSurely(ctx context.Context, disk, hub string, l *ledger) (*machine, error) {
	for range bootTries {
		l.begin()
		m, err := r.boot(ctx, disk, hub, r.random.IntN(1<<30))
		if err != nil {
			return nil, err
		}
		timer := time.NewTimer(bootWait)
		for waiting := true; waiting && !l.booted && err == nil; {
			select {
			case line, ok := <-m.lines:
				if waiting = ok; ok {
					err = l.take(line)
				}
			case <-timer.C:
				waiting = false
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		timer.Stop()
		if l.booted && err == nil {
			return m, nil
		}
		if err = errors.Join(err, m.cut(l.take)); err != nil {
			return nil, err
		}
		r.summary.Hung++
		fmt.Fprintln(r.Progress, "the kernel did not start its first process; once more")
	}
	return nil, fmt.Errorf("%w (its kernel did not start a process in %d tries of %v)", ErrNoMachine, bootTries, bootWait)
}
