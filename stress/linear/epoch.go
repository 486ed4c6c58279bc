package linear

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// epoch is the life of one process of the hub.
type epoch struct {
	n       int
	addr    string // of the hub
	process *target.Process
	proxy   *proxy
	time    *timeline
	count   *counts
	answers atomic.Int64
	over    context.Context // done once the hub is to end
	finish  context.CancelFunc
	idle    context.Context // done once the clients are to begin no more calls
	quiet   context.CancelFunc
}

// counts are what a run has done.
type counts struct {
	Answers, Unknown, Repeats, Cuts atomic.Int64
}

func (e *epoch) isOver() bool { return e.over.Err() != nil || e.idle.Err() != nil }

// rest waits a moment, or until the epoch is over.
func (e *epoch) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.over.Done():
	}
}

func (e *epoch) answered() {
	e.answers.Add(1)
	e.count.Answers.Add(1)
}

// await waits until the clients have had so many answers more, or for at least d.
func (e *epoch) await(ctx context.Context, answers int64, d time.Duration) error {
	begin, from := time.Now(), e.answers.Load()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for e.answers.Load()-from < answers || time.Since(begin) < d {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.over.Done():
			return nil
		case <-e.process.Ended():
			return fmt.Errorf("%w: the hub ended by itself\n%s", errBroken, e.process.Output())
		case <-tick.C:
		}
		if time.Since(begin) > d+time.Minute {
			return fmt.Errorf("%w: no answers for a minute\n%s", errBroken, e.process.Output())
		}
	}
	return nil
}

// ask calls the hub directly, while nothing disturbs it.
func (e *epoch) ask(next *call) (*answer, error) {
	conn, err := wire.Dial(e.over, e.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	a, err := ask(conn, e.addr, next, callTime+next.wait)
	if err == nil && !a.OK {
		err = a.unexpected()
	}
	if err != nil {
		err = fmt.Errorf("%s %v: %w\n%s", next.path, next.body, err, e.process.Output())
	}
	return a, err
}

// crew are goroutines of an epoch. The first broken promise ends the epoch.
type crew struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	err error
}

func (w *crew) run(e *epoch, work func() error) {
	w.wg.Go(func() {
		if err := work(); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.err == nil {
				w.err = err
			}
			e.finish()
		}
	})
}

func (w *crew) wait() error {
	w.wg.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
