package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// Waiting of the parked polls.
const (
	pollTimeout = 60 // seconds, the longest that a hub grants
	parkWait    = 30 * time.Second
	parkPoll    = 10 * time.Millisecond
	wakes       = 6 // per turn; the first is the warm-up
)

// waiters are agents that long-poll, each on a connection of its own.
type waiters struct {
	addr   string
	conns  conns
	woken  chan time.Time // one per answer that holds a row
	failed chan error
	wg     sync.WaitGroup
}

// park starts n waiters and returns when all are parked in the server.
func park(ctx context.Context, addr string, n int) (*waiters, error) {
	since, err := latest(ctx, addr)
	if err != nil {
		return nil, err
	}
	cs, err := dial(ctx, addr, n)
	if err != nil {
		return nil, err
	}
	w := &waiters{addr: addr, conns: cs, woken: make(chan time.Time, n), failed: make(chan error, n)}
	for i, c := range cs {
		path := fmt.Sprintf("/v1/events?agent_id=%s&channel=general&timeout=%d&since_id=%s", agentName(i), pollTimeout, wire.Counter)
		w.wg.Go(func() { w.poll(c, wire.Get(addr, path), since) })
	}
	if err := w.allParked(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// latest finds where a poll must begin to be parked.
func latest(ctx context.Context, addr string) (int64, error) {
	cs, err := dial(ctx, addr, 1)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	o := Options{}
	post, err := o.poster(cs[0], addr, "poster", bodyBytes)
	if err != nil {
		return 0, err
	}
	if _, err := post(); err != nil {
		return 0, err
	}
	for since := int64(0); ; {
		request := wire.Get(addr, "/v1/events?agent_id=poster&limit=1000&timeout=0&since_id="+wire.Counter)
		request.Set(since)
		_, body, err := expect(cs[0], request.Bytes(), 200)
		if err != nil {
			return 0, err
		}
		next, ok := wire.Int(body, "next_since_id")
		if !ok {
			return 0, fmt.Errorf("%w: a poll without next_since_id: %s", errStatus, firstBytes(body))
		}
		if next <= since {
			return since, nil
		}
		since = next
	}
}

// poll asks again and again until its connection ends.
func (w *waiters) poll(c *wire.Conn, request *wire.Request, since int64) {
	for {
		request.Set(since)
		_, body, err := expect(c, request.Bytes(), 200)
		now := time.Now()
		if err != nil {
			w.failed <- err
			return
		}
		next, ok := wire.Int(body, "next_since_id")
		if !ok {
			w.failed <- fmt.Errorf("%w: a poll without next_since_id: %s", errStatus, firstBytes(body))
			return
		}
		if next > since {
			since = next
			w.woken <- now
		}
	}
}

// allParked waits until the server counts all of them.
func (w *waiters) allParked(ctx context.Context) error {
	return countParked(ctx, w.addr, len(w.conns), w.failed)
}

// countParked waits until the server counts n parked polls, or one has failed.
func countParked(ctx context.Context, addr string, n int, failed <-chan error) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(parkWait))
	request := wire.Get(addr, "/v1/app/status")
	for {
		_, body, err := expect(c, request.Bytes(), 200)
		if err != nil {
			return fmt.Errorf("waiting for %d polls to be parked: %w", n, err)
		}
		parked, ok := wire.Int(body, "parked_polls")
		if !ok {
			return fmt.Errorf("%w: the status without parked_polls: %s", errStatus, firstBytes(body))
		}
		if parked >= int64(n) {
			return nil
		}
		select {
		case err := <-failed:
			return err
		default:
		}
		if pause.For(ctx, parkPoll); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// wakeAll posts once and returns how long after the post was sent each poll's
// answer had been read, in ms.
func (w *waiters) wakeAll(ctx context.Context, o *Options) ([]float64, error) {
	cs, err := dial(ctx, w.addr, 1)
	if err != nil {
		return nil, err
	}
	defer cs.close()
	post, err := o.poster(cs[0], w.addr, "poster", bodyBytes)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if _, err := post(); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(ioTimeout)
	defer timeout.Stop()
	times := make([]float64, 0, len(w.conns))
	for range w.conns {
		select {
		case at := <-w.woken:
			times = append(times, stat.Milliseconds(at.Sub(begin)))
		case err := <-w.failed:
			return nil, err
		case <-timeout.C:
			return nil, fmt.Errorf("%d of %d polls did not wake within %v", len(w.conns)-len(times), len(w.conns), ioTimeout)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return times, nil
}

func (w *waiters) close() {
	w.conns.close()
	w.wg.Wait()
}

// wake measures how late the last of many parked polls learns of a post.
func (r *run) wake(ctx context.Context) ([]Result, error) {
	rounds, err := r.rounds(ctx, func(ctx context.Context, addr string) (float64, error) {
		w, err := park(ctx, addr, r.Waiters)
		if err != nil {
			return 0, err
		}
		defer w.close()
		var times []float64
		for i := range wakes {
			if err := w.allParked(ctx); err != nil {
				return 0, err
			}
			woken, err := w.wakeAll(ctx, &r.Options)
			if err != nil {
				return 0, err
			}
			if i > 0 {
				times = append(times, woken...)
			}
		}
		return stat.Percentile(times, 99), nil
	})
	if err != nil {
		return nil, err
	}
	return []Result{compared(fmt.Sprintf("wake of %d parked polls, p99", r.Waiters), "ms", rounds, atMost(0.8, ""))}, nil
}

// memory measures what a parked poll costs.
func (r *run) memory(ctx context.Context) ([]Result, error) {
	before, after, err := r.parkedMemory(ctx, func() (*target.Process, error) { return r.hub(ctx, r.newStore()) })
	if err != nil {
		return nil, err
	}
	ceilingBefore, ceilingAfter, err := r.parkedMemory(ctx, func() (*target.Process, error) { return target.Ceiling(ctx, "ceiling") })
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("anonymous memory per parked poll at %d", r.Parked)
	return []Result{
		absolute(name+", before a wake", before, atMost(20, "KiB"), fmt.Sprintf("ceiling %.1f KiB", ceilingBefore)),
		absolute(name+", after", after, atMost(32, "KiB"), fmt.Sprintf("ceiling %.1f KiB", ceilingAfter)),
	}, nil
}

// parkedMemory returns KiB per poll, before and after the first wake.
func (r *run) parkedMemory(ctx context.Context, start func() (*target.Process, error)) (before, after float64, err error) {
	p, err := start()
	if err != nil {
		return 0, 0, err
	}
	defer p.Kill()
	pause.For(ctx, r.Settle)
	empty, err := p.Anonymous()
	if err != nil {
		return 0, 0, err
	}
	w, err := park(ctx, p.Addr, r.Parked)
	if err != nil {
		return 0, 0, err
	}
	defer w.close()
	perPoll := func() (float64, error) {
		pause.For(ctx, r.Settle)
		now, err := p.Anonymous()
		return float64(now-empty) / 1024 / float64(r.Parked), err
	}
	if before, err = perPoll(); err != nil {
		return 0, 0, err
	}
	if _, err = w.wakeAll(ctx, &r.Options); err != nil {
		return 0, 0, err
	}
	if err = w.allParked(ctx); err != nil {
		return 0, 0, err
	}
	after, err = perPoll()
	return before, after, err
}
