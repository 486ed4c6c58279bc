package gate

import (
	"context"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Gate lets writes through.
type Gate struct {
	view   *view.View
	engine *engine.Engine
	log    *slog.Logger
}

// New returns the gate of a hub. The engine need not run yet.
func New(v *view.View, e *engine.Engine, log *slog.Logger) *Gate {
	return &Gate{view: v, engine: e, log: log}
}

// Act is one write as the rules see it. What is prepared may still fill it in: the rules are
// asked later.
type Act struct {
	Op    string          // the operation of the wire; the table has a row of it
	Agent hub.AgentID     // that acts: its key counts, and its pause
	Room  hub.RoomID      // in which something is made or changed; empty: in none
	Task  hub.TaskID      // that is acted on; 0: none. Its room counts for a pause
	Shown hub.ChannelName // the channel in which something would be shown to all; empty: none

	// NothingNew: nothing new is kept or shown in the room; what is direct reaches its recipient alone.
	NothingNew bool
	// Asks: it asks the operator.
	Asks bool
	// Frees: the call only lets go of what the agent has, or brings to an end what is there.
	// With a Task it does so for the agent that has the task.
	Frees bool
	// Spared reports by the owner's state whether the call only keeps what the agent has. nil: no.
	Spared func(core.Machine) bool
	// Enter asks the guard of loops about a post. nil: it is not asked.
	Enter func(core.Now) error
	// Caller is the one on whose behalf the act is done; nil: that of the context.
	Caller *hub.Caller
}

func (a *Act) caller(ctx context.Context) *hub.Caller {
	if a.Caller != nil {
		return a.Caller
	}
	return hub.CallerOf(ctx)
}

// Do makes a write. prepare returns the command: its owner, its size, how it is decided and
// answered. If replayed is true, the answer is the stored one of an earlier call.
func Do[S core.Machine, D, T any](ctx context.Context, g *Gate, act *Act, codec engine.Codec[T],
	prepare func() (engine.Command[S, D, T], error),
) (answer T, replayed bool, err error) {
	p, answer, replayed, err := Admit(ctx, g, act, codec, prepare)
	if p == nil {
		return answer, replayed, err
	}
	p.Permit.Owner.Tell(p)
	answer, err = p.Wait()
	return answer, false, err
}

// Admit takes a write to the door of its owner. The caller sends the Pending to the owner. If it
// is nil, the write was answered before, or is refused.
func Admit[S core.Machine, D, T any](ctx context.Context, g *Gate, act *Act, codec engine.Codec[T],
	prepare func() (engine.Command[S, D, T], error),
) (p *engine.Pending[S, D, T], answer T, replayed bool, err error) {
	row, caller := rowOf(act.Op), act.caller(ctx)
	key, answer, replayed, err := look(ctx, g, act, codec)
	if err != nil || replayed {
		return nil, answer, replayed, err
	}
	defer key.Free(g.engine)
	c, err := prepare()
	if err != nil {
		return nil, answer, false, err
	}
	c.Agent, c.Codec, c.Caller, c.Key = act.Agent, codec, act.Caller, key
	decide := c.Decide
	c.Decide = func(state S, now core.Now) (core.Decision[D], error) {
		if err := g.refuse(row, act, caller, state, now); err != nil {
			return core.Decision[D]{}, err
		}
		d, err := decide(state, now)
		if err == nil {
			g.mark(row, act, caller, now, d.Messages)
		}
		return d, err
	}
	p, stored, err := engine.Admit(ctx, g.engine, c)
	if stored != nil { // an earlier try of this call gave the key back, and another call was faster
		answer, err = codec.Decode(ctx, stored)
		return nil, answer, true, err
	}
	return p, answer, false, err
}

// look is the one look-up of a stored answer. If there is none, the caller holds the key and
// gives it back. Errors: in_progress, idempotency_conflict, those of the codec.
func look[T any](ctx context.Context, g *Gate, act *Act, codec engine.Codec[T]) (key *engine.Key, answer T, replayed bool, err error) {
	key, err = engine.ReserveKey(g.engine, act.caller(ctx), act.Agent)
	if err != nil || key.Stored == nil {
		return key, answer, false, err
	}
	answer, err = codec.Decode(ctx, key.Stored)
	return key, answer, true, err
}

// Answered returns the stored answer of an earlier call, if there is one. It is for a process
// that goes on after its call has been answered, and keeps the answer in its own last record.
func Answered[T any](ctx context.Context, g *Gate, act *Act, codec engine.Codec[T]) (answer T, replayed bool, err error) {
	key, answer, replayed, err := look(ctx, g, act, codec)
	if err == nil {
		key.Free(g.engine)
	}
	return answer, replayed, err
}

// Outside stores what a write outside of the journal answers.
func Outside[T any]() engine.Codec[T] { return engine.JSONCodec[T](engine.EffectOutside) }

// Once does something outside of the journal, and notes its answer. If the hub is killed between
// the two, a repetition does it again: what is outside cannot be one step with the note.
func Once[T any](ctx context.Context, g *Gate, act *Act, do func() (T, error)) (answer T, replayed bool, err error) {
	codec := Outside[T]()
	key, answer, replayed, err := look(ctx, g, act, codec)
	if err != nil || replayed {
		return answer, replayed, err
	}
	defer key.Free(g.engine)
	if err := g.Ask(ctx, act); err != nil {
		return answer, false, err
	}
	if answer, err = do(); err != nil || act.caller(ctx).Idempotency == nil {
		return answer, false, err
	}
	_, _, failed := engine.Submit(context.WithoutCancel(ctx), g.engine, engine.Command[*core.Settings, T, T]{
		Owner: core.SettingsOwner(), Agent: act.Agent, Caller: act.Caller, Codec: codec, Key: key, Notes: true, Late: true,
		Decide: func(*core.Settings, core.Now) (core.Decision[T], error) {
			return core.Decision[T]{Answer: func(core.Position) T { return answer }}, nil
		},
		Answer: func(answer T, _ *core.Record) T { return answer },
	})
	if failed != nil { // it is done all the same
		g.log.LogAttrs(ctx, slog.LevelWarn, "the answer of a call could not be kept, so a repetition would do it again",
			slog.String("operation", act.Op), slog.Any("error", failed))
	}
	return answer, false, nil
}
