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
// owner gets at most 1/ownerShare of each limit.
const (
	maxCommands     = 8192
	maxCommandBytes = 256 << 20
	ownerShare      = 4
	RetryAfterSec   = 1
)

// idlePerShard is how many idle owners a shard keeps, and idleWeight how many bytes
// their states may have. If there is more, those that have been idle longest are
// retired, but never the last one. They are loaded again from their stored rows. So
// memory grows with live work, not with the number of agents and channels ever seen,
// nor with what their rows hold.
const (
	idlePerShard = 64
	idleWeight   = 512 << 10
)

// registry finds owners and admits commands to them.
//
// An owner is retired only while no command is admitted to it, and under the
// lock that admit takes. So no command is sent to a retired owner, and an
// owner's state is never in memory twice.
type registry struct {
	engine   *Engine
	seed     maphash.Seed
	commands atomic.Int64
	bytes    atomic.Int64
	retired  atomic.Int64 // owners that were retired so far
	shards   [16]registryShard
}

type registryShard struct {
	mu     sync.Mutex
	owners map[core.Owner]*Owner
	idle   *list.List // of *Owner, the longest idle first; permanent owners are never in it
	weight int64      // of the owners in idle
	closed bool
}

// rests puts an owner among the idle ones.
func (sh *registryShard) rests(o *Owner) {
	o.idle, o.idles = sh.idle.PushBack(o), o.weight.Load()
	sh.weight += o.idles
}

// wakes takes an owner from the idle ones, if it is one of them.
func (sh *registryShard) wakes(o *Owner) {
	if o.idle == nil {
		return
	}
	sh.idle.Remove(o.idle)
	sh.weight -= o.idles
	o.idle, o.idles = nil, 0
}

// retires takes the owners from the shard that are too many, or too large, to stay idle.
func (sh *registryShard) retires() (old []address) {
	for sh.idle.Len() > idlePerShard || sh.weight > idleWeight && sh.idle.Len() > 1 {
		o := sh.idle.Front().Value.(*Owner)
		sh.wakes(o)
		delete(sh.owners, o.key)
		old = append(old, o.PID)
	}
	return old
}

func newRegistry(e *Engine) *registry {
	r := &registry{engine: e, seed: maphash.MakeSeed()}
	for i := range r.shards {
		r.shards[i].owners = map[core.Owner]*Owner{}
		r.shards[i].idle = list.New()
	}
	return r
}

func (r *registry) shard(k core.Owner) *registryShard {
	return &r.shards[maphash.Comparable(r.seed, k)%uint64(len(r.shards))]
}

// permit is the right of one command to be under way.
type permit struct {
	Owner *Owner
	bytes int64
}

// admit finds or starts the owner and takes a permit. The caller must give it
// back with done when the command has ended. The client may have left before.
// Errors: overloaded, stopping.
func (r *registry) admit(k core.Owner, size int) (permit, error) {
	n := int64(size) + 512
	if c, b := r.commands.Add(1), r.bytes.Add(n); c > maxCommands || b > maxCommandBytes {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, ErrOverloaded()
	}
	sh := r.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.closed {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, ErrStopping()
	}
	o := sh.owners[k]
	if o == nil {
		o = &Owner{engine: r.engine, key: k}
		o.PID = r.engine.runtime.spawn(k.String(), o.receive)
		sh.owners[k] = o
	}
	if o.commands >= maxCommands/ownerShare || o.bytes+n > maxCommandBytes/ownerShare && o.commands > 0 {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, ErrOverloaded()
	}
	sh.wakes(o)
	o.commands++
	o.bytes += n
	return permit{Owner: o, bytes: n}, nil
}

// hold takes one more permit for an owner whose current command has one already. It is
// for the owner's own work and is never refused.
func (r *registry) hold(o *Owner) permit {
	r.commands.Add(1)
	sh := r.shard(o.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.wakes(o)
	o.commands++
	return permit{Owner: o}
}

// done gives a permit back and may retire owners that have been idle longest.
func (r *registry) done(p permit) {
	r.commands.Add(-1)
	r.bytes.Add(-p.bytes)
	o := p.Owner
	sh := r.shard(o.key)
	sh.mu.Lock()
	var retired []address
	o.commands--
	o.bytes -= p.bytes
	if o.commands == 0 && !r.engine.permanent(o.key.Kind) && !sh.closed {
		sh.rests(o)
		retired = sh.retires()
	}
	sh.mu.Unlock()
	for _, pid := range retired {
		r.retired.Add(1)
		r.engine.runtime.retire(pid)
	}
}

// install adds a permanent owner with its restored state.
func (r *registry) install(k core.Owner, state core.Machine) *Owner {
	o := &Owner{engine: r.engine, key: k, State: state}
	o.PID = r.engine.runtime.spawn(k.String(), o.receive)
	sh := r.shard(k)
	sh.mu.Lock()
	sh.owners[k] = o
	sh.mu.Unlock()
	return o
}

// find returns an owner if it is in memory.
func (r *registry) find(k core.Owner) (*Owner, bool) {
	sh := r.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	o, ok := sh.owners[k]
	return o, ok
}

// close refuses every further command and returns the addresses of all owners.
// Commands that are under way go on.
func (r *registry) close() []address {
	var pids []address
	for i := range r.shards {
		sh := &r.shards[i]
		sh.mu.Lock()
		sh.closed = true
		for _, o := range sh.owners {
			pids = append(pids, o.PID)
		}
		sh.mu.Unlock()
	}
	return pids
}

// Underway returns how many commands have been admitted and have not ended, the
// bytes of their inputs, and how many idempotency keys calls hold.
func (e *Engine) Underway() (commands, bytes int64, keys int) {
	e.keys.Range(func(any, any) bool { keys++; return true })
	return e.registry.commands.Load(), e.registry.bytes.Load(), keys
}

// Busy reports whether commands are under way.
func (e *Engine) Busy() bool { return e.registry.commands.Load() > 0 }

// Find returns an owner if it is in memory.
func (e *Engine) Find(k core.Owner) (*Owner, bool) { return e.registry.find(k) }

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
