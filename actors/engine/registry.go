package engine

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The limits of admission: how many commands, and bytes of commands, may be under way
// at once. Mailboxes are unbounded, so commands are counted before they are sent. One
// owner gets at most 1/OwnerShare of each limit.
const (
	MaxCommands     = 8192
	MaxCommandBytes = 256 << 20
	OwnerShare      = 4
	RetryAfterSec   = 1
)

// IdlePerShard is how many idle owners a shard keeps. If there are more, the one that
// has been idle longest is retired: its state is a stored row, from which it is loaded
// again. So memory is bounded by live work, not by the number of agents and channels
// ever seen.
const IdlePerShard = 64

// registry finds owners and admits commands to them.
//
// An owner is retired only while no command is admitted to it, and under the lock that
// admits. So no command is sent to a retired owner, and an owner's state is never in
// memory twice.
type registry struct {
	engine   *Engine
	seed     maphash.Seed
	Commands atomic.Int64
	Bytes    atomic.Int64
	retired  atomic.Int64 // owners that were retired so far
	Shards   [16]registryShard
}

type registryShard struct {
	Mu     sync.Mutex
	Owners map[core.Owner]*Owner
	Idle   *list.List // of *Owner, the longest idle first; permanent owners are never in it
	closed bool
}

func newRegistry(e *Engine) *registry {
	r := &registry{engine: e, seed: maphash.MakeSeed()}
	for i := range r.Shards {
		r.Shards[i].Owners = map[core.Owner]*Owner{}
		r.Shards[i].Idle = list.New()
	}
	return r
}

func (r *registry) Shard(k core.Owner) *registryShard {
	return &r.Shards[maphash.Comparable(r.seed, k)%uint64(len(r.Shards))]
}

// permit is the right of one command to be under way.
type permit struct {
	Owner *Owner
	bytes int64
}

// Admit finds or starts the owner and takes a permit. The caller must return it with
// Done when the command has ended, which may be later than when the command's caller
// has left. Errors: overloaded, stopping.
func (r *registry) Admit(k core.Owner, size int) (permit, error) {
	n := int64(size) + 512
	if c, b := r.Commands.Add(1), r.Bytes.Add(n); c > MaxCommands || b > MaxCommandBytes {
		r.Commands.Add(-1)
		r.Bytes.Add(-n)
		return permit{}, ErrOverloaded()
	}
	sh := r.Shard(k)
	sh.Mu.Lock()
	defer sh.Mu.Unlock()
	if sh.closed {
		r.Commands.Add(-1)
		r.Bytes.Add(-n)
		return permit{}, ErrStopping()
	}
	o := sh.Owners[k]
	if o == nil {
		o = &Owner{engine: r.engine, key: k}
		o.PID = r.engine.runtime.spawn(k.String(), o.receive)
		sh.Owners[k] = o
	}
	if o.Commands >= MaxCommands/OwnerShare || o.Bytes+n > MaxCommandBytes/OwnerShare && o.Commands > 0 {
		r.Commands.Add(-1)
		r.Bytes.Add(-n)
		return permit{}, ErrOverloaded()
	}
	if o.idle != nil {
		sh.Idle.Remove(o.idle)
		o.idle = nil
	}
	o.Commands++
	o.Bytes += n
	return permit{Owner: o, bytes: n}, nil
}

// hold takes one more permit for an owner whose current command has one already. It is
// for the owner's own work and is never refused.
func (r *registry) hold(o *Owner) permit {
	r.Commands.Add(1)
	sh := r.Shard(o.key)
	sh.Mu.Lock()
	defer sh.Mu.Unlock()
	if o.idle != nil {
		sh.Idle.Remove(o.idle)
		o.idle = nil
	}
	o.Commands++
	return permit{Owner: o}
}

// Done gives a permit back and may retire the owner that has been idle longest.
func (r *registry) Done(p permit) {
	r.Commands.Add(-1)
	r.Bytes.Add(-p.bytes)
	o := p.Owner
	sh := r.Shard(o.key)
	sh.Mu.Lock()
	var retired address
	o.Commands--
	o.Bytes -= p.bytes
	if o.Commands == 0 && !r.engine.permanent(o.key.Kind) && !sh.closed {
		o.idle = sh.Idle.PushBack(o)
		if sh.Idle.Len() > IdlePerShard {
			old := sh.Idle.Remove(sh.Idle.Front()).(*Owner)
			old.idle = nil
			delete(sh.Owners, old.key)
			retired = old.PID
		}
	}
	sh.Mu.Unlock()
	if retired != nil {
		r.retired.Add(1)
		r.engine.runtime.retire(retired)
	}
}

// install adds a permanent owner with its restored state.
func (r *registry) install(k core.Owner, state core.Machine) *Owner {
	o := &Owner{engine: r.engine, key: k, State: state}
	o.PID = r.engine.runtime.spawn(k.String(), o.receive)
	sh := r.Shard(k)
	sh.Mu.Lock()
	sh.Owners[k] = o
	sh.Mu.Unlock()
	return o
}

// Find returns an owner if it is in memory.
func (r *registry) Find(k core.Owner) (*Owner, bool) {
	sh := r.Shard(k)
	sh.Mu.Lock()
	defer sh.Mu.Unlock()
	o, ok := sh.Owners[k]
	return o, ok
}

// close refuses every further command and returns the addresses of all owners.
// Commands that are under way go on.
func (r *registry) close() []address {
	var pids []address
	for i := range r.Shards {
		sh := &r.Shards[i]
		sh.Mu.Lock()
		sh.closed = true
		for _, o := range sh.Owners {
			pids = append(pids, o.PID)
		}
		sh.Mu.Unlock()
	}
	return pids
}

// Underway returns how many commands have been admitted and not ended.
func (r *registry) Underway() int64 { return r.Commands.Load() }

// ErrOverloaded is the answer to a command beyond the limits of admission.
func ErrOverloaded() error {
	return hub.NewError(hub.CodeOverloaded, "the hub has too much to do at the moment").
		WithRetryAfter(RetryAfterSec).WithFix("repeat the call after the time in Retry-After")
}

// ErrStopping is the answer to new work while the hub stops.
func ErrStopping() error {
	return hub.NewError(hub.CodeStopping, "the hub is stopping").
		WithFix("start it again with: hubcli ensure")
}
