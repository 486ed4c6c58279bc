package engine

import (
	"crypto/sha256"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// effectReservation holds an idempotency key while its call is under way, or the
// stored answer of an earlier call.
type effectReservation struct {
	key    *hub.IdempotencyKey // nil: the call has none
	scope  [32]byte
	Stored *core.Effect
}

// Key is the idempotency key of one call from its first look at the stored answers on. Until a
// command takes it over, its holder gives it back with Free. Only the goroutine of the call uses it.
type Key struct {
	effectReservation
	held bool
}

// ReserveKey reserves the caller's key for a call that acts as agent. If the key has a stored
// answer, Stored is set and nothing is reserved. Errors: those of ReserveEffect.
func ReserveKey(e *Engine, caller *hub.Caller, agent hub.AgentID) (*Key, error) {
	r, err := ReserveEffect(e, caller, agent)
	return &Key{r, err == nil && r.Stored == nil}, err
}

// Free gives the key back, unless a command has taken it over.
func (k *Key) Free(e *Engine) {
	if k.held {
		k.held = false
		k.effectReservation.Free(e)
	}
}

// pass hands the key over to a command, which gives it back when it has ended.
func (k *Key) pass() (r effectReservation, held bool) {
	if k == nil || !k.held {
		return r, false
	}
	k.held = false
	return k.effectReservation, true
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
	if _, taken := e.keys.LoadOrStore(r.scope, struct{}{}); taken {
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
		e.keys.Delete(r.scope)
	}
}
