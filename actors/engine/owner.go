package engine

import (
	"container/list"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Owner is one actor: it owns one state and changes it in its turns, one turn at a
// time. All fields except those of the registry, and Withdrawn, are used in its turns
// only.
//
// The state is in one of these conditions, which prepare looks for before each
// decision, in this order:
//
//	Quarantined  a fact cannot be applied; every command is refused
//	Withdrawn    the state is ahead: records in it were taken back; load it anew
//	Dirty        Apply panicked in the middle of a record; rebuild the state
//	State nil    not loaded yet
//	else         the state holds exactly the owner's records up to lastSeq
type Owner struct {
	engine *Engine
	key    core.Owner
	PID    address
	State  core.Machine // nil until the first turn has loaded it

	Epoch       uint64      // the sequencer's epoch when prepare last looked at the state
	Withdrawn   atomic.Bool // records in the state were taken back; set by the sequencer
	lastSeq     atomicSeq   // the owner's last record; written in its turns, read from anywhere
	Dirty       error       // Apply has panicked; the state is rebuilt before the next decision
	dirtySeq    hub.Seq     // the record in which Apply panicked
	Quarantined error       // the answer to every command: a fact cannot be applied
	Extension   Extension   // nil: the kind has none

	weight atomic.Int64 // bytes of the state, roughly; see core.Weighed

	// Guarded by the registry's shard.
	commands int           // commands that were admitted and have not ended
	bytes    int64         // size of these commands
	idle     *list.Element // its place among the idle owners; nil: it is not idle
	idles    int64         // with idle: its weight in the sum of the idle owners
}

// weigh notes the size of the state.
func (o *Owner) weigh() {
	if s, ok := o.State.(core.Weighed); ok {
		o.weight.Store(int64(s.Weight()))
	}
}

// Tell sends the owner a turn.
func (o *Owner) Tell(t Turn) { o.engine.runtime.tell(o.PID, t) }

// TellLater sends a turn after FrozenRetry, when the disk may have room again, unless
// the hub stops.
func (o *Owner) TellLater(t func() Turn) {
	time.AfterFunc(FrozenRetry, func() {
		if !o.engine.Stopping.Load() {
			o.Tell(t())
		}
	})
}

// FrozenRetry is how long the hub waits before it looks for space again.
const FrozenRetry = time.Second

// Turn is a message to an owner. While Run runs, it has the owner's state to itself.
// If the state cannot be made ready, Fail is called instead of Run.
type Turn interface {
	Run(o *Owner)
	Fail(err error)
}

// Call is a turn made of two functions.
type Call struct {
	Do     func(o *Owner)
	Failed func(error)
}

// Run calls Do.
func (c Call) Run(o *Owner) { c.Do(o) }

// Fail calls Failed with the reason why Do was not called.
func (c Call) Fail(err error) { c.Failed(err) }

// Extension is data that an owner keeps in memory beside its state, such as the
// commands that wait for a lease. It is lost at a crash and is not journaled. All
// methods are called in the owner's turns. Refuse may find the state dirty.
type Extension interface {
	// Note learns the facts of a record that was just numbered and is not applied yet.
	Note(facts []core.Fact, seq hub.Seq)
	// Begin is the first turn after a start.
	Begin()
	// End is the last turn before a stop: it answers the commands that wait.
	End()
	// Rebuilt follows a rebuild of the state. Reloaded follows a load of the state
	// after records were taken back.
	Rebuilt()
	Reloaded()
	// Refuse answers the commands that wait with reason: the owner is out of service.
	Refuse(reason error)
}

// Kind is one row of the table of owner kinds.
type Kind struct {
	Kind core.OwnerKind
	// Load makes the state of an owner from its stored rows. It returns the last
	// record that is surely in the state, or 0. nil: the kind is permanent.
	Load func(name string) (core.Machine, hub.Seq, error)

	// The following fields belong to permanent kinds. The owners of a permanent kind
	// exist from the start, are never retired, and have their state in checkpoints.
	Owners  []core.Owner
	Fresh   func() core.Machine // a state that has decided nothing yet
	Restore func(version uint16, data []byte) (core.Machine, error)
	Version uint16
	// Extend makes the extension of an owner; nil: the kind has none.
	Extend func(o *Owner) Extension
}

// atomicSeq is a sequence number that one goroutine writes and all may read.
type atomicSeq struct{ n atomic.Uint64 }

// Load returns the number.
func (a *atomicSeq) Load() hub.Seq { return hub.Seq(a.n.Load()) }

// Store sets the number.
func (a *atomicSeq) Store(seq hub.Seq) { a.n.Store(uint64(seq)) }
