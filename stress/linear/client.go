package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"hubcli/stress/wire"
)

// Bounds of a call. A client that is in a hurry gives up soon and does not know what
// became of its call.
const (
	callTime  = 20 * time.Second
	hurryTime = 4 * time.Millisecond
	redial    = 2 * time.Millisecond
)

// One in so many calls is made in a hurry, and one in so many that had no answer is
// sent again under its key.
const (
	hurries = 40
	repeats = 2
)

// call is what a client asks next.
type call struct {
	h          *history
	in         any // for the model
	path       string
	body       map[string]any // nil: a GET
	session    string         // proves it
	key        string         // of a write that may be sent again; else empty
	always     bool           // it is sent again until it has an answer
	wait       time.Duration  // for which the hub may park it
	understand func(a *answer) (out any, err error)

	noted *op // once begun
}

// answer is an answer of the hub.
type answer struct {
	status   int
	OK       bool            `json:"ok"`
	Code     string          `json:"code"`
	Acquired bool            `json:"acquired"`
	Result   json.RawMessage `json:"result"`
	Next     int64           `json:"next_since_id"`
	Cursor   string          `json:"next_cursor"`
	raw      []byte
}

// is reports whether the answer is an error of that code.
func (a *answer) is(code string) bool { return !a.OK && a.Code == code }

// unexpected is the error about an answer that no call of this package may get.
func (a *answer) unexpected() error {
	return fmt.Errorf("%w: an answer that cannot be: %d %s", errBroken, a.status, a.raw)
}

// client does one call after the other.
type client struct {
	n      int
	random *rand.Rand
	choose func(c *client) *call // what to ask next
	conn   *wire.Conn
	open   *call // without an answer, and to be sent again
	calls  int   // numbers them
}

// agent is the id of the agent for which the client calls.
func (c *client) agent() string { return fmt.Sprintf("agent-%02d", c.n) }

// text is what no other write says.
func (c *client) text() string {
	c.calls++
	return fmt.Sprintf("%s/%d", c.agent(), c.calls)
}

// work calls until the epoch is over. The error is nil unless a promise was broken.
func (c *client) work(ctx context.Context, e *epoch) error {
	defer c.hangUp()
	for !e.isOver() {
		if c.conn == nil {
			conn, err := wire.Dial(ctx, e.proxy.addr())
			if err != nil {
				e.rest(redial)
				continue
			}
			c.conn = conn
		}
		next := c.open
		c.open = nil
		if next == nil {
			next = c.choose(c)
		}
		if err := c.do(e, next); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// do makes one call and notes what becomes of it.
func (c *client) do(e *epoch, next *call) error {
	first, began := next.noted == nil, e.time.now()
	if first {
		next.noted = next.h.begin(e.time, c.n, e.n, next.in, next.body == nil)
	} else {
		next.h.again(next.noted, e.n)
		e.count.Repeats.Add(1)
	}
	limit := callTime + next.wait
	if c.random.IntN(hurries) == 0 {
		limit = time.Duration(c.random.Int64N(int64(hurryTime)))
	}
	a, err := ask(c.conn, e.addr, next, limit)
	if err != nil {
		c.hangUp()
		e.count.Unknown.Add(1)
		c.later(next)
		return nil
	}
	switch {
	case a.is("in_progress"), a.is("timed_out"), a.is("store_failed"):
		c.later(next)
		return nil
	case a.status == 503, a.status == 429:
		// It was refused. If it was sent before, it may have happened all the same.
		if first {
			next.h.drop(next.noted)
		}
		e.rest(redial)
		return nil
	}
	out, err := next.understand(a)
	if err != nil {
		return fmt.Errorf("%s asks %s %+v: %w", c.agent(), next.path, next.in, err)
	}
	if !first && !a.OK {
		// Refusals are not kept under the key. An attempt from before may still be on
		// its way, and have its effect after this one was refused.
		next.noted = next.h.attempt(c.n, e.n, began, next.in)
	}
	next.h.answer(e.time, next.noted, out)
	e.answered()
	return nil
}

// later keeps some calls without an answer, to be sent again.
func (c *client) later(next *call) {
	if next.key != "" && (next.always || c.random.IntN(repeats) == 0) {
		c.open = next
	}
}

// ask sends a call to the hub at addr through a connection, and waits for its answer.
func ask(conn *wire.Conn, addr string, next *call, limit time.Duration) (*answer, error) {
	var headers []string
	if next.session != "" {
		headers = append(headers, "X-Hub-Session", next.session)
	}
	if next.key != "" {
		headers = append(headers, "Idempotency-Key", next.key)
	}
	request := wire.Get(addr, next.path, headers...)
	if next.body != nil {
		var err error
		if request, err = wire.Post(addr, next.path, next.body, headers...); err != nil {
			return nil, err
		}
	}
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	status, body, err := conn.Do(request.Bytes())
	if err != nil {
		return nil, err
	}
	a := &answer{status: status}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("%w: %s answered %d %q: %w", errBroken, next.path, status, body, err)
	}
	a.raw = append(a.raw, body...)
	a.Result = append(json.RawMessage(nil), a.Result...)
	return a, nil
}

// row reads the result of an answer.
func row[T any](a *answer) (T, error) {
	var r T
	if !a.OK {
		return r, a.unexpected()
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		return r, fmt.Errorf("%w: %s: %w", errBroken, a.raw, err)
	}
	return r, nil
}
