package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// poll asks for what agents or a channel are told after since, waits for it, and
// returns where the next poll begins and how many messages came.
type poll func(since hub.MessageID) (next hub.MessageID, messages int, err error)

// listeners are agents that poll again and again.
type listeners struct {
	name    string
	channel hub.ChannelName // all of them hear it
	woken   chan time.Time  // one per answer that holds a message, when it had been read
	failed  chan error
	wg      sync.WaitGroup
	one     []float64 // ms from a post to the one whom it is for
	all     []float64 // ms from a post to each of all
}

func newListeners(name string, n int) *listeners {
	return &listeners{name: name, channel: hub.ChannelName(name), woken: make(chan time.Time, n), failed: make(chan error, n)}
}

func (l *listeners) agent(i int) hub.AgentID { return hub.AgentID(fmt.Sprintf("%s-%d", l.name, i)) }

// listen polls until a poll fails, as it does when its bridge is killed or its
// context ends.
func (l *listeners) listen(since hub.MessageID, ask poll) {
	l.wg.Go(func() {
		for {
			next, messages, err := ask(since)
			at := time.Now()
			if err != nil {
				l.failed <- err
				return
			}
			since = next
			if messages > 0 {
				l.woken <- at
			}
		}
	})
}

// hear waits for so many answers to a post at begin and returns their times.
func (l *listeners) hear(ctx context.Context, begin time.Time, answers int) (times []float64, err error) {
	timeout := time.NewTimer(ioTimeout)
	defer timeout.Stop()
	for range answers {
		select {
		case at := <-l.woken:
			times = append(times, stat.Milliseconds(at.Sub(begin)))
		case err := <-l.failed:
			return nil, err
		case <-timeout.C:
			return nil, fmt.Errorf("%d of %d %s did not answer within %v of a post", answers-len(times), answers, l.name, ioTimeout)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return times, nil
}

// bridgeWakes measures how late a parked poll's answer comes after a post: of one
// of many bridges, and of all of them at once; and turn by turn the same of polls
// that the Go client sends without a bridge.
func (r *run) bridgeWakes(ctx context.Context, server *target.Process) ([]Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	direct := server.Client()
	defer direct.Close()
	bridges, clients := newListeners("bridges", r.Bridges), newListeners("clients", r.Bridges)
	defer bridges.wg.Wait()
	defer clients.wg.Wait()
	defer cancel() // kills the bridges and ends the polls
	for _, l := range []*listeners{bridges, clients} {
		if _, err := direct.CreateChannel(ctx, hub.ChannelInput{Name: l.channel}); err != nil {
			return nil, err
		}
	}
	since, err := latest(ctx, server.Addr)
	if err != nil {
		return nil, err
	}
	for i := range r.Bridges {
		b, err := r.bridge(ctx, server, string(bridges.agent(i)))
		if err != nil {
			return nil, err
		}
		bridges.listen(hub.MessageID(since), pollOf(b, bridges.channel))
		agent := clients.agent(i)
		clients.listen(hub.MessageID(since), func(since hub.MessageID) (hub.MessageID, int, error) {
			page, err := direct.Events(ctx, hub.EventsQuery{
				Agent: agent, Channels: []hub.ChannelName{clients.channel}, Since: since, Wait: bridgeWait * time.Second,
			})
			return page.NextSinceID, len(page.Rows), err
		})
	}
	for i := range r.Rounds * bridgeWakes {
		for _, l := range []*listeners{bridges, clients} {
			times, err := r.wakeListeners(ctx, server, direct, l, hub.PostInput{ToAgent: l.agent(i % r.Bridges)}, 1)
			l.one = append(l.one, times...)
			if err == nil && i%10 == 0 {
				times, err = r.wakeListeners(ctx, server, direct, l, hub.PostInput{Channel: l.channel}, r.Bridges)
				l.all = append(l.all, times...)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return []Result{absolute(fmt.Sprintf("wake of one of %d bridges, p99", r.Bridges), stat.Percentile(bridges.one, 99), atMost(5, "ms"),
		fmt.Sprintf("from the post to the tool's answer, of %d; median %.2f ms; polls of the Go client: median %.2f, p99 %.2f ms",
			len(bridges.one), stat.Median(bridges.one), stat.Median(clients.one), stat.Percentile(clients.one, 99)),
		fmt.Sprintf("one post wakes all %d on %d processors: median %.1f, p99 %.1f ms; polls of the Go client: median %.1f, p99 %.1f ms",
			r.Bridges, runtime.NumCPU(), stat.Median(bridges.all), stat.Percentile(bridges.all, 99), stat.Median(clients.all), stat.Percentile(clients.all, 99)))}, nil
}

// wakeListeners posts when all listeners are parked and returns how long after
// that the answers came.
func (r *run) wakeListeners(
	ctx context.Context, server *target.Process, direct *client.Client, l *listeners, post hub.PostInput, answers int,
) ([]float64, error) {
	if err := countParked(ctx, server.Addr, 2*r.Bridges, l.failed); err != nil {
		return nil, err
	}
	post.FromAgent, post.Body = "waker", "wake"
	begin := time.Now()
	if _, err := direct.Post(ctx, post); err != nil {
		return nil, err
	}
	return l.hear(ctx, begin, answers)
}

// pollOf polls through a bridge.
func pollOf(b *target.Bridge, channel hub.ChannelName) poll {
	return func(since hub.MessageID) (hub.MessageID, int, error) {
		content, err := b.Call("hub_poll_messages", map[string]any{
			"since_id": since, "channel": channel, "timeout_seconds": bridgeWait, "verbose": true,
		})
		if err != nil {
			return 0, 0, err
		}
		var page struct {
			Messages []json.RawMessage `json:"messages"`
			Cursor   hub.MessageID     `json:"cursor"`
		}
		err = json.Unmarshal(content, &page)
		return page.Cursor, len(page.Messages), err
	}
}
