package engine

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

// CommandLife is how long a command may wait for its owner before it is dropped
// undecided.
const CommandLife = 20 * time.Second

// Codec renders the answer of a write for its stored effect, and reads it again when
// the same idempotency key comes back. Secrets are never stored: Decode derives them
// anew.
type Codec[T any] struct {
	Kind   uint8
	Encode func(T) []byte
	Decode func(ctx context.Context, e *core.Effect) (T, error)
}

// The kinds of stored answers. Part of the store's format: append only.
const (
	EffectMessage  uint8 = 1
	EffectSession  uint8 = 2
	EffectClosed   uint8 = 3
	EffectRenamed  uint8 = 4
	EffectChannel  uint8 = 5
	EffectLease    uint8 = 6
	EffectTask     uint8 = 7
	EffectProject  uint8 = 8
	EffectRoom     uint8 = 9
	EffectDecision uint8 = 10
	EffectArtifact uint8 = 11
	EffectInvite   uint8 = 12
	EffectJoined   uint8 = 13
	EffectRun      uint8 = 14
	EffectMemory   uint8 = 15
	EffectBinding  uint8 = 16
	EffectSurface  uint8 = 17
	EffectSpawn    uint8 = 18
	EffectPolicy   uint8 = 19
	EffectSeat     uint8 = 20
)

// Command is one command to one owner, with the ways to decide and to answer it. S is the owner's
// state, D what its decision answers, T what the caller gets.
type Command[S core.Machine, D, T any] struct {
	Owner  core.Owner
	Agent  hub.AgentID // the agent that acts, for the scope of the idempotency key
	Size   int         // bytes of input, for admission
	Decide func(S, core.Now) (core.Decision[D], error)
	Begins func(core.Draft) core.SessionProof // nil: the command starts no session
	Answer func(D, *core.Record) T            // r is nil when the command had no effect
	Codec  Codec[T]
	// Caller is the caller on whose behalf the command acts; nil: the one that the
	// context carries. Its proof and its idempotency key count.
	Caller *hub.Caller
	// Late: the command is the hub's own and is admitted also while the hub stops.
	Late bool
	// Rests returns the last record that an answer without effect depends on; nil: the
	// owner's last one.
	Rests func(*Owner) hub.Seq
}

// Submit sends a write to its owner and returns the answer. If replayed is true, the
// answer is the stored one of an earlier call with the same idempotency key.
func Submit[S core.Machine, D, T any](ctx context.Context, e *Engine, w Command[S, D, T]) (answer T, replayed bool, err error) {
	a, stored, err := Admit(ctx, e, w)
	switch {
	case err != nil:
		return answer, false, err
	case stored != nil:
		answer, err = w.Codec.Decode(ctx, stored)
		return answer, true, err
	}
	a.Permit.Owner.Tell(a)
	answer, err = a.Wait()
	return answer, false, err
}

// Admit reserves the idempotency key of a write and takes a permit for it. The caller
// then sends the Pending to its owner. If the key has a stored answer, Admit returns
// that instead.
//
// The key is reserved first, in memory. Of two calls with the same key that arrive
// together, one is refused with in_progress and neither runs twice.
func Admit[S core.Machine, D, T any](ctx context.Context, e *Engine, w Command[S, D, T]) (*Pending[S, D, T], *core.Effect, error) {
	caller := w.Caller
	if caller == nil {
		caller = hub.CallerOf(ctx)
	}
	effect, err := ReserveEffect(e, caller, w.Agent)
	if err != nil || effect.Stored != nil {
		return nil, effect.Stored, err
	}
	if err := e.admissible(); err != nil && !(w.Late && errors.Is(err, &hub.Error{Code: hub.CodeStopping})) {
		effect.Free(e)
		return nil, nil, err
	}
	p, err := e.Registry.Admit(w.Owner, w.Size)
	if err != nil {
		effect.Free(e)
		return nil, nil, err
	}
	return &Pending[S, D, T]{
		Command: w, Engine: e, Permit: p, effect: effect,
		proof: core.SessionProof{Agent: caller.Agent, Incarnation: caller.Incarnation},
		Ctx:   ctx, deadline: time.Now().Add(CommandLife),
		Reply: make(chan reply[T], 1),
	}, nil, nil
}

type reply[T any] struct {
	Answer T
	Err    error
}

// Pending is a write on its way. It is also the turn that the owner runs for it.
type Pending[S core.Machine, D, T any] struct {
	Command[S, D, T]
	Engine   *Engine
	Permit   permit
	effect   effectReservation
	proof    core.SessionProof
	Ctx      context.Context //nolint:containedctx // the command ends with its caller's patience
	deadline time.Time
	Reply    chan reply[T]
}

// Wait returns the answer, or an error if the caller has left.
func (a *Pending[S, D, T]) Wait() (T, error) {
	select {
	case r := <-a.Reply:
		return r.Answer, r.Err
	case <-a.Ctx.Done():
		var none T
		return none, ErrAbandoned()
	}
}

// Run decides the command in the owner's turn.
func (a *Pending[S, D, T]) Run(o *Owner) {
	if a.Expired() {
		a.Fail(ErrExpired())
		return
	}
	now := a.Engine.Clock.Now()
	d, err := a.Decide(o.State.(S), now)
	if err != nil {
		a.Refuse(o, err)
		return
	}
	a.Conclude(o, now, d.Draft, d.Answer)
}

// restsOn returns the record that must be durable before an answer without
// effect may leave.
func (a *Pending[S, D, T]) restsOn(o *Owner) hub.Seq {
	if a.Rests != nil {
		return a.Rests(o)
	}
	return o.lastSeq.Load()
}

// Refuse answers with an error. The owner may have refused because of records that
// are not durable yet, so the answer waits for them. Otherwise a caller could be told
// "taken" about a lease that a crash then undoes.
func (a *Pending[S, D, T]) Refuse(o *Owner, err error) {
	a.Engine.Seq.after(o.Epoch, a.restsOn(o), func(failed error) {
		if failed != nil {
			err = failed
		}
		a.Fail(err)
	})
}

// Conclude commits a decision that has an effect. An answer without effect waits
// until the records that it depends on are durable.
func (a *Pending[S, D, T]) Conclude(o *Owner, now core.Now, d core.Draft, answer func(core.Position) D) {
	var out T
	if d.Empty() {
		out = a.Answer(answer(core.Position{Now: now}), nil)
		a.Engine.Seq.after(o.Epoch, a.restsOn(o), func(failed error) { a.finish(reply[T]{out, failed}) })
		return
	}
	w := Work{
		proof: a.proof,
		filled: func(r *core.Record) {
			out = a.Answer(answer(r.Position()), r)
			if a.effect.key != nil {
				r.Effect = a.effect.record(r, a.Codec.Kind, a.Codec.Encode(out))
			}
		},
		deliver: func(failed error) { a.finish(reply[T]{out, failed}) },
	}
	if a.Begins != nil {
		w.begins = a.Begins(d)
	}
	if err := o.Commit(now, d, w); err != nil {
		// session_replaced depends on a session that may not be durable yet. Its
		// record may belong to any owner, so the answer waits for all numbers given.
		a.Engine.Seq.after(o.Epoch, a.Engine.Seq.Given(), func(failed error) { a.Fail(cmp.Or(failed, err)) })
	}
}

// Expired reports whether the caller has gone, or the command has waited too long.
func (a *Pending[S, D, T]) Expired() bool { return a.Ctx.Err() != nil || time.Now().After(a.deadline) }

// Fail ends the command without an effect.
func (a *Pending[S, D, T]) Fail(err error) { a.finish(reply[T]{Err: err}) }

// finish ends the command: it frees the key, returns the permit and answers the
// caller. The key comes first, so that a caller that repeats the call at once is not
// refused with in_progress. Reply has room for one answer, so finish never blocks if
// the caller has left.
func (a *Pending[S, D, T]) finish(r reply[T]) {
	a.effect.Free(a.Engine)
	a.ReturnPermit()
	a.Reply <- r
}

// ReturnPermit gives the permit back, once: a call that parks returns it early,
// because it may wait for a minute without anything to do.
func (a *Pending[S, D, T]) ReturnPermit() {
	if a.Permit.Owner != nil {
		a.Engine.Registry.Done(a.Permit)
		a.Permit = permit{}
	}
}

// ErrAbandoned is the answer to a caller that left before its answer.
func ErrAbandoned() error {
	return hub.NewError(hub.CodeTimedOut, "the caller left before the answer; whether the call had an effect is unknown").
		WithFix("repeat the call with the same idempotency key")
}

// ErrExpired is the answer of a command that was dropped before it was decided.
func ErrExpired() error {
	return hub.NewError(hub.CodeTimedOut, "the call waited too long for its turn and was dropped; it had no effect").
		WithRetryAfter(RetryAfterSec).WithFix("repeat the call")
}

// effectReservation holds an idempotency key while its call is under way, or the
// stored answer of an earlier call.
type effectReservation struct {
	key    *hub.IdempotencyKey // nil: the call has none
	scope  [32]byte
	Stored *core.Effect
}

// ReserveEffect reserves the caller's key. Errors: in_progress while another call
// holds it, idempotency_conflict if the key was used with another body.
func ReserveEffect(e *Engine, caller *hub.Caller, agent hub.AgentID) (effectReservation, error) {
	key := caller.Idempotency
	if key == nil {
		return effectReservation{}, nil
	}
	who := string(agent)
	if caller.Operator {
		who = "\x00operator" // no agent id begins like this
	}
	r := effectReservation{key: key, scope: sha256.Sum256([]byte(who + "\x00" + key.Method + "\x00" + key.Path + "\x00" + key.Key))}
	if _, taken := e.Keys.LoadOrStore(r.scope, struct{}{}); taken {
		return r, hub.NewError(hub.CodeInProgress, "a call with this idempotency key is still running").
			WithRetryAfter(RetryAfterSec).WithFix("repeat the call after the time in Retry-After")
	}
	stored, err := e.rows.Effect(r.scope)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return r, nil
	case err != nil:
		r.Free(e)
		return r, err
	}
	r.Free(e)
	if stored.Body != key.Hash {
		return r, hub.NewError(hub.CodeIdempotencyConflict, "this idempotency key was used with another body").
			WithFix("use a new key for a new call")
	}
	r.Stored = stored
	return r, nil
}

// StepKey returns the idempotency key of a later step of a call that takes several
// commands; nil if the call has no key. If such a call is repeated after a crash, each
// step that was taken answers what is stored for it, and the others are taken now. No
// client can send a key like it, which begins with a zero byte. Part of the store's
// format.
func StepKey(own *hub.IdempotencyKey, step string) *hub.IdempotencyKey {
	if own == nil {
		return nil
	}
	return &hub.IdempotencyKey{
		Method: own.Method, Path: own.Path, Key: "\x00" + step + "\x00" + own.Key, Hash: sha256.Sum256([]byte(own.Key)),
	}
}

func (r *effectReservation) record(rec *core.Record, kind uint8, answer []byte) *core.Effect {
	return &core.Effect{Scope: r.scope, Body: r.key.Hash, Seq: rec.Seq, Kind: kind, Answer: answer, At: rec.Wall}
}

func (r *effectReservation) Free(e *Engine) {
	if r.key != nil {
		e.Keys.Delete(r.scope)
	}
}

// JSONCodec stores an answer that has no secret as its JSON.
func JSONCodec[T any](kind uint8) Codec[T] {
	return Codec[T]{
		Kind:   kind,
		Encode: func(v T) []byte { return EncodeEffect(v) },
		Decode: func(_ context.Context, e *core.Effect) (T, error) { return DecodeEffect[T](e) },
	}
}

// EncodeEffect renders an answer as JSON. It panics if the type cannot be encoded,
// which is a mistake in the program.
func EncodeEffect(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("actors: an answer does not encode: " + err.Error())
	}
	return b
}

// DecodeEffect reads the stored answer of an effect. Error: corrupt_record.
func DecodeEffect[T any](e *core.Effect) (v T, err error) {
	if json.Unmarshal(e.Answer, &v) != nil {
		return v, hub.NewError(hub.CodeCorruptRecord, "a stored answer cannot be read")
	}
	return v, nil
}
