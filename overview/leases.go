package overview

import "hubcli/hub"

// Lease is a claim or a lock.
type Lease struct {
	Kind    string // claim or lock
	Key     string
	Owner   hub.AgentID
	Since   hub.Time
	Expires hub.Time
	Waiters []hub.LeaseWaiter
}

// String names the lease for people.
func (l *Lease) String() string { return l.Kind + " " + l.Key }

// Leases returns the claims and then the locks.
func (s *Snapshot) Leases() []Lease {
	list := make([]Lease, 0, len(s.Claims)+len(s.Locks))
	for i := range s.Claims {
		c := &s.Claims[i]
		list = append(list, Lease{"claim", string(c.ClaimKey), c.OwnerAgentID, c.ClaimedAt, c.ExpiresAt, c.Waiters})
	}
	for i := range s.Locks {
		l := &s.Locks[i]
		list = append(list, Lease{"lock", l.FilePath, l.AgentID, l.LockedAt, l.ExpiresAt, l.Waiters})
	}
	return list
}
