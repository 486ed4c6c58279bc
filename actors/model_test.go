package actors

import (
	"fmt"
	"maps"
	"slices"

	"hubcli/hub"
)

// simpleHub is what a hub must do, said as simply as possible: one call at a time, no owners, no
// journal. It has no store, so that a crash takes nothing from it.
type simpleHub struct {
	now         int64 // hub time, ms
	messages    []modelMessage
	keyed       map[string]hub.MessageID // posts by idempotency key
	read        map[hub.AgentID]hub.MessageID
	leases      map[string]modelLease // claims and locks
	waiting     map[string][]*modelWait
	fence       hub.Fence // the highest
	settled     hub.Fence // the highest before this step
	tasks       map[hub.TaskID]modelTask
	runs        []hub.RunID
	runRooms    map[hub.RunID]hub.RoomID // of those in a room
	memories    map[string]string
	incarnation map[hub.AgentID]uint64
	archived    bool // the project of all rooms is archived
	rooms       []modelRoom
	versions    map[modelTitle]int64 // the latest
	invites     []modelInvite
	seats       map[modelSeat]hub.InviteID
}

// judge is a call that the hub has answered. It lets the model do the call, and says what is
// wrong with the answer of the hub.
type judge func(m *simpleHub) error

type modelMessage struct {
	id       hub.MessageID
	from, to hub.AgentID
	channel  hub.ChannelName
	body     string
}

type modelLease struct {
	owner    hub.AgentID
	fence    hub.Fence
	deadline int64 // hub time, ms
}

func newSimpleHub() *simpleHub {
	return &simpleHub{
		keyed: map[string]hub.MessageID{}, read: map[hub.AgentID]hub.MessageID{}, leases: map[string]modelLease{},
		waiting: map[string][]*modelWait{}, tasks: map[hub.TaskID]modelTask{}, memories: map[string]string{},
		incarnation: map[hub.AgentID]uint64{}, versions: map[modelTitle]int64{}, seats: map[modelSeat]hub.InviteID{},
		runRooms: map[hub.RunID]hub.RoomID{},
	}
}

// clone returns a copy. Those who wait are shared: what they were answered does not change.
func (m *simpleHub) clone() *simpleHub {
	c := *m
	c.messages, c.runs = slices.Clip(m.messages), slices.Clip(m.runs)
	c.rooms, c.invites = slices.Clone(m.rooms), slices.Clone(m.invites)
	c.keyed, c.read, c.leases = maps.Clone(m.keyed), maps.Clone(m.read), maps.Clone(m.leases)
	c.tasks, c.memories, c.incarnation = maps.Clone(m.tasks), maps.Clone(m.memories), maps.Clone(m.incarnation)
	c.versions, c.seats, c.runRooms = maps.Clone(m.versions), maps.Clone(m.seats), maps.Clone(m.runRooms)
	c.waiting = map[string][]*modelWait{}
	for key, line := range m.waiting {
		c.waiting[key] = slices.Clone(line)
	}
	return &c
}

// post adds a message. A known key adds nothing.
func (m *simpleHub) post(key string, added modelMessage) error {
	if id, known := m.keyed[key]; known && key != "" {
		if id != added.id {
			return fmt.Errorf("post %s was message %d and is %d when it is repeated", key, id, added.id)
		}
		return nil
	}
	if n := len(m.messages); n > 0 && added.id <= m.messages[n-1].id {
		return fmt.Errorf("message %d follows message %d", added.id, m.messages[n-1].id)
	}
	m.messages = append(m.messages, added)
	m.keyed[key] = added.id
	return nil
}

// sees reports whether an agent gets the message: what was posted in a room that is archived
// now, it does not get.
func (m *simpleHub) sees(a hub.AgentID, message *modelMessage) bool {
	return message.to == a || message.to == "" && !m.closed(message.channel)
}

// poll returns what an agent is to get that has read up to a message.
func (m *simpleHub) poll(a hub.AgentID, since hub.MessageID) (want []modelMessage) {
	for _, message := range m.messages {
		if message.id > since && m.sees(a, &message) {
			want = append(want, message)
		}
	}
	return want
}

// holder returns the lease of a key that is held.
func (m *simpleHub) holder(key string) (modelLease, bool) {
	l, ok := m.leases[key]
	return l, ok && m.now < l.deadline
}

// acquire is Claim and Lock. fence is that of the answer.
func (m *simpleHub) acquire(key string, a hub.AgentID, ttl int, fence hub.Fence) (want modelLease, acquired bool, err error) {
	deadline := m.now + int64(ttl)*1000
	l, held := m.holder(key)
	switch {
	case !held && fence <= max(m.settled, l.fence):
		return l, true, fmt.Errorf("the fence of %s is %d, after %d", key, fence, max(m.settled, l.fence))
	case !held:
		l = modelLease{owner: a, fence: fence, deadline: deadline}
		m.fence = max(m.fence, fence)
	case l.owner == a:
		if deadline > l.deadline {
			l.deadline = deadline
		}
	default:
		return l, false, nil
	}
	m.leases[key] = l
	return l, true, nil
}

// renew is RefreshClaim and RefreshLock.
func (m *simpleHub) renew(key string, a hub.AgentID, ttl int) (want modelLease, code hub.Code) {
	l, held := m.holder(key)
	if !held || l.owner != a {
		return l, hub.CodeNotHolder
	}
	l.deadline = m.now + int64(ttl)*1000
	m.leases[key] = l
	return l, ""
}

// release is ReleaseClaim and ReleaseLock.
func (m *simpleHub) release(key string, a hub.AgentID) hub.Code {
	l, held := m.holder(key)
	if !held || l.owner != a {
		return hub.CodeNotHolder
	}
	delete(m.leases, key)
	return ""
}

// restart is a start of the hub: holders get a moment to renew their leases.
func (m *simpleHub) restart(now int64) {
	m.now = now
	for key, l := range m.held() {
		if grace := now + hub.LeaseRestartGrace.Milliseconds(); l.deadline < grace {
			l.deadline = grace
			m.leases[key] = l
		}
	}
}

// held returns what is held, by key.
func (m *simpleHub) held() map[string]modelLease {
	out := map[string]modelLease{}
	for key := range m.leases {
		if l, held := m.holder(key); held {
			out[key] = l
		}
	}
	return out
}

// remember sets a memory, or forgets it if there is no text.
func (m *simpleHub) remember(key, text string) hub.Code {
	if _, known := m.memories[key]; text == "" && !known {
		return hub.CodeMemoryNotFound
	}
	m.memories[key] = text
	if text == "" {
		delete(m.memories, key)
	}
	return ""
}
