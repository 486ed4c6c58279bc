package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Leases shows the leases that are held, as their rows are stored. It holds
// encoded rows and decodes them when they are asked for: leases change far more
// often than they are listed.
type Leases struct {
	mu     sync.RWMutex
	held   map[core.LeaseKey]heldLease
	agents multimap[hub.AgentID, core.LeaseKey]
	tasks  multimap[hub.MessageID, core.LeaseKey] // claims on a task
	locks  core.LockIndex                         // of the file locks in held
	Shares *Shares                                // of the bytes that held leases take
}

// heldLease is the row of a lease and what it is found by.
type heldLease struct {
	row    []byte // nil: its owner is being rebuilt, or is in quarantine
	agent  hub.AgentID
	thread hub.ThreadID // claims only
	task   hub.MessageID
	bytes  int // see core.LeaseBytes
}

func newLeases() *Leases {
	return &Leases{
		held:   map[core.LeaseKey]heldLease{},
		agents: multimap[hub.AgentID, core.LeaseKey]{}, tasks: multimap[hub.MessageID, core.LeaseKey]{},
		Shares: newShares(&core.LeaseShare),
	}
}

// put shows a lease in place of the earlier one under its key.
func (v *Leases) put(k core.LeaseKey, l heldLease) {
	v.drop(k)
	v.held[k] = l
	v.Shares.add(l.agent, l.bytes)
	v.agents.add(l.agent, k)
	if k.Space == core.SpaceLock {
		v.locks.Add(k.Key)
	}
	if l.task != 0 {
		v.tasks.add(l.task, k)
	}
}

func (v *Leases) drop(k core.LeaseKey) {
	was, ok := v.held[k]
	if !ok {
		return
	}
	delete(v.held, k)
	v.Shares.add(was.agent, -was.bytes)
	v.agents.remove(was.agent, k)
	v.tasks.remove(was.task, k)
	if k.Space == core.SpaceLock {
		v.locks.Remove(k.Key)
	}
}

// apply takes what one committed record did to leases.
func (v *Leases) apply(facts []core.Fact, rows []core.Row) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseGranted:
			v.put(core.LeaseKey{Space: f.Space, Key: f.Key}, heldLease{
				agent: f.Agent, thread: f.Thread, task: f.Task, bytes: core.LeaseBytes(f.Key, f.Given, f.Thread, f.Metadata),
			}) // its row follows
		case *core.LeaseReleased:
			v.drop(core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseBroken:
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

// Restore shows a lease that a restored owner holds.
func (v *Leases) Restore(l core.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.putLease(l)
}

// putLease is restore with the lock held.
func (v *Leases) putLease(l core.Lease) {
	v.put(l.LeaseKey(), heldLease{
		row: l.AppendJSON(nil), agent: l.Agent, thread: l.Thread, task: l.Task,
		bytes: core.LeaseBytes(l.Key, l.Given, l.Thread, l.Metadata),
	})
}

// List returns the held leases of a space that keep keeps, by key.
func (v *Leases) List(space core.LeaseSpace, keep func(*core.Lease) bool) ([]core.Lease, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := []core.Lease{}
	for k, held := range v.held {
		if k.Space != space || held.row == nil {
			continue
		}
		l, err := DecodeLease(held.row)
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

// Page returns the rows of the first n held leases of a space behind a key that
// keeps keeps, by key. They are put in order, and decoded by the caller, without the
// lock: the writer waits for it.
func (v *Leases) Page(space core.LeaseSpace, behind string, n int, keeps *LeaseFilter) [][]byte {
	type row struct {
		key  string
		data []byte
	}
	var all []row
	add := func(k core.LeaseKey, l heldLease) {
		if k.Space == space && k.Key > behind && l.row != nil && keeps.Keep(k.Key, l.agent, l.thread, l.task) {
			all = append(all, row{k.Key, l.row})
		}
	}
	v.mu.RLock()
	switch k := (core.LeaseKey{Space: space, Key: keeps.Key}); {
	case keeps.Key != "":
		add(k, v.held[k])
	case keeps.Covering != "":
		for key := range v.locks.Overlapping(keeps.Covering) {
			k := core.LeaseKey{Space: core.SpaceLock, Key: key}
			add(k, v.held[k])
		}
	case keeps.Owner != "":
		for k := range v.agents[keeps.Owner] {
			add(k, v.held[k])
		}
	default:
		for k, l := range v.held {
			add(k, l)
		}
	}
	v.mu.RUnlock()
	found := Firsts[row]{N: n, Compare: func(a, b row) int { return cmp.Compare(a.key, b.key) }}
	for _, r := range all {
		found.Add(r)
	}
	out := make([][]byte, 0, len(found.rows))
	for _, r := range found.Sorted() {
		out = append(out, r.data)
	}
	return out
}

// Blockers returns the agents whose leases keep an agent from a key: that of the key, and those of
// the file locks that overlap it.
func (v *Leases) Blockers(k core.LeaseKey, agent hub.AgentID) (holders []hub.AgentID) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	add := func(holder hub.AgentID) {
		if holder != "" && holder != agent && !slices.Contains(holders, holder) {
			holders = append(holders, holder)
		}
	}
	add(v.held[k].agent)
	if v.held[k].agent == agent {
		return nil // nothing keeps it from what it holds
	}
	if k.Space == core.SpaceLock {
		for other := range v.locks.Overlapping(k.Key) {
			add(v.held[core.LeaseKey{Space: core.SpaceLock, Key: other}].agent)
		}
	}
	slices.Sort(holders)
	return holders
}

// Row returns the row of a lease if it is held; nil where it cannot be shown.
func (v *Leases) Row(k core.LeaseKey) (row []byte, held bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	l, held := v.held[k]
	return l.row, held
}

// Of returns the held leases of an agent and the held claims on a task: whichever
// of both is named.
func (v *Leases) Of(agent hub.AgentID, task hub.MessageID, add func(*core.Lease)) error {
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
		l, err := DecodeLease(held.row)
		if err != nil {
			return err
		}
		add(&l)
	}
	return nil
}

// KeysOf returns the keys of the held leases of an agent in a space, sorted.
func (v *Leases) KeysOf(agent hub.AgentID, space core.LeaseSpace) []string {
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
func (v *Leases) holds(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.agents[agent]) > 0
}

// InThread returns the rows of the held claims of a thread, and of the held locks whose
// metadata names it as thread_id: a lock has no thread of its own. Both are by key.
func (v *Leases) InThread(thread hub.ThreadID) (claims, locks [][]byte, err error) {
	claims = v.Page(core.SpaceClaim, "", v.Len(), &LeaseFilter{Thread: thread})
	for _, row := range v.Page(core.SpaceLock, "", v.Len(), &LeaseFilter{}) {
		l, err := DecodeLease(row)
		if err != nil {
			return nil, nil, err
		}
		if lockThread(&l) == thread {
			locks = append(locks, row)
		}
	}
	return claims, locks, nil
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

// LocksPerThread counts the held locks of every thread.
func (v *Leases) LocksPerThread() (locks map[hub.ThreadID]int64, err error) {
	locks = map[hub.ThreadID]int64{}
	_, err = v.List(core.SpaceLock, func(l *core.Lease) bool { locks[lockThread(l)]++; return false })
	return locks, err
}

func (v *Leases) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.held)
}

// Replace shows exactly these leases of an owner and a space.
func (v *Leases) Replace(k core.Owner, space core.LeaseSpace, leases []core.Lease) {
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

// LeaseFilter is what a query selects of the leases of one space.
type LeaseFilter struct {
	Key, Prefix string
	Covering    string // file locks alone: a canonical path that the lock overlaps
	Owner       hub.AgentID
	Thread      hub.ThreadID
	Room        bool // only what seats hold, and what is on tasks
	Seats       map[hub.AgentID]bool
	Tasks       map[hub.MessageID]bool
}

// Beginning is what all keys that are kept begin with.
func (f *LeaseFilter) Beginning() string {
	if f.Key != "" {
		return f.Key
	}
	return f.Prefix
}

// Keep reports whether a lease with these properties passes the filter.
func (f *LeaseFilter) Keep(key string, agent hub.AgentID, thread hub.ThreadID, task hub.MessageID) bool {
	return (f.Key == "" || key == f.Key) && (f.Covering == "" || hub.LocksOverlap(key, f.Covering)) && strings.HasPrefix(key, f.Prefix) &&
		(f.Owner == "" || agent == f.Owner) && (f.Thread == "" || thread == f.Thread) &&
		(!f.Room || f.Seats[agent] || task != 0 && f.Tasks[task])
}
