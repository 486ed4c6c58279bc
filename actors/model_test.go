package actors

import (
	"cmp"
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
	memories    map[string]string
	incarnation map[hub.AgentID]uint64
}

type modelMessage struct {
	id       hub.MessageID
	from, to hub.AgentID
	channel  hub.ChannelName
	body     string
}

// sees reports whether an agent gets the message.
func (m *modelMessage) sees(a hub.AgentID) bool { return m.to == "" || m.to == a }

type modelLease struct {
	owner    hub.AgentID
	fence    hub.Fence
	deadline int64 // hub time, ms
	graced   bool  // a start has extended it since it was granted or renewed
}

type modelTask struct {
	status   hub.TaskStatus
	assignee hub.AgentID
	version  int64
}

func newSimpleHub() *simpleHub {
	return &simpleHub{
		keyed: map[string]hub.MessageID{}, read: map[hub.AgentID]hub.MessageID{}, leases: map[string]modelLease{},
		waiting: map[string][]*modelWait{},
		tasks:   map[hub.TaskID]modelTask{}, memories: map[string]string{}, incarnation: map[hub.AgentID]uint64{},
	}
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

// poll returns what an agent is to get that it did not get before.
func (m *simpleHub) poll(a hub.AgentID, next hub.MessageID) (want []modelMessage) {
	for _, message := range m.messages {
		if message.id > m.read[a] && message.sees(a) {
			want = append(want, message)
		}
	}
	m.read[a] = next
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
			l.deadline, l.graced = deadline, false
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
	l.deadline, l.graced = m.now+int64(ttl)*1000, false
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

// restart is a start of the hub: holders get a moment to renew their leases, once.
func (m *simpleHub) restart(now int64) {
	m.now = now
	for key, l := range m.held() {
		if grace := now + hub.LeaseRestartGrace.Milliseconds(); l.deadline < grace && !l.graced {
			l.deadline, l.graced = grace, true
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

// move changes the status of a task as an agent.
func (m *simpleHub) move(id hub.TaskID, a hub.AgentID, to hub.TaskStatus) (want modelTask, code hub.Code) {
	t := m.tasks[id]
	before := t
	switch {
	case t.status.Terminal():
		return t, hub.CodeTaskClosed
	case t.status == to:
	case to == hub.TaskInputRequired && t.status != hub.TaskWorking:
		return t, hub.CodeInvalid
	default:
		t.status = to
	}
	if to == hub.TaskWorking && t.assignee == "" {
		t.assignee = a
	}
	if t != before {
		t.version++
	}
	m.tasks[id] = t
	return t, ""
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

// differs says how two maps differ; "" if they do not.
func differs[K cmp.Ordered, V comparable](what string, got, want map[K]V) string {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[k]; !ok || g != want[k] {
			return fmt.Sprintf("%s %v is %+v, want %+v", what, k, got[k], want[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			return fmt.Sprintf("%s %v is %+v, and should not be there", what, k, got[k])
		}
	}
	return ""
}
