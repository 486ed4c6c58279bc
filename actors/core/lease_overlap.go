package core

import (
	"slices"

	"hubcli/hub"
)

// Overlapping returns the keys of the held leases that a lease of a key overlaps, the key itself
// first, whether it is held or not. Only file locks overlap others.
func (l *Leases) Overlapping(k LeaseKey) []LeaseKey {
	keys := []LeaseKey{k}
	if k.Space != SpaceLock {
		return keys
	}
	for other := range l.locks.Overlapping(k.Key) {
		if other != k.Key {
			keys = append(keys, LeaseKey{SpaceLock, other})
		}
	}
	slices.SortFunc(keys[1:], LeaseKey.Compare)
	return keys
}

// Overlap reports whether two keys are the same, or are file locks that overlap.
func (k LeaseKey) Overlap(o LeaseKey) bool {
	return k == o || k.Space == SpaceLock && o.Space == SpaceLock && hub.LocksOverlap(k.Key, o.Key)
}

// covering returns a lease of another agent that overlaps a key which nobody holds, one of those
// whose deadline has not come; nil: there is none. It looks no further than to the first.
func (l *Leases) covering(k LeaseKey, agent hub.AgentID, now Now) *Lease {
	if k.Space != SpaceLock {
		return nil
	}
	for other := range l.locks.Overlapping(k.Key) {
		if lease := l.live(LeaseKey{SpaceLock, other}, now); lease != nil && lease.Agent != agent {
			return lease
		}
	}
	return nil
}

// Blockers returns the agents whose leases keep an agent from a key, each once. Nothing keeps it from
// what it holds itself.
func (l *Leases) Blockers(k LeaseKey, agent hub.AgentID) (holders []hub.AgentID) {
	if lease, held := l.held[k]; held && lease.Agent == agent {
		return nil
	}
	for _, other := range l.Overlapping(k) {
		if lease, held := l.held[other]; held && lease.Agent != agent && !slices.Contains(holders, lease.Agent) {
			holders = append(holders, lease.Agent)
		}
	}
	return holders
}
