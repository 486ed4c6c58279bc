package actors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// commandLife is how long a command may wait for its owner before it is dropped
// undecided.
const commandLife = 20 * time.Second

// codec stores the answer of a write with its effect and gives it again when
// the same idempotency key comes back. Secrets are never stored: decode renders
// them anew.
type codec[T any] struct {
	kind   uint8
	encode func(T) []byte
	decode func(ctx context.Context, e *core.Effect) (T, error)
}

// The kinds of stored answers. Part of the store's format: append only.
const (
	effectMessage  uint8 = 1
	effectSession  uint8 = 2
	effectClosed   uint8 = 3
	effectRenamed  uint8 = 4
	effectChannel  uint8 = 5
	effectLease    uint8 = 6
	effectTask     uint8 = 7
	effectProject  uint8 = 8
	effectRoom     uint8 = 9
	effectDecision uint8 = 10
	effectArtifact uint8 = 11
	effectInvite   uint8 = 12
	effectJoined   uint8 = 13
	effectRun      uint8 = 14
	effectMemory   uint8 = 15
	effectBinding  uint8 = 16
	effectSurface  uint8 = 17
	effectSpawn    uint8 = 18
	effectPolicy   uint8 = 19
	effectSeat     uint8 = 20
)

// write is one command to one owner, and how to answer it. S is the owner's
// state, D what its decision answers, T what the caller gets.
type write[S core.Machine, D, T any] struct {
	owner  core.Owner
	agent  hub.AgentID // who acts, for the scope of the idempotency key
	size   int         // bytes of input, for admission
	decide func(S, core.Now) (core.Decision[D], error)
	begins func(core.Draft) core.SessionProof // nil: the command starts no session
	answer func(D, *core.Record) T            // r is nil when the command had no effect
	codec  codec[T]
	// late says that the command is the hub's own and is taken while it stops.
	late bool
	// rests says up to which record an answer without effect rests on; nil: the
	// owner's last one.
	rests func(*owner) hub.Seq
}

// submit admits a write, waits for its answer and returns it. replayed says that
// the answer is that of an earlier call with the same idempotency key.
func submit[S core.Machine, D, T any](ctx context.Context, e *engine, w write[S, D, T]) (answer T, replayed bool, err error) {
	a, stored, err := admit(ctx, e, w)
	switch {
	case err != nil:
		return answer, false, err
	case stored != nil:
		answer, err = w.codec.decode(ctx, stored)
		return answer, true, err
	}
	a.permit.owner.tell(a)
	answer, err = a.wait()
	return answer, false, err
}

// admit makes a write ready to be sent: its key is held and its permit taken. If
// the key has an answer already, that is returned instead.
func admit[S core.Machine, D, T any](ctx context.Context, e *engine, w write[S, D, T]) (*ask[S, D, T], *core.Effect, error) {
	caller := hub.CallerOf(ctx)
	effect, err := reserveEffect(e, caller, w.agent)
	if err != nil || effect.stored != nil {
		return nil, effect.stored, err
	}
	if err := e.admissible(); err != nil && !(w.late && errors.Is(err, &hub.Error{Code: hub.CodeStopping})) {
		effect.free(e)
		return nil, nil, err
	}
	p, err := e.registry.admit(w.owner, w.size)
	if err != nil {
		effect.free(e)
		return nil, nil, err
	}
	return &ask[S, D, T]{
		write: w, engine: e, permit: p, effect: effect,
		proof: core.SessionProof{Agent: caller.Agent, Incarnation: caller.Incarnation},
		ctx:   ctx, deadline: time.Now().Add(commandLife),
		reply: make(chan reply[T], 1),
	}, nil, nil
}

type reply[T any] struct {
	answer T
	err    error
}

// ask is a write on its way: the turn that its owner is sent.
type ask[S core.Machine, D, T any] struct {
	write[S, D, T]
	engine   *engine
	permit   permit
	effect   effectReservation
	proof    core.SessionProof
	ctx      context.Context //nolint:containedctx // the command ends with its caller's patience
	deadline time.Time
	reply    chan reply[T]
}

// wait returns the answer, or an error if the caller has left.
func (a *ask[S, D, T]) wait() (T, error) {
	select {
	case r := <-a.reply:
		return r.answer, r.err
	case <-a.ctx.Done():
		var none T
		return none, errAbandoned()
	}
}

// run decides the command in the owner's turn.
func (a *ask[S, D, T]) run(o *owner) {
	if a.expired() {
		a.fail(errExpired())
		return
	}
	now := a.engine.clock.now()
	d, err := a.decide(o.state.(S), now)
	if err != nil {
		a.refuse(o, err)
		return
	}
	a.conclude(o, now, d.Draft, d.Answer)
}

// restsOn returns the record that must be durable before an answer without
// effect may leave.
func (a *ask[S, D, T]) restsOn(o *owner) hub.Seq {
	if a.rests != nil {
		return a.rests(o)
	}
	return o.lastSeq
}

// refuse answers with an error. It rests on what the owner knows, durable or not
// yet, and waits for that.
func (a *ask[S, D, T]) refuse(o *owner, err error) {
	a.engine.seq.after(o.epoch, a.restsOn(o), func(failed error) {
		if failed != nil {
			err = failed
		}
		a.fail(err)
	})
}

// conclude commits a decision, or waits with an answer that has no effect for
// what it rests on.
func (a *ask[S, D, T]) conclude(o *owner, now core.Now, d core.Draft, answer func(core.Position) D) {
	var out T
	if d.Empty() {
		out = a.answer(answer(core.Position{Now: now}), nil)
		a.engine.seq.after(o.epoch, a.restsOn(o), func(failed error) { a.finish(reply[T]{out, failed}) })
		return
	}
	w := work{
		proof: a.proof,
		filled: func(r *core.Record) {
			out = a.answer(answer(r.Position()), r)
			if a.effect.key != nil {
				r.Effect = a.effect.record(r, a.codec.kind, a.codec.encode(out))
			}
		},
		deliver: func(failed error) { a.finish(reply[T]{out, failed}) },
	}
	if a.begins != nil {
		w.begins = a.begins(d)
	}
	if err := o.commit(now, d, w); err != nil {
		// It rests on a session that may not be durable yet.
		a.engine.seq.after(o.epoch, a.engine.seq.given(), func(failed error) { a.fail(cmp.Or(failed, err)) })
	}
}

func (a *ask[S, D, T]) expired() bool { return a.ctx.Err() != nil || time.Now().After(a.deadline) }

// fail ends the command without an effect.
func (a *ask[S, D, T]) fail(err error) { a.finish(reply[T]{err: err}) }

// finish ends the command: its key is free again, its permit goes back, its
// caller is answered if it still waits.
func (a *ask[S, D, T]) finish(r reply[T]) {
	a.effect.free(a.engine)
	a.returnPermit()
	a.reply <- r
}

// returnPermit gives the permit back, once: a call that parks returns it early,
// because it may wait for a minute without anything to do.
func (a *ask[S, D, T]) returnPermit() {
	if a.permit.owner != nil {
		a.engine.registry.done(a.permit)
		a.permit = permit{}
	}
}

func errAbandoned() error {
	return hub.NewError(hub.CodeTimedOut, "the caller left before the answer; whether the call had an effect is unknown").
		WithFix("repeat the call with the same idempotency key")
}

func errExpired() error {
	return hub.NewError(hub.CodeTimedOut, "the call waited too long for its turn and was dropped; it had no effect").
		WithRetryAfter(retryAfterSec).WithFix("repeat the call")
}

// effectReservation holds an idempotency key while its call is under way, or the
// stored answer of an earlier call.
type effectReservation struct {
	key    *hub.IdempotencyKey // nil: the call has none
	scope  [32]byte
	stored *core.Effect
}

// reserveEffect takes the caller's key. in_progress while another call holds it,
// idempotency_conflict if the key was used with another body.
func reserveEffect(e *engine, caller *hub.Caller, agent hub.AgentID) (effectReservation, error) {
	key := caller.Idempotency
	if key == nil {
		return effectReservation{}, nil
	}
	who := string(agent)
	if caller.Operator {
		who = "\x00operator" // no agent id begins like this
	}
	r := effectReservation{key: key, scope: sha256.Sum256([]byte(who + "\x00" + key.Method + "\x00" + key.Path + "\x00" + key.Key))}
	if _, taken := e.keys.LoadOrStore(r.scope, struct{}{}); taken {
		return r, hub.NewError(hub.CodeInProgress, "a call with this idempotency key is still running").
			WithRetryAfter(retryAfterSec).WithFix("repeat the call after the time in Retry-After")
	}
	stored, err := e.rows.Effect(r.scope)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return r, nil
	case err != nil:
		r.free(e)
		return r, err
	}
	r.free(e)
	if stored.Body != key.Hash {
		return r, hub.NewError(hub.CodeIdempotencyConflict, "this idempotency key was used with another body").
			WithFix("use a new key for a new call")
	}
	r.stored = stored
	return r, nil
}

func (r *effectReservation) record(rec *core.Record, kind uint8, answer []byte) *core.Effect {
	return &core.Effect{Scope: r.scope, Body: r.key.Hash, Seq: rec.Seq, Kind: kind, Answer: answer, At: rec.Wall}
}

func (r *effectReservation) free(e *engine) {
	if r.key != nil {
		e.keys.Delete(r.scope)
	}
}

// jsonCodec stores an answer that has no secret as its JSON.
func jsonCodec[T any](kind uint8) codec[T] {
	return codec[T]{
		kind:   kind,
		encode: func(v T) []byte { return encodeEffect(v) },
		decode: func(_ context.Context, e *core.Effect) (T, error) { return decodeEffect[T](e) },
	}
}

func encodeEffect(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("actors: an answer does not encode: " + err.Error())
	}
	return b
}

func decodeEffect[T any](e *core.Effect) (v T, err error) {
	if json.Unmarshal(e.Answer, &v) != nil {
		return v, hub.NewError(hub.CodeCorruptRecord, "a stored answer cannot be read")
	}
	return v, nil
}
