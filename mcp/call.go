package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/mcp/session"
	"hubcli/mcp/wire"
)

// Of waiting within a call.
const (
	defaultWait   = 25 * time.Second
	maxWait       = 50 * time.Second // where the harness is not known to allow more
	progressEvery = 10 * time.Second
)

// call is what a tool may ask the bridge.
type call struct {
	bridge  *bridge
	at      *session.Session // the session that the call acts in
	by      session.Caller   // the agent that calls
	tool    string           // that runs: the one that hub_call_tool names, not hub_call_tool
	nonce   string           // makes the idempotency keys of this call
	writes  int              // keys made of nonce so far
	again   bool             // the call is repeated in another session
	verbose bool             // the answer has all members
	seq     wire.RequestSeq  // of the request
	session *sdk.ServerSession
	params  *sdk.CallToolParamsRaw // of the request
	token   any                    // progress token; nil if the client wants no progress
	steps   float64
	ends    time.Time // when its wait is over; zero until it waits
}

func (b *bridge) newCall(req *sdk.CallToolRequest) *call {
	seq := wire.RequestSeqIn(req.Extra)
	if b.request != nil { // the headers are the client's
		seq = wire.RequestSeq(b.seq.Add(1))
	}
	return &call{bridge: b, nonce: rand.Text(), seq: seq, session: req.Session, params: req.Params, token: req.Params.GetProgressToken()}
}

// hub is the client of the live session; it sends X-Hub-Session.
func (c *call) hub() hub.Service { return c.at.Client }

// agent returns the agent that the call acts as.
func (c *call) agent() hub.AgentID { return c.at.Agent }

// harness is what the agent runs in.
func (c *call) harness() hub.Harness { return c.bridge.link.Harness() }

// key returns ctx with the idempotency key of the next write: the given key,
// else one made for this call, so that a write that the bridge repeats happens
// once.
func (c *call) key(ctx context.Context, given string) context.Context {
	if given == "" {
		c.writes++
		given = c.nonce + "-" + strconv.Itoa(c.writes)
	}
	return hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: given}})
}

// keyFor returns ctx with the idempotency key of one write of a call that makes
// several, in an order that may differ when the call is repeated. The key is
// made of the call's, given or its own, and the name of the write.
func (c *call) keyFor(ctx context.Context, given, write string) context.Context {
	return c.key(ctx, keyOf(cmp.Or(given, c.nonce), write))
}

// wait returns how long a call may wait if it asks for that many seconds; 0 or
// less is the default.
func (c *call) wait(asked float64) time.Duration {
	limit := c.longest()
	if !(asked > 0) {
		return min(defaultWait, limit)
	}
	return time.Duration(min(asked, limit.Seconds()) * float64(time.Second))
}

// longest returns how long a call may wait in the harness.
func (c *call) longest() time.Duration {
	if own := c.harness().Facts().MaxWait; own > 0 {
		return own
	}
	return maxWait
}

// until is when a wait of this call is over: the same if the bridge has to begin the
// call anew in another session.
func (c *call) until(patience time.Duration) time.Time {
	if c.ends.IsZero() {
		c.ends = time.Now().Add(patience)
	}
	return c.ends
}

// progress tells the client that the call goes on, if it wants to know.
func (c *call) progress(ctx context.Context, message string) {
	if c.token == nil || c.session == nil {
		return
	}
	c.steps++
	// A client that cannot be told has gone, which ends the call anyway.
	_ = c.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: c.token, Progress: c.steps, Message: message,
	})
}

// waiting sends progress until the returned function is called.
func (c *call) waiting(ctx context.Context, message string) (stop func()) {
	if c.token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.progress(ctx, message)
			}
		}
	}()
	return func() { cancel(); <-done }
}
