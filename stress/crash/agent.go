package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hubcli/stress/wire"
)

// ioTimeout bounds one answer.
const ioTimeout = 30 * time.Second

// action is what a write does.
type action int

const (
	post action = iota
	claim
	release
)

// write is one call with its idempotency key.
type write struct {
	action action
	n      int    // numbers the agent's writes
	body   string // of a post
	id     int64  // of the message, once answered
}

// agent writes one call after the other: two posts, then a claim of a key that
// it shares with others, then, if it was granted, the release.
type agent struct {
	name string
	key  string // of its claims

	n       int    // of the last write
	open    *write // sent and not answered
	last    *write // the last post that was answered
	fence   int64  // of the claim that it holds; 0: none
	answers int64
	repeats int64
}

// sharing is how many agents want the same key.
const sharing = 4

func newAgent(i, of int) *agent {
	return &agent{name: fmt.Sprintf("agent-%03d", i), key: fmt.Sprintf("key-%03d", i%max(1, of/sharing))}
}

// next returns the write to do.
func (a *agent) next() *write {
	a.n++
	w := &write{n: a.n}
	switch {
	case a.n%3 != 0:
		w.action, w.body = post, fmt.Sprintf("%s/%d", a.name, a.n)
	case a.fence != 0:
		w.action = release
	default:
		w.action = claim
	}
	return w
}

func (a *agent) request(addr string, w *write) (*wire.Request, error) {
	key := []string{"Idempotency-Key", fmt.Sprintf("%s-%d", a.name, w.n)}
	switch w.action {
	case post:
		return wire.Post(addr, "/v1/messages", map[string]any{"from_agent": a.name, "channel": "general", "body": w.body}, key...)
	case claim:
		return wire.Post(addr, "/v1/claims", map[string]any{"owner_agent_id": a.name, "claim_key": a.key, "ttl_sec": 86_400}, key...)
	default:
		return wire.Post(addr, "/v1/claims/release", map[string]any{"agent_id": a.name, "claim_key": a.key}, key...)
	}
}

// work settles what the last kill left open and writes until the connection
// ends. The error is nil unless a promise was broken.
func (a *agent) work(ctx context.Context, addr string, l *ledger, answered func()) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return nil // the hub is gone already
	}
	defer c.Close()
	if err := a.repeat(c, addr, l); err != nil {
		return unlessGone(err)
	}
	for ctx.Err() == nil {
		a.open = a.next()
		if err := a.send(c, addr, a.open, l); err != nil {
			return unlessGone(err)
		}
		a.open = nil
		answered()
	}
	return nil
}

// settle repeats what is open, on a hub that will not be killed.
func (a *agent) settle(ctx context.Context, addr string, l *ledger) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return a.repeat(c, addr, l)
}

// repeat sends the open write and the last answered post again, with their keys.
func (a *agent) repeat(c *wire.Conn, addr string, l *ledger) error {
	if a.last != nil {
		again := &write{action: post, n: a.last.n, body: a.last.body}
		a.repeats++
		if err := a.send(c, addr, again, l); err != nil {
			return err
		}
	}
	if a.open == nil {
		return nil
	}
	a.repeats++
	if err := a.send(c, addr, a.open, l); err != nil {
		return err
	}
	a.open = nil
	return nil
}

// errBroken says that a promise was broken.
var errBroken = errors.New("broken promise")

// unlessGone drops the errors of a connection that the kill has ended.
func unlessGone(err error) error {
	if errors.Is(err, errBroken) {
		return err
	}
	return nil
}

// send does one write and enters its answer into the ledger.
func (a *agent) send(c *wire.Conn, addr string, w *write, l *ledger) error {
	request, err := a.request(addr, w)
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	status, body, err := c.Within(ioTimeout, request.Bytes())
	if err != nil {
		return err
	}
	var answer struct {
		OK       bool `json:"ok"`
		Acquired bool `json:"acquired"`
		Result   struct {
			ID    int64  `json:"id"`
			Body  string `json:"body"`
			Fence int64  `json:"fence"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.OK || status/100 != 2 {
		return fmt.Errorf("%w: write %d of %s answered %d %s", errBroken, w.n, a.name, status, bytes.TrimSpace(body))
	}
	a.answers++
	switch w.action {
	case post:
		w.id = answer.Result.ID
		a.last = w
		return l.posted(w, answer.Result.Body)
	case claim:
		if !answer.Acquired {
			return nil
		}
		a.fence = answer.Result.Fence
		return l.granted(a, w)
	default:
		a.fence = 0
		return nil
	}
}
