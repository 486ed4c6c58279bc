package httpapi

import (
	queue "container/list"
	"context"
	"sync"
	"time"

	"hubcli/hub"
)

// Bounds of what one agent has under way. Calls of all agents share the processors, the
// journal and its permits; without these bounds an agent that runs wild has as large a
// share as it has connections.
const (
	agentTurns        = 8                // calls at a time
	agentTurnBytes    = 256 << 10        // of the bodies of those calls; one alone may be larger
	agentWaiting      = 1_024            // calls that wait for a turn
	agentWaitingBytes = 32 << 20         // of the bodies of those calls; one alone may be larger
	turnWait          = 20 * time.Second // for a turn
	allBytes          = 256 << 20        // of the bodies of all agents' calls, under way and waiting; short ones do not count
	shortBody         = 64 << 10         // bytes
	// answerTurn is how long a call keeps its turn while its answer is written. A long answer
	// is work too, but a client that does not read it must not hold up its agent's other calls.
	answerTurn = 100 * time.Millisecond
)

// turns gives each agent a bounded number of calls at a time, and so it does for all calls
// together that name no agent. More calls wait in the order of their arrival. A call gives
// its turn back when it parks, so that parked calls, which have a bound of their own, hold
// nobody up.
type turns struct {
	mu    sync.Mutex
	lines map[hub.AgentID]*line
	bytes int64 // of all bodies longer than shortBody
}

// count adds to the bytes of all bodies, or takes from them. The caller holds the mutex.
func (t *turns) count(bytes, sign int64) {
	if bytes > shortBody {
		t.bytes += sign * bytes
	}
}

// line is what an agent has under way. Lines without a call are removed.
type line struct {
	under        int        // calls that have a turn
	underBytes   int64      // of their bodies
	waiting      queue.List // of *turnWaiter
	waitingBytes int64
}

// fits reports whether one more call may have a turn.
func (l *line) fits(bytes int64) bool {
	return l.under < agentTurns && (l.under == 0 || l.underBytes+bytes <= agentTurnBytes)
}

type turnWaiter struct {
	bytes   int64
	granted chan struct{} // closed, under the mutex, when the turn is given
}

func newTurns() *turns { return &turns{lines: map[hub.AgentID]*line{}} }

// take waits for a turn of an agent. bytes is the length of the call's body. It is the
// caller's task to give the turn back. Errors: overloaded, and that of ctx.
func (t *turns) take(ctx context.Context, agent hub.AgentID, bytes int64) error {
	w, place, err := t.enter(agent, bytes)
	if w == nil {
		return err
	}
	timeout := time.NewTimer(turnWait)
	defer timeout.Stop()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = errTooManyCalls(agent)
	}
	t.leave(agent, w, place)
	return err
}

// enter takes a turn or, if there is none, a place in the line.
func (t *turns) enter(agent hub.AgentID, bytes int64) (*turnWaiter, *queue.Element, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes > shortBody && t.bytes+bytes > allBytes {
		return nil, nil, errTooManyBodies()
	}
	l := t.lines[agent]
	if l == nil {
		l = &line{}
		t.lines[agent] = l
	}
	n := l.waiting.Len()
	switch {
	case n == 0 && l.fits(bytes):
		l.under++
		l.underBytes += bytes
		t.count(bytes, 1)
		return nil, nil, nil
	case n >= agentWaiting || n > 0 && l.waitingBytes+bytes > agentWaitingBytes:
		return nil, nil, errTooManyCalls(agent)
	}
	w := &turnWaiter{bytes: bytes, granted: make(chan struct{})}
	l.waitingBytes += bytes
	t.count(bytes, 1)
	return w, l.waiting.PushBack(w), nil
}

// leave takes a call that does not wait any longer out of the line. It gives a turn back
// that the call got just then.
func (t *turns) leave(agent hub.AgentID, w *turnWaiter, place *queue.Element) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[agent]
	select {
	case <-w.granted:
		l.under--
		l.underBytes -= w.bytes
	default:
		l.waiting.Remove(place)
		l.waitingBytes -= w.bytes
	}
	t.count(w.bytes, -1)
	t.pass(agent, l) // a smaller call may have stood behind this one
}

// give gives a turn back.
func (t *turns) give(agent hub.AgentID, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[agent]
	l.under--
	l.underBytes -= bytes
	t.count(bytes, -1)
	t.pass(agent, l)
}

// pass gives turns to the calls that have waited longest. The caller holds the mutex.
func (t *turns) pass(agent hub.AgentID, l *line) {
	for e := l.waiting.Front(); e != nil; e = l.waiting.Front() {
		w := e.Value.(*turnWaiter)
		if !l.fits(w.bytes) {
			return
		}
		l.waiting.Remove(e)
		l.waitingBytes -= w.bytes
		l.under++
		l.underBytes += w.bytes
		close(w.granted)
	}
	if l.under == 0 {
		delete(t.lines, agent)
	}
}

func errTooManyBodies() error {
	return hub.NewError(hub.CodeOverloaded, "the calls under way have as long bodies as the hub has memory for").
		With("limit", allBytes).WithRetryAfter(1).
		WithFix("send the same call again after the time in Retry-After")
}

func errTooManyCalls(agent hub.AgentID) error {
	name := string(agent)
	if agent == "" {
		name = "the callers that name no agent"
	}
	return hub.Errorf(hub.CodeOverloaded, "too many calls are under way for %s", name).
		With("calls_at_a_time", agentTurns).WithRetryAfter(1).
		WithFix("wait for answers before you send more calls, and repeat this one after the time in Retry-After")
}

// callTurn is what a call has of its agent's turns. A call takes its turn when it is known
// whose it is. It gives the turn back when it begins to wait in a service (hub.Caller.Waits),
// and at the end. A stream takes one turn after the other, one for each page.
type callTurn struct {
	mu    sync.Mutex  // guards what follows
	held  bool        // the call has a turn
	nth   int         // turn of the call
	agent hub.AgentID // whose turn it is
	bytes int64       // that count
}

// takeTurn waits for a turn of the call's agent, unless the call has one. All calls that name
// no agent share the turns of the empty agent. The operator and the hub itself, which act
// under reserved names or under none, have no bound.
func (c *call) takeTurn() error {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	if c.turn.held || c.agent.Reserved() || c.agent == "" && c.caller.Operator {
		return nil
	}
	if err := c.server.turns.take(c.r.Context(), c.agent, c.bodyBytes); err != nil {
		return err
	}
	c.turn.held, c.turn.agent, c.turn.bytes = true, c.agent, c.bodyBytes
	c.turn.nth++
	return nil
}

// giveTurn ends the call's turn, if it has one: the call has ended, or others need not wait
// for the rest of it.
func (c *call) giveTurn() {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.give()
}

func (c *call) give() {
	if c.turn.held {
		c.server.turns.give(c.turn.agent, c.turn.bytes)
		c.turn.held = false
	}
}

// giveTurnLater ends the call's turn a while after its answer has begun to be written,
// unless stop is called before. It leaves alone a turn that the call gets later.
func (c *call) giveTurnLater() (stop func() bool) {
	c.turn.mu.Lock()
	nth := c.turn.nth
	c.turn.mu.Unlock()
	return time.AfterFunc(answerTurn, func() {
		c.turn.mu.Lock()
		defer c.turn.mu.Unlock()
		if c.turn.nth == nth {
			c.give()
		}
	}).Stop
}
