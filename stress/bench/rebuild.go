package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/target"
)

// rebuildPace is the time between two posts of the agent beside a rebuild.
const rebuildPace = 10 * time.Millisecond

// rebuild measures what it costs to make the search index of the large store anew:
// time and memory, alone and beside an agent that posts a hundred times a second, and
// what that agent notices.
func (r *run) rebuild(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling finds nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() { p.Kill() }() // p changes
	loaded, err := r.postTexts(ctx, p, talk(r.Messages))
	if err != nil {
		return nil, err
	}
	behind, err := lagOf(ctx, p)
	if err != nil {
		return nil, err
	}
	r.say("  posted in %v, %d rows behind", loaded.Round(time.Second), behind)
	later, _, err := r.awaitIndex(ctx, p)
	if err != nil {
		return nil, err
	}
	calm, err := r.paced(ctx, p, 1000*rebuildPace, nil)
	if err != nil {
		return nil, err
	}
	anew := func() error {
		if err := errors.Join(p.Stop(), os.RemoveAll(indexOf(store))); err != nil {
			return err
		}
		next, err := r.hub(ctx, store)
		if err == nil {
			p = next
		}
		return err
	}
	if err := anew(); err != nil {
		return nil, err
	}
	alone, peak, err := r.awaitIndex(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := anew(); err != nil {
		return nil, err
	}
	beside, busyPeak, posts, err := r.besideRebuild(ctx, p)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("search index of %d messages made anew", r.Messages)
	p99 := func(took []time.Duration) float64 { return took[len(took)*99/100].Seconds() * 1e3 }
	mb := func(n int64) string { return fmt.Sprintf("at most %.0f MB of anonymous memory", float64(n)/megabyte) }
	return []Result{
		absolute(what, alone.Seconds(), atMost(600*float64(r.Messages)/1e6+10, "s"), mb(peak),
			fmt.Sprintf("after posting them in %v it was %d rows behind, and had them %v later", loaded.Round(time.Second), behind, later.Round(time.Second))),
		absolute(what+", beside 100 posts a second", beside.Seconds(), atMost(900*float64(r.Messages)/1e6+10, "s"), mb(busyPeak)),
		absolute("p99 of these posts, beside that without a rebuild", p99(posts)/p99(calm), atMost(5, "times"),
			fmt.Sprintf("p50 %.2f ms, p99 %.2f ms, slowest %.0f ms; without a rebuild %.2f, %.2f and %.0f",
				posts[len(posts)/2].Seconds()*1e3, p99(posts), posts[len(posts)-1].Seconds()*1e3,
				calm[len(calm)/2].Seconds()*1e3, p99(calm), calm[len(calm)-1].Seconds()*1e3)),
	}, p.Stop()
}

// besideRebuild waits for the index of a hub that has just started, while an agent
// posts. Some of the new rows are always behind, because the index gathers them before it
// takes them in; it takes them in after the old ones.
func (r *run) besideRebuild(ctx context.Context, p *target.Process) (took time.Duration, peak int64, posts []time.Duration, err error) {
	done := make(chan struct{})
	var poster sync.WaitGroup
	var posted error
	begin := time.Now()
	poster.Go(func() { posts, posted = r.paced(ctx, p, time.Hour, done) })
	took, peak, err = r.awaitIndexBut(ctx, p, func() int64 { return int64(time.Since(begin) / rebuildPace) })
	close(done)
	poster.Wait()
	return took, peak, posts, errors.Join(err, posted)
}

// paced posts at a steady pace for so long, or until done is closed, and returns how
// long the posts took, rising.
func (r *run) paced(ctx context.Context, p *target.Process, length time.Duration, done <-chan struct{}) (took []time.Duration, err error) {
	c := p.Client()
	defer c.Close()
	begin := time.Now()
	for i := 0; ; i++ {
		pause.For(ctx, time.Until(begin.Add(time.Duration(i)*rebuildPace)))
		select {
		case <-done:
			slices.Sort(took)
			return took, nil
		default:
		}
		if ctx.Err() != nil || time.Since(begin) > length {
			slices.Sort(took)
			return took, ctx.Err()
		}
		at := time.Now()
		if _, err := c.Post(ctx, hub.PostInput{FromAgent: "beside", Channel: hub.DefaultChannel, Body: "a word beside the rebuild"}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(at))
	}
}

// lagOf returns how many rows the index has not taken in.
func lagOf(ctx context.Context, p *target.Process) (int64, error) {
	c := p.Client()
	defer c.Close()
	s, err := c.AppStatus(ctx)
	return s.Search.Behind, err
}
