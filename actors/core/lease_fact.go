package core

import (
	"encoding/json"
	"fmt"
	"slices"

	"hubcli/hub"
)

// The facts of leases: 300 to 399.
const (
	factLeaseGranted  FactType = 300
	factLeaseRenewed  FactType = 301
	factLeaseReleased FactType = 302
	factLeaseExpired  FactType = 303
	factLeaseGraced   FactType = 304
)

// LeaseGranted gives a free key to an agent, or, with From, the key that From
// holds.
type LeaseGranted struct {
	Space    LeaseSpace      `json:"space"`
	Key      string          `json:"key"`
	Given    string          `json:"given,omitempty"`
	Agent    hub.AgentID     `json:"agent"`
	Thread   hub.ThreadID    `json:"thread,omitempty"`
	Task     hub.MessageID   `json:"task,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Deadline int64           `json:"deadline_ms"` // hub time
	Fence    int             `json:"fence"`       // index among the record's fences
	From     hub.AgentID     `json:"from,omitempty"`
	Taken    hub.Fence       `json:"taken,omitempty"` // with From; see Lease
}

// LeaseRenewed sets the deadline of a held lease at its holder's request.
type LeaseRenewed struct {
	Space    LeaseSpace `json:"space"`
	Key      string     `json:"key"`
	Deadline int64      `json:"deadline_ms"`
}

// LeaseReleased ends a lease at its holder's request.
type LeaseReleased struct {
	Space LeaseSpace  `json:"space"`
	Key   string      `json:"key"`
	Agent hub.AgentID `json:"agent,omitempty"` // that held it; empty in facts of earlier releases
}

// LeaseExpired ends a lease whose deadline has passed.
type LeaseExpired struct {
	Space LeaseSpace `json:"space"`
	Key   string     `json:"key"`
}

// LeaseGraced extends a lease at a start of the hub.
type LeaseGraced struct {
	Space    LeaseSpace `json:"space"`
	Key      string     `json:"key"`
	Deadline int64      `json:"deadline_ms"`
}

// FactType implements Fact.
func (*LeaseGranted) FactType() FactType { return factLeaseGranted }

// FactType implements Fact.
func (*LeaseRenewed) FactType() FactType { return factLeaseRenewed }

// FactType implements Fact.
func (*LeaseReleased) FactType() FactType { return factLeaseReleased }

// FactType implements Fact.
func (*LeaseExpired) FactType() FactType { return factLeaseExpired }

// FactType implements Fact.
func (*LeaseGraced) FactType() FactType { return factLeaseGraced }

func leaseFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factLeaseGranted:  func() Fact { return &LeaseGranted{} },
		factLeaseRenewed:  func() Fact { return &LeaseRenewed{} },
		factLeaseReleased: func() Fact { return &LeaseReleased{} },
		factLeaseExpired:  func() Fact { return &LeaseExpired{} },
		factLeaseGraced:   func() Fact { return &LeaseGraced{} },
	}
}

// lease returns the lease that the grant creates at a position.
func (f *LeaseGranted) lease(at Position) Lease {
	return Lease{
		Space: f.Space, Key: f.Key, Given: f.Given, Agent: f.Agent, Thread: f.Thread, Task: f.Task,
		Metadata: f.Metadata, Fence: at.Fence(f.Fence), Taken: f.Taken, Since: at.Now.Wall, Deadline: f.Deadline,
	}
}

// Apply changes the state by one fact of this owner and writes the lease's new
// row, also the last row of a lease that ends.
func (l *Leases) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *LeaseGranted:
		l.drop(LeaseKey{f.Space, f.Key})
		lease := f.lease(at)
		l.hold(&lease)
		lease.put(rows)
	case *LeaseRenewed:
		l.setDeadline(LeaseKey{f.Space, f.Key}, f.Deadline, false, rows)
	case *LeaseGraced:
		l.setDeadline(LeaseKey{f.Space, f.Key}, f.Deadline, true, rows)
	case *LeaseReleased:
		l.end(LeaseKey{f.Space, f.Key}, at, rows)
	case *LeaseExpired:
		l.end(LeaseKey{f.Space, f.Key}, at, rows)
	case *LeaseBroken:
		l.end(LeaseKey{f.Space, f.Key}, at, rows)
	default:
		panic(fmt.Sprintf("core: leases were given the fact %T", f))
	}
}

func (l *Leases) hold(lease *Lease) {
	l.held[lease.LeaseKey()] = lease
	l.deadline.add(lease)
	if lease.Space == SpaceLock {
		l.locks.Add(lease.Key)
	}
}

func (l *Leases) drop(k LeaseKey) *Lease {
	lease, ok := l.held[k]
	if ok {
		delete(l.held, k)
		l.deadline.remove(lease)
		if k.Space == SpaceLock {
			l.locks.Remove(k.Key)
		}
	}
	return lease
}

func (l *Leases) setDeadline(k LeaseKey, deadline int64, graced bool, rows RowSink) {
	if lease, ok := l.held[k]; ok {
		lease.Deadline, lease.Graced = deadline, graced
		l.deadline.moved(lease)
		lease.put(rows)
	}
}

func (l *Leases) end(k LeaseKey, at Position, rows RowSink) {
	if lease := l.drop(k); lease != nil {
		last := lease.ended(at.Now)
		last.put(rows)
	}
}

// put writes the lease's row.
func (l *Lease) put(rows RowSink) {
	if rows == nil {
		return // replay: do not pay for the encoding
	}
	table := TableClaim
	if l.Space == SpaceLock {
		table = TableLock
	}
	rows.Put(table, []byte(l.Key), mustJSON(l))
}

// DecodeLease reads the value of a row of TableClaim or TableLock.
func DecodeLease(value []byte) (Lease, error) {
	var l Lease
	if err := json.Unmarshal(value, &l); err != nil {
		return Lease{}, fmt.Errorf("core: the row of a lease: %w", err)
	}
	return l, nil
}

// LeasesVersion is the version of what Snapshot writes. In version 1 no lease
// has passed to another agent.
const LeasesVersion uint16 = 2

type leasesSnapshot struct {
	Leases []Lease `json:"leases"` // by space and key
}

// Snapshot returns the state; equal states give equal bytes.
func (l *Leases) Snapshot() []byte {
	return mustJSON(leasesSnapshot{Leases: slices.Concat(l.List(SpaceClaim), l.List(SpaceLock))})
}

// RestoreLeases returns the state that a snapshot of this version holds.
func RestoreLeases(version uint16, data []byte) (*Leases, error) {
	if err := CheckVersion("leases", version, LeasesVersion); err != nil {
		return nil, err
	}
	var s leasesSnapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("core: leases: %w", err)
	}
	l := NewLeases()
	for i := range s.Leases {
		if _, twice := l.held[s.Leases[i].LeaseKey()]; twice {
			return nil, fmt.Errorf("core: leases: %s %q is held twice", s.Leases[i].Space, s.Leases[i].Key)
		}
		l.hold(&s.Leases[i])
	}
	return l, nil
}
