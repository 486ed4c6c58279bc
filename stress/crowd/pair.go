package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/wire"
)

// Times of the pair.
const (
	postEvery = 10 * time.Millisecond
	starved   = 10 * time.Second // no call may take as long, and no delivery
	pollFor   = 5                // seconds that a poll is parked
)

// ErrBroken says that the hub did not keep a promise.
var ErrBroken = errors.New("broken promise")

// pair is an agent that posts all the time and one that waits for its posts.
type pair struct {
	addr     string
	patience time.Duration // for a delivery
	wg       sync.WaitGroup
	stop     context.CancelFunc

	mu        sync.Mutex
	sent      []time.Time // by number of the post
	seen      int         // posts that were delivered
	answered  []float64   // since the last take, in ms
	delivered []float64
	again     int // connections that the hub closed between two calls
}

// startPair starts the two agents. fail is called if the hub breaks a promise, for instance
// if a post has not arrived after patience.
func startPair(ctx context.Context, addr string, patience time.Duration, fail func(error)) (*pair, error) {
	if err := makeChannel(ctx, addr, "pair"); err != nil {
		return nil, err
	}
	p := &pair{addr: addr, patience: patience}
	posting, stop := context.WithCancel(ctx)
	p.stop = stop
	p.wg.Go(func() {
		if err := p.post(posting); err != nil {
			fail(fmt.Errorf("the pair's agent that posts: %w", err))
		}
	})
	p.wg.Go(func() {
		if err := p.wait(ctx, posting); err != nil {
			fail(fmt.Errorf("the pair's agent that waits: %w", err))
		}
	})
	return p, nil
}

// makeChannel makes a channel to post in.
func makeChannel(ctx context.Context, addr, name string) error {
	c := &caller{addr: addr}
	defer c.close()
	request, err := wire.Post(addr, "/v1/channels", map[string]string{"name": name, "created_by": "pair-1"})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, request, 201)
	return err
}

// take returns what was noticed since the last take.
func (p *pair) take() Noticed {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := noticed(p.answered, p.delivered)
	p.answered, p.delivered = nil, nil
	return n
}

// end has the pair end when everything that was posted is delivered, and waits for it.
func (p *pair) end() {
	p.stop()
	p.wg.Wait()
}

func (p *pair) post(ctx context.Context) error {
	c := &caller{addr: p.addr}
	defer c.close()
	for n := 0; ctx.Err() == nil; n++ {
		request, err := wire.Post(p.addr, "/v1/messages",
			map[string]string{"from_agent": "pair-1", "channel": "pair", "body": strconv.Itoa(n)}, "Idempotency-Key", "pair-"+strconv.Itoa(n))
		if err != nil {
			return err
		}
		begin := time.Now()
		p.mu.Lock()
		p.sent = append(p.sent, begin)
		p.mu.Unlock()
		if _, err := c.call(ctx, request, 201); err != nil {
			return err
		}
		p.mu.Lock()
		p.answered = append(p.answered, stat.Milliseconds(time.Since(begin)))
		p.again = c.again
		p.mu.Unlock()
		pause.For(ctx, postEvery-time.Since(begin))
	}
	return nil
}

// row is what is read of a message.
type row struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
}

// page is the answer to a poll.
type page struct {
	Rows []row `json:"result"`
	Next int64 `json:"next_since_id"`
}

// pollPage asks for the messages of a channel after since, and waits for one.
func pollPage(ctx context.Context, c *caller, agent, channel string, since int64) (*page, error) {
	request := wire.Get(c.addr, fmt.Sprintf("/v1/events?agent_id=%s&channel=%s&timeout=%d&limit=1000&since_id=%d", agent, channel, pollFor, since))
	body, err := c.call(ctx, request, 200)
	if err != nil {
		return nil, err
	}
	var got page
	if err := json.Unmarshal(body, &got); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	for _, r := range got.Rows {
		if r.ID <= since {
			return nil, fmt.Errorf("%w: message %d came to %s after %d", ErrBroken, r.ID, agent, since)
		}
		since = r.ID
	}
	return &got, nil
}

// wait reads the posts until posting has ended and all are there, or ctx ends.
func (p *pair) wait(ctx, posting context.Context) error {
	c := &caller{addr: p.addr}
	defer c.close()
	for since := int64(0); ctx.Err() == nil && !p.done(posting); {
		got, err := pollPage(ctx, c, "pair-2", "pair", since)
		if err != nil {
			return err
		}
		since = got.Next
		if err := errors.Join(p.arrived(got.Rows), p.missing()); err != nil {
			return err
		}
	}
	return nil
}

// missing returns an error if a post is overdue.
func (p *pair) missing() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == len(p.sent) || time.Since(p.sent[p.seen]) <= p.patience {
		return nil
	}
	return fmt.Errorf("%w: post %d has not arrived after %v", ErrBroken, p.seen, time.Since(p.sent[p.seen]).Round(time.Millisecond))
}

func (p *pair) done(posting context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return posting.Err() != nil && p.seen == len(p.sent)
}

func (p *pair) arrived(rows []row) error {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range rows {
		if n, err := strconv.Atoi(r.Body); err != nil || n != p.seen || n >= len(p.sent) {
			return fmt.Errorf("%w: message %d is post %s; post %d was next", ErrBroken, r.ID, r.Body, p.seen)
		}
		took := now.Sub(p.sent[p.seen])
		if took > p.patience {
			return fmt.Errorf("%w: post %d was delivered after %v", ErrBroken, p.seen, took)
		}
		p.delivered = append(p.delivered, stat.Milliseconds(took))
		p.seen++
	}
	return nil
}

// caller makes one call after the other on one connection. A hub may close a connection
// between two calls, where it needs the place; then it connects once more.
type caller struct {
	addr  string
	conn  *wire.Conn
	again int
}

func (c *caller) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// call sends a request, which must stand to be repeated, and wants that status.
func (c *caller) call(ctx context.Context, request *wire.Request, want int) ([]byte, error) {
	for repeated := false; ; repeated = true {
		kept := c.conn != nil
		if !kept {
			conn, err := wire.Dial(ctx, c.addr)
			if err != nil {
				return nil, err
			}
			c.conn = conn
		}
		status, body, err := c.conn.Within(starved, request.Bytes())
		switch {
		case err != nil && kept && !repeated && closed(err):
			c.close()
			c.again++
		case err != nil:
			c.close()
			return nil, fmt.Errorf("%w: a call was not answered within %v: %w", ErrBroken, starved, err)
		case status != want:
			return nil, fmt.Errorf("%w: answer %d %.300s", ErrBroken, status, body)
		default:
			return body, nil
		}
	}
}

// closed reports whether the other side had closed the connection before the call.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
