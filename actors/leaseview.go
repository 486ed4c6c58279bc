package actors

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// leaseView shows the leases that are held, as their rows are stored. It holds
// encoded rows and decodes them when they are asked for: leases change far more
// often than they are listed.
type leaseView struct {
	mu   sync.RWMutex
	held map[core.LeaseKey][]byte
}

func newLeaseView() *leaseView { return &leaseView{held: map[core.LeaseKey][]byte{}} }

// apply takes what one committed record did to leases.
func (v *leaseView) apply(facts []core.Fact, rows []core.Row) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseGranted:
			v.held[core.LeaseKey{Space: f.Space, Key: f.Key}] = nil // its row follows
		case *core.LeaseReleased:
			delete(v.held, core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseExpired:
			delete(v.held, core.LeaseKey{Space: f.Space, Key: f.Key})
		}
	}
	for i := range rows {
		k := core.LeaseKey{Space: core.SpaceClaim, Key: string(rows[i].Key)}
		if rows[i].Table == core.TableLock {
			k.Space = core.SpaceLock
		}
		if _, ok := v.held[k]; ok {
			v.held[k] = rows[i].Value
		}
	}
}

// restore puts a lease that a restored owner holds.
func (v *leaseView) restore(l core.Lease) {
	value, err := json.Marshal(&l)
	if err != nil {
		panic("actors: a lease does not encode: " + err.Error())
	}
	v.held[l.LeaseKey()] = value
}

// list returns the held leases of a space that keep keeps, by key.
func (v *leaseView) list(space core.LeaseSpace, keep func(*core.Lease) bool) ([]core.Lease, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := []core.Lease{}
	for k, value := range v.held {
		if k.Space != space || value == nil { // nil: its owner is being rebuilt, or is in quarantine
			continue
		}
		l, err := core.DecodeLease(value)
		if err != nil {
			return nil, hub.NewError(hub.CodeCorruptRecord, "a stored lease cannot be read")
		}
		if keep(&l) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b core.Lease) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
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
		if held.Space == space && leaseOwner(core.LeaseShard(held)) == k {
			delete(v.held, held)
		}
	}
	for _, l := range leases {
		v.restore(l)
	}
}
