package crowd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/wire"
)

// agentsOfAPoster is how many agents post over one connection, one after the other.
const agentsOfAPoster = 20

// channel is what was said in a channel: the ids of its messages.
type channel struct {
	mu   sync.Mutex
	said []int64
}

// follower is an agent that reads a channel.
type follower struct {
	agent, channel string

	mu     sync.Mutex
	cursor int64
	read   []int64   // ids
	took   []float64 // ms from the sending of a message to its arrival
}

// talk is a crowd of agents that post in channels and follow them.
func (o *Options) talk(ctx context.Context, addr string) (leave func() (string, error), err error) {
	for i := range o.Channels {
		if err := makeChannel(ctx, addr, channelName(i)); err != nil {
			return nil, err
		}
	}
	following, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	channels := make([]channel, o.Channels)
	followers := make([]*follower, o.Agents)
	var reading, posting sync.WaitGroup
	for i := range followers {
		f := &follower{agent: agentName(i), channel: channelName(i % o.Channels)}
		followers[i] = f
		reading.Go(func() { f.follow(following, addr, stop) })
	}
	for first := 0; first < o.Agents; first += agentsOfAPoster {
		posting.Go(func() { o.speak(ctx, addr, first, channels, stop) })
	}
	return func() (string, error) {
		defer reading.Wait()
		defer stop(nil)
		posting.Wait()
		return o.compare(following, channels, followers, starved)
	}, nil
}

func agentName(i int) string   { return fmt.Sprintf("agent-%d", i) }
func channelName(i int) string { return fmt.Sprintf("channel-%d", i) }

// speak posts as some agents, each at its pace, until ctx ends.
func (o *Options) speak(ctx context.Context, addr string, first int, channels []channel, fail context.CancelCauseFunc) {
	c := &caller{addr: addr}
	defer c.close()
	last := min(first+agentsOfAPoster, o.Agents)
	every := o.Pace / time.Duration(last-first)
	pause.For(ctx, every*time.Duration(first%97)/97) // not all of them at once
	for n := 0; ctx.Err() == nil; n++ {
		agent := first + n%(last-first)
		to := (agent + n/(last-first)) % o.Channels // each agent goes around
		begin := time.Now()
		request, err := wire.Post(addr, "/v1/messages", map[string]string{
			"from_agent": agentName(agent), "channel": channelName(to), "body": strconv.FormatInt(begin.UnixNano(), 10),
		}, "Idempotency-Key", fmt.Sprintf("%d-%d", first, n))
		if err != nil {
			fail(err)
			return
		}
		answer, err := c.call(context.WithoutCancel(ctx), request, 201)
		if err != nil {
			fail(fmt.Errorf("a post of %s: %w", agentName(agent), err))
			return
		}
		id, ok := wire.Int(answer, "id")
		if !ok {
			fail(fmt.Errorf("%w: a post without an id: %.200s", ErrBroken, answer))
			return
		}
		channels[to].mu.Lock()
		channels[to].said = append(channels[to].said, id)
		channels[to].mu.Unlock()
		pause.For(ctx, every-time.Since(begin))
	}
}

// follow reads until ctx ends.
func (f *follower) follow(ctx context.Context, addr string, fail context.CancelCauseFunc) {
	c := &caller{addr: addr}
	defer c.close()
	for ctx.Err() == nil {
		f.mu.Lock()
		since := f.cursor
		f.mu.Unlock()
		got, err := pollPage(ctx, c, f.agent, f.channel, since)
		if err != nil {
			fail(fmt.Errorf("a poll of %s: %w", f.agent, err))
			return
		}
		f.arrived(got)
	}
}

func (f *follower) arrived(got *page) {
	now := time.Now().UnixNano()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range got.Rows {
		f.read = append(f.read, r.ID)
		if sent, err := strconv.ParseInt(r.Body, 10, 64); err == nil {
			f.took = append(f.took, stat.Milliseconds(time.Duration(now-sent)))
		}
	}
	f.cursor = max(f.cursor, got.Next)
}

// compare waits until all followers have what was said in their channels, but not longer
// than patience, and compares.
func (o *Options) compare(ctx context.Context, channels []channel, followers []*follower, patience time.Duration) (string, error) {
	said := 0
	for i := range channels {
		said += len(channels[i].said)
		slices.Sort(channels[i].said)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var took []float64
	for i, f := range followers {
		want := channels[i%o.Channels].said
		for len(want) > f.count() && waiting.Err() == nil {
			pause.For(waiting, 10*time.Millisecond)
		}
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		f.mu.Lock()
		read := slices.Clone(f.read)
		took = append(took, f.took...)
		f.mu.Unlock()
		if !slices.Equal(read, want) {
			return "", fmt.Errorf("%w: %s has %d messages of %s, in which %d were said; they differ", ErrBroken, f.agent, len(read), f.channel, len(want))
		}
	}
	return fmt.Sprintf("%d agents said %d things in %d channels, and %d arrivals were all there, in order, once; p50 %.1f ms, p99 %.1f ms, slowest %.0f ms",
		o.Agents, said, o.Channels, len(took), stat.Percentile(took, 50), stat.Percentile(took, 99), stat.Percentile(took, 100)), nil
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.read)
}
