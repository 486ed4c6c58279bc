package crowd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"hubcli/internal/pause"
	"hubcli/stress/wire"
)

// greedyBody is the length of a body of the greedy agent, near the longest that a hub takes.
const greedyBody = 120_000

// grab is one agent that takes what it can get: connections that do nothing, more parked
// polls than an agent may have, large posts one after the other, and large reads.
func (o *Options) grab(ctx context.Context, addr string) (leave func() (string, error), err error) {
	if err := makeChannel(ctx, addr, "greedy"); err != nil {
		return nil, err
	}
	body := strings.Repeat("x", greedyBody)
	post, err := wire.Post(addr, "/v1/messages", map[string]string{"from_agent": "greedy", "channel": "greedy", "body": body})
	if err != nil {
		return nil, err
	}
	g := &greedy{addr: addr}
	for range o.Greedy {
		g.wg.Go(func() { g.idle(ctx) })
	}
	for range o.Greedy / 8 {
		g.loop(ctx, wire.Get(addr, "/v1/events?agent_id=greedy&channel=pair&timeout=60&since_id=9007199254740991"), &g.polled)
		g.loop(ctx, post, &g.posted)
		g.loop(ctx, wire.Get(addr, "/v1/events?agent_id=reader&channel=greedy&limit=1000&timeout=0"), &g.read)
	}
	return func() (string, error) {
		g.wg.Wait()
		err, _ := g.failed.Load().(error)
		return fmt.Sprintf("one agent held %d connections, had %d of its calls refused, posted %d times %d kB, and read %d pages",
			o.Greedy, g.refused.Load(), g.posted.Load(), greedyBody/1000, g.read.Load()), err
	}, nil
}

// greedy counts what the agent gets.
type greedy struct {
	addr                 string
	wg                   sync.WaitGroup
	polled, posted, read atomic.Int64
	refused              atomic.Int64 // 429, and 503 where it has too many calls under way
	failed               atomic.Value // an error: another answer
}

// idle holds a connection that says nothing, and takes another one when the hub ends it.
func (g *greedy) idle(ctx context.Context) {
	for ctx.Err() == nil {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", g.addr)
		if err != nil {
			pause.For(ctx, dripEvery)
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		_, _ = conn.Read(make([]byte, 1)) // until the hub ends it, or the crowd goes
		stop()
		conn.Close()
	}
}

// loop sends a request again and again on a connection of its own.
func (g *greedy) loop(ctx context.Context, request *wire.Request, done *atomic.Int64) {
	g.wg.Go(func() {
		for ctx.Err() == nil {
			if err := g.again(ctx, request, done); err != nil && ctx.Err() == nil {
				pause.For(ctx, dripEvery/10) // the hub needed the place
			}
		}
	})
}

func (g *greedy) again(ctx context.Context, request *wire.Request, done *atomic.Int64) error {
	conn, err := wire.Dial(ctx, g.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for ctx.Err() == nil {
		status, answer, err := conn.Do(request.Bytes())
		switch {
		case err != nil:
			return err
		case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && bytes.Contains(answer, []byte(`"overloaded"`)):
			g.refused.Add(1)
			pause.For(ctx, dripEvery/10)
		case status >= 300:
			g.failed.Store(errors.Join(ErrBroken, fmt.Errorf("the greedy agent got %d %.200s", status, answer)))
			return nil
		default:
			done.Add(1)
		}
	}
	return nil
}
