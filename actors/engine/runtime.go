package engine

import (
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Turn is what an owner is sent: it has the owner's state to itself while it
// runs. fail answers it when it cannot run.
type Turn interface {
	Run(o *Owner)
	Fail(err error)
}

// runtime is the only user of protoactor-go, and of a small part of it: spawn,
// send, poison, and a supervision that never restarts. A restarted actor would
// begin with an empty state; here state is rebuilt from the journal by the owner
// itself (rebuild.go), and whatever escapes that stops the hub.
//
// Left out because each has a defect that was reproduced: futures, stash,
// receive timeouts, bounded mailboxes, and nil messages, which spin a core.
type runtime struct {
	system  *actor.ActorSystem
	spawned atomic.Uint64
	options []actor.PropsOption
}

// newRuntime returns a stage. escaped is called when a panic leaves an owner's
// turn.
//
// An owner runs on the goroutine of who finds it idle; whoever comes while it
// runs leaves the turn in its mailbox and goes to wait for the answer. Turns are
// short and do not block, so this is as fair as a goroutine an owner, and a
// profile of 64 posting agents showed a tenth of all time in growing the stacks
// of the goroutines that protoactor's default dispatcher starts.
func newRuntime(escaped func(reason any)) *runtime {
	quiet := slog.New(slog.DiscardHandler) // protoactor logs whole messages, bodies too
	s := &runtime{system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))}
	s.options = []actor.PropsOption{
		actor.WithGuardian(&failStop{escaped}),
		actor.WithDispatcher(actor.NewSynchronizedDispatcher(300)),
	}
	return s
}

// failStop is a supervision that stops the child and reports.
type failStop struct{ escaped func(reason any) }

// HandleFailure is called by protoactor on the goroutine of the failed actor.
func (f *failStop) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	f.escaped(reason)
	supervisor.StopChildren(child)
}

// address is where an owner's turns are sent.
type address = *actor.PID

type actorShell struct{ o *Owner }

func (p *actorShell) Receive(c actor.Context) {
	if t, ok := c.Message().(Turn); ok {
		p.o.take(t)
	}
}

// spawn starts an actor for o. Names are numbered: an owner that was retired may
// be wanted again before protoactor has forgotten its old name.
func (s *runtime) spawn(o *Owner) address {
	name := o.key.String() + "#" + strconv.FormatUint(s.spawned.Add(1), 10)
	pid, err := s.system.Root.SpawnNamed(actor.PropsFromProducer(func() actor.Actor { return &actorShell{o} }, s.options...), name)
	if err != nil {
		panic(fmt.Sprintf("actors: spawn %s: %v", name, err)) // the number makes names unique
	}
	return pid
}

// tell sends a turn.
func (s *runtime) tell(pid address, t Turn) {
	if t == nil {
		panic("actors: a nil turn") // it would spin the mailbox for ever
	}
	s.system.Root.Send(pid, t)
}

// retire ends an actor after what it was sent.
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
