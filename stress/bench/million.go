package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/target"
	"hubcli/stress/wire"
)

const (
	largeBodyBytes = 500
	loadAgents     = 256
	loadReport     = 10 * time.Second
	megabyte       = 1e6
	startWork      = 5 * time.Second // a hub that has just started tidies up for so long
)

// idle measures a hub that nobody calls.
func (r *run) idle(ctx context.Context) (results []Result, err error) {
	p, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop(p, r.Itself)) }()
	pause.For(ctx, r.Settle+startWork)
	before, err := p.Used()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	pause.For(ctx, r.Idle)
	after, err := p.Used()
	if err != nil {
		return nil, err
	}
	passed := time.Since(begin)
	share := 100 * float64(after.Running-before.Running) / float64(passed)
	wakeups := float64(after.Wakeups-before.Wakeups) / passed.Seconds()
	anonymous, err := p.Anonymous()
	if err != nil {
		return nil, err
	}
	return []Result{
		absolute("idle hub, anonymous memory", float64(anonymous)/megabyte, atMost(40, "MB")),
		absolute("idle hub, processor", share, atMost(0.3, "% of a core"), fmt.Sprintf("over %v", r.Idle)),
		absolute("idle hub, wakeups", wakeups, atMost(20, "a second"), fmt.Sprintf("over %v, of all threads", r.Idle)),
	}, ctx.Err()
}

// stop ends a hub as an operator would. The ceiling knows no such end.
func stop(p *target.Process, itself bool) error {
	if itself {
		p.Kill()
		return nil
	}
	return p.Stop()
}

// million fills a store over HTTP and measures what it costs to have it: memory,
// starts after a kill and after a clean stop, and the rate of further posts
// beside a hub with an empty store.
func (r *run) million(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling stores nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() { p.Kill() }() // p changes
	restart := func() error {
		next, err := r.hub(ctx, store)
		if err == nil {
			p = next
		}
		return err
	}
	took, err := r.load(ctx, r.Messages, p.Addr, "general", wire.Counter+strings.Repeat("x", largeBodyBytes-len(wire.Counter)))
	if err != nil {
		return nil, err
	}
	pause.For(ctx, r.Settle)
	anonymous, err := p.Anonymous()
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d messages of %d bytes", r.Messages, largeBodyBytes)
	results = append(results, absolute(what+", anonymous memory", float64(anonymous)/megabyte, atMost(120, "MB"),
		fmt.Sprintf("loaded in %v over %d connections, %.0f/s", took.Round(time.Second), loadAgents, float64(r.Messages)/took.Seconds())))

	p.Kill()
	if err := restart(); err != nil {
		return results, err
	}
	killed := p.Ready

	rate, err := r.besideEmpty(ctx, p)
	if err != nil {
		return results, err
	}
	if err := p.Stop(); err != nil {
		return results, err
	}
	if err := restart(); err != nil {
		return results, err
	}
	return append(results,
		absolute(what+", start after a clean stop", p.Ready.Seconds(), atMost(1, "s")),
		absolute(what+", start after SIGKILL", killed.Seconds(), atMost(3, "s")),
		rate,
	), p.Stop()
}

// load posts so many messages to a channel and returns the time it took. The body contains
// wire.Counter.
func (r *run) load(ctx context.Context, messages int, addr, channel, body string) (time.Duration, error) {
	cs, err := dial(ctx, addr, loadAgents)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(messages))
	var turns []turn
	for i, c := range cs {
		post, err := r.posterTo(c, addr, agentName(i), channel, body)
		if err != nil {
			return 0, err
		}
		turns = append(turns, post)
	}
	begin := time.Now()
	var wg sync.WaitGroup
	for _, post := range turns {
		wg.Go(func() {
			for ctx.Err() == nil && left.Add(-1) >= 0 {
				if _, err := post(); err != nil {
					cancel(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(loadReport)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return time.Since(begin), context.Cause(ctx)
		case <-tick.C:
			r.say("  %d messages to load", max(0, left.Load()))
		}
	}
}

// besideEmpty lets a full hub and an empty one take turns.
func (r *run) besideEmpty(ctx context.Context, full *target.Process) (result Result, err error) {
	empty, err := r.hub(ctx, r.newStore())
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, empty.Stop()) }()
	var rounds []Round
	for i := range r.Rounds {
		var round Round
		turns := []func() error{
			func() (err error) { round.Hub, err = r.postRate(ctx, full.Addr); return err },
			func() (err error) { round.Ceiling, err = r.postRate(ctx, empty.Addr); return err },
		}
		if i%2 == 1 {
			slices.Reverse(turns)
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				return Result{}, err
			}
		}
		r.say("  full %.4g, empty %.4g", round.Hub, round.Ceiling)
		rounds = append(rounds, round)
	}
	return compared(fmt.Sprintf("posts at %d messages, against an empty store", r.Messages), "/s", rounds, atLeast(0.95),
		"the column ceiling is the hub with the empty store"), nil
}
