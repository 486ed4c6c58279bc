package core

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"

	"hubcli/hub"
)

// LeaseSpace says what kind of key a lease has. Its numbers are part of the
// journal's format: append, never reorder.
type LeaseSpace uint8

// The lease spaces.
const (
	SpaceClaim LeaseSpace = 1 // keys are claim keys
	SpaceLock  LeaseSpace = 2 // keys are canonical paths
)

func (s LeaseSpace) String() string {
	if s == SpaceLock {
		return "lock"
	}
	return "claim"
}

// LeaseKey identifies a lease.
type LeaseKey struct {
	Space LeaseSpace
	Key   string // claim key, or canonical path
}

// Compare orders keys by space, then by key.
func (k LeaseKey) Compare(o LeaseKey) int {
	return cmp.Or(cmp.Compare(k.Space, o.Space), cmp.Compare(k.Key, o.Key))
}

// LeaseShards is how many owners the leases are spread over.
const LeaseShards = 16

// LeaseShard returns the number of the owner of a key, 0 to LeaseShards-1. Claims
// of one namespace (the key up to its first colon, else "default") share an
// owner, and so do all file locks. The hash is part of the store's format.
func LeaseShard(k LeaseKey) int {
	namespace := "file"
	if k.Space == SpaceClaim {
		before, _, found := strings.Cut(k.Key, ":")
		namespace = before
		if !found {
			namespace = "default"
		}
	}
	h := fnv.New32a()
	h.Write([]byte(namespace)) // cannot fail
	return int(h.Sum32() % LeaseShards)
}

// Lease is a claim or a file lock, in the form in which the store keeps it.
type Lease struct {
	Space    LeaseSpace      `json:"space"`
	Key      string          `json:"key"`
	Given    string          `json:"given,omitempty"` // lock: the path as the caller gave it
	Agent    hub.AgentID     `json:"agent"`
	Thread   hub.ThreadID    `json:"thread,omitempty"`
	Task     hub.MessageID   `json:"task,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Fence    hub.Fence       `json:"fence"`
	// Taken is the fence with which an agent took a lease that has passed to
	// another agent since. 0: the agent that holds it took it.
	Taken    hub.Fence `json:"taken,omitempty"`
	Since    hub.Time  `json:"since"`       // wall time of the grant
	Deadline int64     `json:"deadline_ms"` // hub time in ms; the lease is held until then
	// Graced says that a start of the hub has extended the lease since its last
	// renewal. Programs up to 0.1.0 read it: they extend a lease once.
	Graced bool `json:"graced,omitempty"`
	// Ended is nil while the lease is held.
	Ended *LeaseEnd `json:"ended,omitempty"`

	heapPlace int
}

// LeaseEnd is the end of a lease in wall time.
type LeaseEnd struct {
	At      hub.Time `json:"at"`      // when it was released or its expiry decided
	Expires hub.Time `json:"expires"` // when its TTL ended or would have ended
}

func (l *Lease) before(o *Lease) bool {
	if l.Deadline != o.Deadline {
		return l.Deadline < o.Deadline
	}
	return l.LeaseKey().Compare(o.LeaseKey()) < 0
}
func (l *Lease) place() int     { return l.heapPlace }
func (l *Lease) setPlace(i int) { l.heapPlace = i }

// leaseBytes is what a held lease takes in memory besides its texts.
const leaseBytes = 512

// LeaseBytes returns what a held lease takes in memory, roughly. Each text is there twice:
// in the state of the owner and in the row that the view shows.
func LeaseBytes(key, given string, thread hub.ThreadID, metadata []byte) int {
	return leaseBytes + 2*(len(key)+len(given)+len(thread)+len(metadata))
}

// LeaseKey returns the key of l.
func (l *Lease) LeaseKey() LeaseKey { return LeaseKey{l.Space, l.Key} }

// Claim returns the row of a lease of SpaceClaim as of now.
func (l *Lease) Claim(now Now) hub.Claim {
	return hub.Claim{
		ClaimKey: hub.ClaimKey(l.Key), ThreadID: Optional(l.Thread), TaskMessageID: Optional(l.Task),
		OwnerAgentID: l.Agent, ClaimedAt: l.Since, ExpiresAt: l.expiresAt(now), ReleasedAt: l.endedAt(),
		Metadata: objectOf(l.Metadata), Fence: l.Fence,
	}
}

// Lock returns the row of a lease of SpaceLock as of now.
func (l *Lease) Lock(now Now) hub.Lock {
	return hub.Lock{
		FilePath: l.Given, AgentID: l.Agent, LockedAt: l.Since, ExpiresAt: l.expiresAt(now),
		ReleasedAt: l.endedAt(), Metadata: objectOf(l.Metadata), Fence: l.Fence,
	}
}

// expiresAt is the wall time plus the time left. A fixed wall time would be
// wrong after a start, because hub time does not pass while the hub is down.
func (l *Lease) expiresAt(now Now) hub.Time {
	if l.Ended != nil {
		return l.Ended.Expires
	}
	return now.Wall + hub.Time(l.Deadline-now.HubMS)
}

func (l *Lease) endedAt() *hub.Time {
	if l.Ended == nil {
		return nil
	}
	at := l.Ended.At
	return &at
}

// renewed returns l with a new deadline.
func (l Lease) renewed(deadline int64) Lease {
	l.Deadline, l.Graced = deadline, false
	return l
}

// ended returns l after its end.
func (l Lease) ended(at Now) Lease {
	l.Ended = &LeaseEnd{At: at.Wall, Expires: l.expiresAt(at)}
	return l
}

// AcquireCommand asks for a lease. Its values are already checked.
type AcquireCommand struct {
	Space       LeaseSpace
	Key         string // claim key, or canonical path
	Given       string // lock: the path as it was given
	Agent       hub.AgentID
	Thread      hub.ThreadID
	TaskMessage hub.MessageID
	TTLSec      int
	Metadata    json.RawMessage // compact object; empty: {}
}

// HoldCommand renews or releases a lease. Fence 0 is not checked.
type HoldCommand struct {
	Space  LeaseSpace
	Key    string
	Agent  hub.AgentID
	TTLSec int // refresh only
	Fence  hub.Fence
}

// LeaseAnswer is the row after a command: of the holder, or of the lease that a
// release ended. Only the pointer of the lease's space is set.
type LeaseAnswer struct {
	Claim    *hub.Claim
	Lock     *hub.Lock
	Acquired bool          // the calling agent holds the lease now
	Created  bool          // 201 rather than 200
	Circle   []hub.AgentID // of agents that would wait for each other; see hub.Grant
}

// LeaseWorld gives an expiry the facts about other owners that its notice
// needs. They never influence which agent holds a lease.
type LeaseWorld interface {
	// Away reports whether the agent has no live session.
	Away(agent hub.AgentID) bool
	// ThreadChannel returns the channel of a thread's public messages, or "".
	ThreadChannel(thread hub.ThreadID) hub.ChannelName
	// Hidden returns the agent that has given a task by a direct message; empty if
	// everybody may see the task.
	Hidden(task hub.TaskID) (giver hub.AgentID)
}

// Leases is the state of one lease owner: the claims and locks that are held.
//
// A lease is held until a fact says that it was released or has expired. A
// command of the owner first decides the expiries that are due (Expire), and
// AfterExpiry puts the command's own draft behind them in the same record. The
// decide methods treat a lease whose deadline has passed as free.
type Leases struct {
	held     map[LeaseKey]*Lease
	deadline deadlineHeap[*Lease]
	locks    LockIndex // of the keys of SpaceLock in held
}

// NewLeases returns the state of an owner that has decided nothing yet.
func NewLeases() *Leases { return &Leases{held: map[LeaseKey]*Lease{}} }

// Len returns how many leases are held.
func (l *Leases) Len() int { return len(l.held) }

// Get returns the lease of a key while it is held.
func (l *Leases) Get(k LeaseKey) (Lease, bool) {
	if lease, ok := l.held[k]; ok {
		return *lease, true
	}
	return Lease{}, false
}

// List returns the held leases of a space by key.
func (l *Leases) List(space LeaseSpace) []Lease {
	out := []Lease{}
	for k, lease := range l.held {
		if k.Space == space {
			out = append(out, *lease)
		}
	}
	slices.SortFunc(out, func(a, b Lease) int { return a.LeaseKey().Compare(b.LeaseKey()) })
	return out
}

// live returns the lease of a key unless its deadline has come.
func (l *Leases) live(k LeaseKey, now Now) *Lease {
	if lease, ok := l.held[k]; ok && now.HubMS < lease.Deadline {
		return lease
	}
	return nil
}

// Acquire grants a free key. A file lock is free if no lock of another agent
// overlaps it. If the holder asks again, it keeps its fence and at least its
// remaining time. Any other agent gets the row of the lease that is in its way.
func (l *Leases) Acquire(c AcquireCommand, now Now) Decision[LeaseAnswer] {
	key, deadline := LeaseKey{c.Space, c.Key}, deadlineAfter(now, c.TTLSec)
	holder := l.live(key, now)
	if holder == nil {
		holder = l.covering(key, c.Agent, now)
	}
	switch {
	case holder == nil:
		f := &LeaseGranted{
			Space: c.Space, Key: c.Key, Given: c.Given, Agent: c.Agent, Thread: c.Thread,
			Task: c.TaskMessage, Metadata: c.Metadata, Deadline: deadline,
		}
		return Decision[LeaseAnswer]{
			Draft: Draft{Facts: []Fact{f}, Fences: 1},
			Answer: func(at Position) LeaseAnswer {
				return answerLease(f.lease(at), at, now, LeaseAnswer{Acquired: true, Created: true})
			},
		}
	case holder.Agent != c.Agent:
		return leaseDecision(Draft{}, *holder, now, LeaseAnswer{})
	case deadline <= holder.Deadline:
		return leaseDecision(Draft{}, *holder, now, LeaseAnswer{Acquired: true, Created: true})
	default:
		return renewal(*holder, deadline, now, LeaseAnswer{Acquired: true, Created: true})
	}
}

// Refresh sets the remaining time of the agent's lease to the TTL. Errors:
// not_holder, stale_fence.
func (l *Leases) Refresh(c HoldCommand, now Now) (Decision[LeaseAnswer], error) {
	lease, err := l.heldBy(c, now)
	if err != nil {
		return Decision[LeaseAnswer]{}, err
	}
	return renewal(*lease, deadlineAfter(now, c.TTLSec), now, LeaseAnswer{Acquired: true}), nil
}

// Release ends the agent's lease. Errors: not_holder, stale_fence.
func (l *Leases) Release(c HoldCommand, now Now) (Decision[LeaseAnswer], error) {
	lease, err := l.heldBy(c, now)
	if err != nil {
		return Decision[LeaseAnswer]{}, err
	}
	was := *lease
	return Decision[LeaseAnswer]{
		Draft: Draft{Facts: []Fact{&LeaseReleased{Space: c.Space, Key: c.Key, Agent: c.Agent}}},
		Answer: func(at Position) LeaseAnswer {
			return answerLease(was.ended(at.Now), at, now, LeaseAnswer{})
		},
	}, nil
}

// heldBy returns the lease that c may renew or release.
func (l *Leases) heldBy(c HoldCommand, now Now) (*Lease, error) {
	lease := l.live(LeaseKey{c.Space, c.Key}, now)
	if lease == nil || lease.Agent != c.Agent {
		err := hub.Errorf(hub.CodeNotHolder, "%s does not hold this %s", c.Agent, c.Space).
			WithFix("acquire it again before going on with the work that it protects")
		if lease != nil {
			err = err.With("holder", lease.Agent).With("fence", lease.Fence)
		}
		return nil, err
	}
	if c.Fence != 0 && c.Fence != lease.Fence {
		fix := "the lease was granted anew since: stop the work that rests on the old fence"
		if c.Fence > lease.Fence {
			fix = "send the fence that the grant of this lease answered"
		}
		return nil, hub.Errorf(hub.CodeStaleFence, "fence %d is not that of this %s", c.Fence, c.Space).
			With("fence", lease.Fence).With("given", c.Fence).WithFix(fix)
	}
	return lease, nil
}

func renewal(lease Lease, deadline int64, now Now, a LeaseAnswer) Decision[LeaseAnswer] {
	f := &LeaseRenewed{Space: lease.Space, Key: lease.Key, Deadline: deadline}
	return leaseDecision(Draft{Facts: []Fact{f}}, lease.renewed(deadline), now, a)
}

func leaseDecision(d Draft, lease Lease, now Now, a LeaseAnswer) Decision[LeaseAnswer] {
	return Decision[LeaseAnswer]{
		Draft:  d,
		Answer: func(at Position) LeaseAnswer { return answerLease(lease, at, now, a) },
	}
}

// answerLease writes the row into a. A draft without effect has no position;
// its row is rendered as of the decision.
func answerLease(lease Lease, at Position, decided Now, a LeaseAnswer) LeaseAnswer {
	now := decided
	if at.Seq != 0 {
		now = at.Now
	}
	if lease.Space == SpaceLock {
		row := lease.Lock(now)
		a.Lock = &row
	} else {
		row := lease.Claim(now)
		a.Claim = &row
	}
	return a
}

func deadlineAfter(now Now, ttlSec int) int64 { return now.HubMS + int64(ttlSec)*1000 }

// Optional returns nil for the zero value, which is null on the wire.
func Optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
