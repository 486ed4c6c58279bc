package actors

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// leaseView shows the leases that are held, as their rows are stored. It holds
// encoded rows and decodes them when they are asked for: leases change far more
// often than they are listed.
type leaseView struct {
	mu     sync.RWMutex
	held   map[core.LeaseKey]heldLease
	agents multimap[hub.AgentID, core.LeaseKey]
	tasks  multimap[hub.MessageID, core.LeaseKey] // claims on a task
}

// heldLease is the row of a lease and what it is found by.
type heldLease struct {
	row    []byte // nil: its owner is being rebuilt, or is in quarantine
	agent  hub.AgentID
	thread hub.ThreadID // claims only
	task   hub.MessageID
}

func newLeaseView() *leaseView {
	return &leaseView{
		held:   map[core.LeaseKey]heldLease{},
		agents: multimap[hub.AgentID, core.LeaseKey]{}, tasks: multimap[hub.MessageID, core.LeaseKey]{},
	}
}

// put shows a lease in place of what was held under its key.
func (v *leaseView) put(k core.LeaseKey, l heldLease) {
	v.drop(k)
	v.held[k] = l
	v.agents.add(l.agent, k)
	if l.task != 0 {
		v.tasks.add(l.task, k)
	}
}

func (v *leaseView) drop(k core.LeaseKey) {
	was, ok := v.held[k]
	if !ok {
		return
	}
	delete(v.held, k)
	v.agents.remove(was.agent, k)
	v.tasks.remove(was.task, k)
}

// apply takes what one committed record did to leases.
func (v *leaseView) apply(facts []core.Fact, rows []core.Row) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseGranted:
			v.put(core.LeaseKey{Space: f.Space, Key: f.Key}, heldLease{agent: f.Agent, thread: f.Thread, task: f.Task}) // its row follows
		case *core.LeaseReleased:
			v.drop(core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseExpired:
			v.drop(core.LeaseKey{Space: f.Space, Key: f.Key})
		}
	}
	for i := range rows {
		k := core.LeaseKey{Space: core.SpaceClaim, Key: string(rows[i].Key)}
		if rows[i].Table == core.TableLock {
			k.Space = core.SpaceLock
		}
		if l, ok := v.held[k]; ok {
			l.row = rows[i].Value
			v.held[k] = l
		}
	}
}

// restore shows a lease that a restored owner holds.
func (v *leaseView) restore(l core.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.putLease(l)
}

// putLease is restore with the lock held.
func (v *leaseView) putLease(l core.Lease) {
	value, err := json.Marshal(&l)
	if err != nil {
		panic("actors: a lease does not encode: " + err.Error())
	}
	v.put(l.LeaseKey(), heldLease{row: value, agent: l.Agent, thread: l.Thread, task: l.Task})
}

// list returns the held leases of a space that keep keeps, by key.
func (v *leaseView) list(space core.LeaseSpace, keep func(*core.Lease) bool) ([]core.Lease, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := []core.Lease{}
	for k, held := range v.held {
		if k.Space != space || held.row == nil {
			continue
		}
		l, err := decodeLease(held.row)
		if err != nil {
			return nil, err
		}
		if keep(&l) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b core.Lease) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}

// page returns the rows of the first n held leases of a space behind a key that
// keeps keeps, by key. They are put in order, and decoded by the caller, without the
// lock: the writer waits for it.
func (v *leaseView) page(space core.LeaseSpace, behind string, n int, keeps *leaseFilter) [][]byte {
	type row struct {
		key  string
		data []byte
	}
	var all []row
	add := func(k core.LeaseKey, l heldLease) {
		if k.Space == space && k.Key > behind && l.row != nil && keeps.keep(k.Key, l.agent, l.thread, l.task) {
			all = append(all, row{k.Key, l.row})
		}
	}
	v.mu.RLock()
	switch k := (core.LeaseKey{Space: space, Key: keeps.key}); {
	case keeps.key != "":
		add(k, v.held[k])
	case keeps.owner != "":
		for k := range v.agents[keeps.owner] {
			add(k, v.held[k])
		}
	default:
		for k, l := range v.held {
			add(k, l)
		}
	}
	v.mu.RUnlock()
	found := firsts[row]{n: n, compare: func(a, b row) int { return cmp.Compare(a.key, b.key) }}
	for _, r := range all {
		found.add(r)
	}
	out := make([][]byte, 0, len(found.rows))
	for _, r := range found.sorted() {
		out = append(out, r.data)
	}
	return out
}

// row returns the row of a lease if it is held; nil where it cannot be shown.
func (v *leaseView) row(k core.LeaseKey) (row []byte, held bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	l, held := v.held[k]
	return l.row, held
}

// of returns the held leases of an agent and the held claims on a task: whichever
// of both is named.
func (v *leaseView) of(agent hub.AgentID, task hub.MessageID, add func(*core.Lease)) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	keys := v.agents[agent]
	if task != 0 {
		keys = v.tasks[task]
	}
	for k := range keys {
		held := v.held[k]
		if held.row == nil {
			continue
		}
		l, err := decodeLease(held.row)
		if err != nil {
			return err
		}
		add(&l)
	}
	return nil
}

// keysOf returns the keys of the held leases of an agent in a space, sorted.
func (v *leaseView) keysOf(agent hub.AgentID, space core.LeaseSpace) []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var keys []string
	for k := range v.agents[agent] {
		if k.Space == space && v.held[k].row != nil {
			keys = append(keys, k.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// holds reports whether an agent holds any lease.
func (v *leaseView) holds(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.agents[agent]) > 0
}

// inThread returns the held claims of a thread and the held locks whose metadata
// names it as thread_id: a lock has no thread of its own.
func (v *leaseView) inThread(thread hub.ThreadID) (claims, locks []core.Lease, err error) {
	if claims, err = v.list(core.SpaceClaim, func(l *core.Lease) bool { return l.Thread == thread }); err != nil {
		return nil, nil, err
	}
	locks, err = v.list(core.SpaceLock, func(l *core.Lease) bool { return lockThread(l) == thread })
	return claims, locks, err
}

func lockThread(l *core.Lease) hub.ThreadID {
	var m struct {
		ThreadID hub.ThreadID `json:"thread_id"`
	}
	if len(l.Metadata) == 0 || json.Unmarshal(l.Metadata, &m) != nil {
		return ""
	}
	return m.ThreadID
}

// perThread counts the held claims and locks of every thread.
func (v *leaseView) perThread() (claims, locks map[hub.ThreadID]int64, err error) {
	claims, locks = map[hub.ThreadID]int64{}, map[hub.ThreadID]int64{}
	if _, err = v.list(core.SpaceClaim, func(l *core.Lease) bool { claims[l.Thread]++; return false }); err != nil {
		return nil, nil, err
	}
	_, err = v.list(core.SpaceLock, func(l *core.Lease) bool { locks[lockThread(l)]++; return false })
	return claims, locks, err
}

func (v *leaseView) len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.held)
}

// replace shows exactly these leases of an owner and a space.
func (v *leaseView) replace(k core.Owner, space core.LeaseSpace, leases []core.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for held := range v.held {
		if held.Space == space && core.LeaseOwner(core.LeaseShard(held)) == k {
			v.drop(held)
		}
	}
	for _, l := range leases {
		v.putLease(l)
	}
}

// leaseFilter is what a query selects of the leases of one space.
type leaseFilter struct {
	key, prefix string
	owner       hub.AgentID
	thread      hub.ThreadID
	room        bool // only what seats hold, and what is on tasks
	seats       map[hub.AgentID]bool
	tasks       map[hub.MessageID]bool
}

// beginning is what all keys that are kept begin with.
func (f *leaseFilter) beginning() string {
	if f.key != "" {
		return f.key
	}
	return f.prefix
}

func (f *leaseFilter) keep(key string, agent hub.AgentID, thread hub.ThreadID, task hub.MessageID) bool {
	return (f.key == "" || key == f.key) && strings.HasPrefix(key, f.prefix) &&
		(f.owner == "" || agent == f.owner) && (f.thread == "" || thread == f.thread) &&
		(!f.room || f.seats[agent] || task != 0 && f.tasks[task])
}
