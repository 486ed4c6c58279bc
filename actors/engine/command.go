package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// CommandLife is how long a command may wait for its owner before it is dropped
// undecided.
const CommandLife = 20 * time.Second

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
	// Key is the caller's key, if it is reserved already; nil: Admit reserves it.
	Key *Key
	// Notes: an answer is stored under the key although the command changes nothing. What
	// it answers was done outside of the journal.
	Notes bool
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
	effect, held := w.Key.pass()
	if !held {
		var err error
		if effect, err = ReserveEffect(e, caller, w.Agent); err != nil || effect.Stored != nil {
			return nil, effect.Stored, err
		}
	}
	if err := e.admissible(); err != nil && !(w.Late && errors.Is(err, &hub.Error{Code: hub.CodeStopping})) {
		effect.Free(e)
		return nil, nil, err
	}
	p, err := e.registry.admit(w.Owner, w.Size)
	if err != nil {
		effect.Free(e)
		return nil, nil, err
	}
	return &Pending[S, D, T]{
		Command: w, Engine: e, Permit: p, effect: effect,
		proof: core.SessionProof{Agent: caller.Agent, Incarnation: caller.Incarnation},
		user:  caller.User,
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
	user     string          // the other user of the machine whose program calls; see hub.Caller
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
	if d.Empty() && (a.effect.key == nil || !a.Notes) {
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
	a.signs(&d)
	if err := o.Commit(now, d, w); err != nil {
		// session_replaced depends on a session that may not be durable yet. Its
		// record may belong to any owner, so the answer waits for all numbers given.
		a.Engine.Seq.after(o.Epoch, a.Engine.Seq.Given(), func(failed error) { a.Fail(cmp.Or(failed, err)) })
	}
}

// signs marks what an agent says in a record with the other user of the machine whose program
// called. No agent can leave the mark out.
func (a *Pending[S, D, T]) signs(d *core.Draft) {
	if a.user == "" {
		return
	}
	for i := range d.Messages {
		if !d.Messages[i].From.Reserved() {
			d.Messages[i].User = a.user
		}
	}
	for _, f := range d.Facts {
		if s, ok := f.(core.Signed); ok {
			s.Sign(a.user)
		}
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
		a.Engine.registry.done(a.Permit)
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
