package crowd

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/wire"
)

// Times of slow clients.
const (
	dripEvery = time.Second
	// How long a hub bears a client that makes no progress. Its bounds are 5 seconds for a
	// header, also for one that does not begin, and 30 for a body and for an answer.
	headerWithin = 15 * time.Second
	bodyWithin   = 40 * time.Second
	answerWithin = 40 * time.Second

	fillPosts = 400 // of 100,000 characters
)

// dawdler is one kind of slow client.
type dawdler struct {
	name   string
	within time.Duration // the hub ends it
	begin  string        // sent at once
	drip   string        // sent again and again; empty: the client waits for the end
}

// slowClients counts the clients of a kind.
type slowClients struct {
	mu     sync.Mutex
	begun  int
	lasted []float64 // ms, of those that the hub has ended
	over   error     // of one that it did not end in time
}

// dawdle is a crowd of slow clients. One that the hub has ended comes back.
func (o *Options) dawdle(ctx context.Context, addr string) (leave func() (string, error), err error) {
	if err := fill(ctx, addr); err != nil {
		return nil, err
	}
	host := " HTTP/1.1\r\nHost: " + addr + "\r\n"
	// The system has room for two megabytes of answers; those of a client that does not read
	// must be more.
	kinds := []dawdler{
		{name: "sent their header byte by byte", within: headerWithin, begin: "GET /v1/app/status" + host + "X-Slow: ", drip: "a"},
		{name: "sent their body byte by byte", within: bodyWithin, begin: "POST /v1/messages" + host + "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"body\":\"", drip: "a"},
		{name: "did not read their answer", within: answerWithin, begin: strings.Repeat("GET /v1/events?agent_id=slow-2&channel=slow&limit=1000"+host+"\r\n", 20), drip: "G"},
		{name: "said nothing", within: headerWithin},
	}
	counts := make([]slowClients, len(kinds))
	var wg sync.WaitGroup
	for i := range o.Slow {
		k := i % len(kinds)
		wg.Go(func() {
			for ctx.Err() == nil {
				counts[k].one(ctx, addr, kinds[k])
			}
		})
	}
	return func() (string, error) {
		wg.Wait()
		var did []string
		for i, k := range kinds {
			c := &counts[i]
			if c.over != nil {
				return "", c.over
			}
			did = append(did, fmt.Sprintf("%d clients %s, of which the hub ended %d, after %.1f s at most",
				c.begun, k.name, len(c.lasted), stat.Percentile(c.lasted, 100)/1000))
		}
		return strings.Join(did, "; "), nil
	}, nil
}

// fill posts what fits neither into the buffers of a connection nor into the memory that a
// hub has for the newest messages: each answer has rows of its own.
func fill(ctx context.Context, addr string) error {
	if err := makeChannel(ctx, addr, "slow"); err != nil {
		return err
	}
	c := &caller{addr: addr}
	defer c.close()
	for n := range fillPosts {
		request, err := wire.Post(addr, "/v1/messages",
			map[string]string{"from_agent": "slow-1", "channel": "slow", "body": strings.Repeat("x", 100_000)}, "Idempotency-Key", fmt.Sprint("fill-", n))
		if err != nil {
			return err
		}
		if _, err := c.call(ctx, request, 201); err != nil {
			return err
		}
	}
	return nil
}

// one is the life of one slow client.
func (s *slowClients) one(ctx context.Context, addr string, k dawdler) {
	dialer := net.Dialer{Timeout: starved}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		pause.For(ctx, dripEvery) // the hub takes nobody just now
		return
	}
	begin := time.Now()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // an answer must not fit into it
	s.mu.Lock()
	s.begun++
	s.mu.Unlock()
	if k.drip == "" {
		_, _ = io.Copy(io.Discard, conn) // until the hub ends it
	} else {
		// A write fails when the hub has ended the connection.
		for _, err = io.WriteString(conn, k.begin); err == nil && ctx.Err() == nil; _, err = io.WriteString(conn, k.drip) {
			pause.For(ctx, dripEvery)
		}
	}
	s.ended(ctx, k, time.Since(begin))
}

// ended notes the end of a client, which the end of the crowd may have caused.
func (s *slowClients) ended(ctx context.Context, k dawdler, lasted time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lasted > k.within {
		s.over = fmt.Errorf("%w: a client lasted %v of those that %s", ErrBroken, lasted.Round(time.Second), k.name)
	}
	if ctx.Err() == nil {
		s.lasted = append(s.lasted, stat.Milliseconds(lasted))
	}
}
