package actors

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Admission: what may be under way at once. Mailboxes are unbounded, so
// commands are counted before they are sent. One owner gets at most a quarter.
const (
	maxCommands     = 8192
	maxCommandBytes = 256 << 20
	ownerShare      = 4
	retryAfterSec   = 1
)

// idlePerShard is how many owners of a shard are kept although they have
// nothing to do. Beyond that the one that has been idle longest is retired: its
// state is a stored row, so memory is bounded by live work, not by the number of
// agents and channels ever seen.
const idlePerShard = 64

// registry finds owners and admits commands to them.
type registry struct {
	engine   *engine
	seed     maphash.Seed
	commands atomic.Int64
	bytes    atomic.Int64
	shards   [16]registryShard
}

type registryShard struct {
	mu     sync.Mutex
	owners map[core.Owner]*owner
	idle   *list.List // of *owner, the longest idle first; permanent owners are never in it
	closed bool
}

// idleOwner is an owner's place among the idle.
type idleOwner = list.Element

func newRegistry(e *engine) *registry {
	r := &registry{engine: e, seed: maphash.MakeSeed()}
	for i := range r.shards {
		r.shards[i].owners = map[core.Owner]*owner{}
		r.shards[i].idle = list.New()
	}
	return r
}

func (r *registry) shard(k core.Owner) *registryShard {
	return &r.shards[maphash.Comparable(r.seed, k)%uint64(len(r.shards))]
}

// permit is the right of one command to be under way.
type permit struct {
	owner *owner
	bytes int64
}

// admit finds or starts the owner and takes a permit, which must be returned
// with done when the command has ended, not when its caller has left.
// overloaded.
func (r *registry) admit(k core.Owner, size int) (permit, error) {
	n := int64(size) + 512
	if c, b := r.commands.Add(1), r.bytes.Add(n); c > maxCommands || b > maxCommandBytes {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, errOverloaded()
	}
	sh := r.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.closed {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, errStopping()
	}
	o := sh.owners[k]
	if o == nil {
		o = &owner{engine: r.engine, key: k}
		o.pid = r.engine.stage.spawn(o)
		sh.owners[k] = o
	}
	if o.commands >= maxCommands/ownerShare || o.bytes+n > maxCommandBytes/ownerShare && o.commands > 0 {
		r.commands.Add(-1)
		r.bytes.Add(-n)
		return permit{}, errOverloaded()
	}
	if o.idle != nil {
		sh.idle.Remove(o.idle)
		o.idle = nil
	}
	o.commands++
	o.bytes += n
	return permit{owner: o, bytes: n}, nil
}

// hold takes a permit for what an owner that has one already must do itself.
func (r *registry) hold(o *owner) permit {
	r.commands.Add(1)
	sh := r.shard(o.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if o.idle != nil {
		sh.idle.Remove(o.idle)
		o.idle = nil
	}
	o.commands++
	return permit{owner: o}
}

// done returns a permit.
func (r *registry) done(p permit) {
	r.commands.Add(-1)
	r.bytes.Add(-p.bytes)
	o := p.owner
	sh := r.shard(o.key)
	sh.mu.Lock()
	var retired address
	o.commands--
	o.bytes -= p.bytes
	if o.commands == 0 && !r.engine.permanent(o.key.Kind) && !sh.closed {
		o.idle = sh.idle.PushBack(o)
		if sh.idle.Len() > idlePerShard {
			old := sh.idle.Remove(sh.idle.Front()).(*owner)
			old.idle = nil
			delete(sh.owners, old.key)
			retired = old.pid
		}
	}
	sh.mu.Unlock()
	if retired != nil {
		r.engine.stage.retire(retired)
	}
}

// install puts a permanent owner with its restored state.
func (r *registry) install(k core.Owner, state core.Machine) *owner {
	o := &owner{engine: r.engine, key: k, state: state}
	o.pid = r.engine.stage.spawn(o)
	sh := r.shard(k)
	sh.mu.Lock()
	sh.owners[k] = o
	sh.mu.Unlock()
	return o
}

// find returns an owner that runs.
func (r *registry) find(k core.Owner) (*owner, bool) {
	sh := r.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	o, ok := sh.owners[k]
	return o, ok
}

// close refuses every further command and returns all actors. Commands that are
// under way go on.
func (r *registry) close() []address {
	var pids []address
	for i := range r.shards {
		sh := &r.shards[i]
		sh.mu.Lock()
		sh.closed = true
		for _, o := range sh.owners {
			pids = append(pids, o.pid)
		}
		sh.mu.Unlock()
	}
	return pids
}

// underway returns how many commands have been admitted and not ended.
func (r *registry) underway() int64 { return r.commands.Load() }

func errOverloaded() error {
	return hub.NewError(hub.CodeOverloaded, "the hub has too much to do at the moment").
		WithRetryAfter(retryAfterSec).WithFix("repeat the call after the time in Retry-After")
}

func errStopping() error {
	return hub.NewError(hub.CodeStopping, "the hub is stopping").
		WithFix("start it again with: hubcli ensure")
}
