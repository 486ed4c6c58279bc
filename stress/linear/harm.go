package linear

import (
	"context"
	"fmt"
	"time"

	"hubcli/stress/target"
)

// One in killedStarts cycles comes after a start that is killed within maxStart. One in
// restarts ends by a stop; see stops. One in wakes has a moment of quiet before its end. One in
// longCycles lasts long enough for leases to expire.
const (
	killedStarts = 3
	maxStart     = 120 * time.Millisecond
	restarts     = 6
	wakes        = 3
	longCycles   = 12
	longTime     = 2500 * time.Millisecond
)

// Bounds of a pause, and of how far the wall clock is off. Keys of writes are kept for
// more than a day, so that none is forgotten.
const (
	maxPause = 150 * time.Millisecond
	maxOff   = 10 * time.Hour
)

// killStart kills a start now and then, ready or not.
func (r *run) killStart(ctx context.Context) error {
	if r.random.IntN(killedStarts) > 0 {
		return nil
	}
	d := time.Duration(r.random.Int64N(int64(maxStart)))
	if err := r.exe.StartAndKill(ctx, r.store(), d); err != nil {
		return fmt.Errorf("killed %v after its start: %w", d, err)
	}
	r.summary.Starts++
	return nil
}

// stops says whether a cycle ends by a stop. Of each restarts cycles one does, so that the
// others are kills, however long a run is.
func (r *run) stops(cycle int) bool {
	if cycle%restarts == 0 {
		r.stopAt = cycle + r.random.IntN(restarts)
	}
	return cycle == r.stopAt
}

// harm lets the clients call, does up to three things to the hub meanwhile, and ends it, by a
// stop or by a kill.
func (r *run) harm(ctx context.Context, e *epoch, calls *crew, stop bool) error {
	long := time.Duration(0)
	if r.random.IntN(longCycles) == 0 {
		long = longTime
	}
	steps := r.random.IntN(4)
	for range steps {
		if err := e.await(ctx, 1+r.random.Int64N(int64(r.Answers)), 0); err != nil {
			return err
		}
		if err := r.disturb(e); err != nil {
			return err
		}
	}
	if err := e.await(ctx, 1+r.random.Int64N(int64(r.Answers)), long); err != nil {
		return err
	}
	if r.random.IntN(wakes) == 0 && e.over.Err() == nil {
		e.quiet()
		if err := calls.wait(); err != nil {
			return err
		}
		for n := range 2 {
			if err := r.now.wake(e, n); err != nil {
				return err
			}
		}
		r.summary.Wakes += 2 * (len(r.now.followers) + 1)
	}
	if stop {
		// The clients go on while it stops.
		err := e.process.Stop()
		r.proxy.to("")
		e.finish()
		r.summary.Stops++
		return err
	}
	e.process.Kill()
	r.proxy.to("")
	e.finish()
	r.summary.Kills++
	return nil
}

// disturb pauses the hub, cuts connections or sets the clock.
func (r *run) disturb(e *epoch) error {
	switch r.random.IntN(3) {
	case 0:
		if !target.CanPause {
			return nil
		}
		if err := e.process.Pause(); err != nil {
			return err
		}
		e.rest(time.Duration(r.random.Int64N(int64(maxPause))))
		r.summary.Pauses++
		return e.process.Continue()
	case 1:
		r.count.Cuts.Add(int64(r.proxy.cut(r.random, 1+r.random.IntN(4))))
	default:
		if !r.Clock {
			return nil
		}
		r.summary.Jumps++
		return e.process.SetClock(time.Duration(r.random.Int64N(int64(2*maxOff))) - maxOff)
	}
	return nil
}
