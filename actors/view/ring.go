package view

import (
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Ring holds the latest messages of all scopes within one budget of bytes. Each
// entry links to the entry before it in each of its scopes, so that a reader
// walks only what its scopes hold. Rows older than the floor are read from the
// store.
//
// Memory is bounded by the budget: a scope has a head here only while one of its
// messages is in the ring.
type Ring struct {
	mu     sync.RWMutex
	budget int
	used   int
	first  uint64  // position of entries[0]
	list   []entry // a window that slides; see evict
	start  int     // index in list of the oldest entry
	heads  map[core.Scope]uint64
	floor  hub.MessageID // every message above it is here
	head   hub.MessageID // highest visible id
	// readable returns a message as its readers get it; see Answered.
	readable func(*core.StoredMessage) *core.StoredMessage
}

// entry is one message and, for each of its scopes, the position of the one
// before it there plus one; 0 is none.
type entry struct {
	msg                     *core.StoredMessage
	public, channel, thread uint64
	inbox                   uint64
}

// entryOverhead estimates what an entry costs beside its JSON, in bytes.
const entryOverhead = 400

func newRing(budget int, head hub.MessageID) *Ring {
	return &Ring{budget: budget, heads: map[core.Scope]uint64{}, floor: head, head: head, first: 1, readable: func(m *core.StoredMessage) *core.StoredMessage { return m }}
}

// append adds committed messages in the order of their ids and moves the head.
func (r *Ring) append(msgs []core.StoredMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range msgs {
		m := &msgs[i]
		pos := r.first + uint64(len(r.list)-r.start)
		e := entry{msg: m}
		if m.To == "" {
			e.public = r.link(PublicScope(), pos)
			e.channel = r.link(ChannelScope(m.Channel), pos)
		} else {
			e.inbox = r.link(InboxScope(m.To), pos)
		}
		if m.Thread != "" {
			e.thread = r.link(ThreadScope(m.Thread), pos)
		}
		r.list = append(r.list, e)
		r.used += entryOverhead + len(m.JSON)
		r.head = m.ID
	}
	for r.used > r.budget && len(r.list)-r.start > 1 {
		r.evict()
	}
}

// link makes pos the head of scope and returns the link to the old head.
func (r *Ring) link(s core.Scope, pos uint64) uint64 {
	old := r.heads[s]
	r.heads[s] = pos
	return old
}

// evict drops the oldest entry, and the heads that point at it.
func (r *Ring) evict() {
	e := &r.list[r.start]
	m := e.msg
	drop := func(s core.Scope) {
		if r.heads[s] == r.first {
			delete(r.heads, s)
		}
	}
	if m.To == "" {
		drop(PublicScope())
		drop(ChannelScope(m.Channel))
	} else {
		drop(InboxScope(m.To))
	}
	if m.Thread != "" {
		drop(ThreadScope(m.Thread))
	}
	r.used -= entryOverhead + len(m.JSON)
	r.floor = max(r.floor, m.ID)
	*e = entry{}
	r.first++
	r.start++
	if r.start > 64 && r.start > len(r.list)/2 { // slide the window down
		n := copy(r.list, r.list[r.start:])
		clear(r.list[n:])
		r.list = r.list[:n]
		r.start = 0
	}
}

func (r *Ring) at(pos uint64) *entry { return &r.list[r.start+int(pos-r.first)] }

func (e *entry) before(k core.ScopeKind) uint64 {
	switch k {
	case core.ScopePublic:
		return e.public
	case core.ScopeChannel:
		return e.channel
	case core.ScopeThread:
		return e.thread
	case core.ScopeInbox:
		return e.inbox
	case core.ScopeAll:
	}
	panic("view: the ring does not link this scope")
}

// skip moves the head over ids that no message of a record has.
func (r *Ring) skip(upto hub.MessageID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head = max(r.head, upto)
}

// raise says that messages up to an id are in the store that the ring does not have.
func (r *Ring) raise(floor hub.MessageID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.floor = max(r.floor, floor)
}

// Visible returns the highest id that may be shown.
func (r *Ring) Visible() hub.MessageID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.head
}

// Get returns one message if it is in the ring.
func (r *Ring) Get(id hub.MessageID) (*core.StoredMessage, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i, found := slices.BinarySearchFunc(r.list[r.start:], id, func(e entry, id hub.MessageID) int {
		return int(e.msg.ID - id)
	})
	if !found {
		return nil, false
	}
	return r.readable(r.list[r.start+i].msg), true
}

// reach returns the id behind which the ring holds every message.
func (r *Ring) reach() hub.MessageID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.floor
}

// walk calls keep, newest first, for every message of scope with
// since < id <= upto that is in the ring, until keep returns false. complete is
// false if older rows than the ring holds would be needed; then nothing was
// called. The ring is locked meanwhile: keep asks no view.
func (r *Ring) walk(scope core.Scope, since, upto hub.MessageID, keep func(*core.StoredMessage) bool) (complete bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if since < r.floor {
		return false
	}
	for pos := r.last(scope); pos >= r.first && pos != 0; {
		e := r.at(pos)
		if e.msg.ID <= since {
			break
		}
		if e.msg.ID <= upto && !keep(r.readable(e.msg)) {
			break
		}
		if scope.Kind == core.ScopeAll {
			pos--
		} else {
			pos = e.before(scope.Kind)
		}
	}
	return true
}

// last returns the position of the latest entry of a scope, or one before the first.
// All entries stand in the scope of all messages, so it needs no links.
func (r *Ring) last(scope core.Scope) uint64 {
	if scope.Kind == core.ScopeAll {
		return r.first + uint64(len(r.list)-r.start) - 1
	}
	return r.heads[scope]
}

// len returns how many messages are held.
func (r *Ring) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.list) - r.start
}
