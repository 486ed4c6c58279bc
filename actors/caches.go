package actors

import (
	"sync"

	"hubcli/hub"
	"hubcli/internal/bounded"
)

// knownChannels remembers channels that exist. One that is deleted is forgotten.
type knownChannels struct {
	mu    sync.Mutex
	names *bounded.Map[hub.ChannelName, struct{}]
}

const channelsRemembered = 4096

func newKnownChannels() *knownChannels {
	return &knownChannels{names: bounded.New[hub.ChannelName, struct{}](channelsRemembered)}
}

func (k *knownChannels) forget(name hub.ChannelName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names.Delete(name)
}

// idleAgents remembers agents that have called without a session to revive, and when
// each called last, so that not each of their calls reads the store. It forgets an
// agent that registers.
type idleAgents struct {
	mu     sync.Mutex
	agents *bounded.Map[hub.AgentID, hub.Time]
}

const idleRemembered = 4096

func newIdleAgents() *idleAgents {
	return &idleAgents{agents: bounded.New[hub.AgentID, hub.Time](idleRemembered)}
}

// heard notes a call of a known agent.
func (i *idleAgents) heard(a hub.AgentID, now hub.Time) (known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, known = i.agents.Get(a); known {
		i.agents.Put(a, now)
	}
	return known
}

// last returns when an agent without a session called last; 0: unknown.
func (i *idleAgents) last(a hub.AgentID) hub.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	at, _ := i.agents.Get(a)
	return at
}

func (i *idleAgents) remember(a hub.AgentID, now hub.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.agents.Put(a, now)
}

func (i *idleAgents) forget(a hub.AgentID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.agents.Delete(a)
}
