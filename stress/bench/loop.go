package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/wire"
)

// ioTimeout bounds one answer: a server that is silent for so long has failed.
const ioTimeout = 30 * time.Second

// turn is what an agent of a closed loop does again and again; it returns how
// many operations it did.
type turn func() (operations int, err error)

// phases of a drive.
const (
	warming int32 = iota
	counting
	stopping
)

// drive runs the loops until warm and d are over and returns the operations per
// second during d. The first error of a loop ends them all.
func (r *run) drive(ctx context.Context, turns []turn, warm, d time.Duration) (perSecond float64, err error) {
	var (
		phase atomic.Int32
		total atomic.Int64
		wg    sync.WaitGroup
	)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, turn := range turns {
		wg.Go(func() {
			var counted, done int64
			defer func() { total.Add(counted); r.done.Add(done) }()
			for {
				now := phase.Load()
				if now == stopping {
					return
				}
				n, err := turn()
				if err != nil {
					cancel(err)
					return
				}
				done += int64(n)
				if now == counting {
					counted += int64(n)
				}
			}
		})
	}
	pause.For(ctx, warm)
	phase.Store(counting)
	begin := time.Now()
	pause.For(ctx, d)
	phase.Store(stopping)
	took := time.Since(begin)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	return float64(total.Load()) / took.Seconds(), nil
}

// conns are connections that end together.
type conns []*wire.Conn

func dial(ctx context.Context, addr string, n int) (conns, error) {
	all := make(conns, 0, n)
	for range n {
		c, err := wire.Dial(ctx, addr)
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (cs conns) close() {
	for _, c := range cs {
		c.Close()
	}
}

// errStatus says that an answer was not the expected one.
var errStatus = errors.New("unexpected answer")

// expect sends a request and wants an answer with one of these statuses.
func expect(c *wire.Conn, request []byte, statuses ...int) (status int, body []byte, err error) {
	status, body, err = c.Do(request)
	if err != nil {
		return 0, nil, err
	}
	for _, want := range statuses {
		if status == want {
			return status, body, nil
		}
	}
	return status, body, fmt.Errorf("%w: %d %s", errStatus, status, firstBytes(body))
}

func firstBytes(b []byte) string {
	if len(b) > 300 {
		b = b[:300]
	}
	return strings.ToValidUTF8(string(b), "?")
}

// number makes the counters of a run's requests differ, so that none is taken
// for another's repetition.
var number atomic.Int64

// poster returns the turn of an agent that posts bodies of size bytes.
func (o *Options) poster(c *wire.Conn, addr, agent string, size int) (turn, error) {
	return o.posterTo(c, addr, agent, "general", wire.Counter+strings.Repeat("x", size-len(wire.Counter)))
}

// posterTo does so in a channel. The body contains wire.Counter.
func (o *Options) posterTo(c *wire.Conn, addr, agent, channel, body string) (turn, error) {
	request, err := wire.Post(addr, "/v1/messages",
		map[string]string{"from_agent": agent, "channel": channel, "body": body}, o.keyHeader(agent)...)
	if err != nil {
		return nil, err
	}
	return func() (int, error) {
		request.Set(number.Add(1))
		c.SetDeadline(time.Now().Add(ioTimeout))
		_, _, err := expect(c, request.Bytes(), 201)
		return 1, err
	}, nil
}

func (o *Options) keyHeader(agent string) []string {
	if !o.Idempotency {
		return nil
	}
	return []string{"Idempotency-Key", agent + "-" + wire.Counter}
}

// agentName names the i-th agent.
func agentName(i int) string { return fmt.Sprintf("agent-%04d", i) }
