package engine

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// runtime is the only user of protoactor-go, and of a small part of it: spawn,
// send, poison, and a supervision that never restarts. A restarted actor would begin
// with an empty state. Here the owner rebuilds its state from the journal itself
// (rebuild.go), and any other panic stops the hub.
//
// These parts of protoactor-go are not used, because each has a defect that was
// reproduced: futures (but to wait for a stop), stash, receive timeouts, bounded
// mailboxes, and nil messages, which make a mailbox spin.
type runtime struct {
	system  *actor.ActorSystem
	spawned atomic.Uint64
	options []actor.PropsOption
}

// newRuntime returns a runtime. It calls escaped when a panic leaves an owner's turn.
//
// A caller that finds the owner idle runs it on its own goroutine. A caller that finds
// it busy leaves the turn in its mailbox and waits for the answer. Turns are short and
// do not block, so this is as fair as one goroutine for each owner. Protoactor's
// default dispatcher was rejected: with 64 posting agents a profile showed a tenth of
// all time in growing the stacks of the goroutines that it starts.
func newRuntime(escaped func(reason any)) *runtime {
	quiet := slog.New(slog.DiscardHandler) // protoactor logs whole messages, bodies too
	s := &runtime{system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))}
	s.options = []actor.PropsOption{
		actor.WithGuardian(&failStop{escaped}),
		actor.WithDispatcher(actor.NewSynchronizedDispatcher(300)),
	}
	return s
}

// failStop is a supervision that reports the panic and stops the child.
type failStop struct{ escaped func(reason any) }

// HandleFailure is called by protoactor on the goroutine of the failed actor.
func (f *failStop) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	f.escaped(reason)
	supervisor.StopChildren(child)
}

// address is the mailbox of an owner.
type address = *actor.PID

type actorShell struct{ receive func(message any) }

// Receive gets what tell sends, and messages of protoactor itself.
func (p *actorShell) Receive(c actor.Context) { p.receive(c.Message()) }

// spawn starts an actor. Names carry a number, because a retired owner may be needed
// again before protoactor has forgotten its old name.
func (s *runtime) spawn(name string, receive func(message any)) address {
	name += "#" + strconv.FormatUint(s.spawned.Add(1), 10)
	pid, err := s.system.Root.SpawnNamed(actor.PropsFromProducer(func() actor.Actor { return &actorShell{receive} }, s.options...), name)
	if err != nil {
		panic(fmt.Sprintf("engine: spawn %s: %v", name, err)) // the number makes names unique
	}
	return pid
}

// tell sends a message.
func (s *runtime) tell(pid address, message any) {
	if message == nil {
		panic("engine: a nil message") // it would spin the mailbox for ever
	}
	s.system.Root.Send(pid, message)
}

// retire ends an actor after the turns in its mailbox.
func (s *runtime) retire(pid address) { s.system.Root.Poison(pid) }

// stop ends actors and waits for them, then ends the system.
func (s *runtime) stop(pids []address) {
	waits := make([]*actor.Future, 0, len(pids))
	for _, pid := range pids {
		waits = append(waits, s.system.Root.PoisonFuture(pid))
	}
	for _, w := range waits {
		_ = w.Wait()
	}
	s.system.Shutdown()
}
