package hub

import "context"

// Caller is what the edge has established about the sender of a call. The
// daemon's HTTP layer fills it in; owners and views trust it. The zero Caller
// is a local process that has proved nothing.
type Caller struct {
	// Agent is set when the call proved a session; the agent named in the input
	// equals it then, the edge has checked.
	Agent AgentID
	// Session is the public form of the proved session, else empty.
	Session SessionID
	// Incarnation is that session's; a write is refused with session_replaced
	// once the agent has a later one. 0 proves nothing.
	Incarnation uint64
	// Operator says that the call carried the operator token.
	Operator bool
	// Pass is the pass by which the call proved to be the operator's; empty: the
	// operator's own token, or no proof at all.
	Pass PassID
	// Relay is the agent through whose file spool the call came, else empty. The
	// call acts as that agent and no other, whatever else it proves.
	Relay AgentID
	// User is the name of the other user of the machine whose program calls; empty: that of the
	// hub's own user or of the superuser, or one that the system does not tell.
	User string
	// Remote says that the call came from another machine.
	Remote bool
	// Acts is the agent that the call acts as, whether it has proved that or not; empty: no
	// agent in particular, or the edge does not know.
	Acts AgentID
	// Peeks says that the answer is shown to nobody: that of a HEAD.
	Peeks bool
	// Idempotency is the call's key, or nil.
	Idempotency *IdempotencyKey
	// Waiting is called when the call begins to wait for what others do; see Waits. It may
	// be nil.
	Waiting func()
}

// Waits tells the edge that the call begins to wait for what others do, so that they are not
// held up by it. A service may call it more than once, from any goroutine.
func (c *Caller) Waits() {
	if c.Waiting != nil {
		c.Waiting()
	}
}

// Assurance returns how the hub knows the sender of a message from this caller.
func (c Caller) Assurance() Assurance {
	switch {
	case c.Operator:
		return AssuranceOperator
	case c.Relay != "":
		return AssuranceRelay
	case c.Agent != "":
		return AssuranceSession
	default:
		return AssuranceAsserted
	}
}

// IdempotencyKey makes a write happen once, even if it is sent more than once.
// Its scope is the acting agent (the operator has a scope of its own), Method,
// Path and Key together.
type IdempotencyKey struct {
	Method string
	Path   string
	Key    string
	Hash   [32]byte // SHA-256 of the request body
}

// Clone returns a copy for what goes on after the call has ended; nil of nil.
func (k *IdempotencyKey) Clone() *IdempotencyKey {
	if k == nil {
		return nil
	}
	copied := *k
	return &copied
}

type callerKey struct{}

// WithCaller returns a context that carries the caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that the context carries, or the zero Caller. The
// result is shared and must not be changed.
func CallerOf(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return &noCaller
}

var noCaller Caller

type answerKey struct{}

// WithAnswer returns a context of a call whose answer is over when answer ends: then it has
// been written, or will not be. The context of the call itself may end earlier, because the
// client sends nothing more.
func WithAnswer(ctx, answer context.Context) context.Context {
	return context.WithValue(ctx, answerKey{}, answer)
}

// AnswerOf returns the context that ends with the answer of a call: that of WithAnswer, or
// ctx itself.
func AnswerOf(ctx context.Context) context.Context {
	if answer, ok := ctx.Value(answerKey{}).(context.Context); ok {
		return answer
	}
	return ctx
}

// Outcome is the result of a write. Row is the row after it.
type Outcome[T any] struct {
	Row      T
	Created  bool // the write made the row (201), rather than found it (200)
	Replayed bool // the answer of an earlier call with the same idempotency key
}

// Grant is the outcome of asking for a lease or of renewing one.
type Grant[T any] struct {
	Row      T // the row of the holder: the caller or another agent
	Acquired bool
	Created  bool
	Replayed bool
	// Circle is set where a call did not wait because the agents would wait for each other for
	// ever: the caller, the holder that it asked to wait for, and so on; the last waits for the caller.
	Circle []AgentID
}
