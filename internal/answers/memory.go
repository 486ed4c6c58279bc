// Package answers shares memory among the answers that are under way. A client that does not
// read its answer keeps it in memory for as long as the hub bears it; thousands of them would
// keep gigabytes. One agent may have a quarter of the memory, so that it takes it from no
// other.
//
// All methods may be called from any goroutine. Nobody waits for memory: an answer gets less,
// or is refused.
package answers

import (
	"sync"

	"hubcli/hub"
)

// Small is the length of an answer, in bytes, up to which it need not count.
const Small = 64 << 10

// Rows bounds the rows of one answer, in bytes of JSON; one row may be longer.
const Rows = 2 << 20

// Memory counts the bytes of answers, in all and by agent. Calls that name no agent count as
// one agent.
type Memory struct {
	mu   sync.Mutex
	used int64
	of   map[hub.AgentID]int64 // agents that have none are not in it
}

// Left returns how many bytes an agent may take of a memory of that size; it can be less
// than 0.
func (m *Memory) Left(agent hub.AgentID, size int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left(agent, size)
}

func (m *Memory) left(agent hub.AgentID, size int64) int64 {
	return min(size-m.used, size/4-m.of[agent])
}

// Take takes bytes for an answer to an agent, of a memory of that size. An answer that would
// be the only one is never refused.
func (m *Memory) Take(agent hub.AgentID, bytes, size int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used > 0 && bytes > m.left(agent, size) {
		return false
	}
	m.add(agent, bytes)
	return true
}

// Add takes bytes whatever is left, or gives them back if they are less than 0.
func (m *Memory) Add(agent hub.AgentID, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(agent, bytes)
}

func (m *Memory) add(agent hub.AgentID, bytes int64) {
	if bytes == 0 {
		return
	}
	if m.of == nil {
		m.of = map[hub.AgentID]int64{}
	}
	m.used += bytes
	if m.of[agent] += bytes; m.of[agent] == 0 {
		delete(m.of, agent)
	}
}

// Of returns the agent to which the answer of a call counts.
func Of(c *hub.Caller) hub.AgentID {
	if c.Operator {
		return hub.AgentOperator
	}
	return c.Acts
}

// Full is the error of an answer for which there is no memory left. size is that of the
// memory, in bytes.
func Full(size int64) error {
	return hub.NewError(hub.CodeOverloaded, "answers that are not read yet take all the memory that there is for answers, or your part of it").
		With("limit", size).With("limit_of_an_agent", size/4).WithRetryAfter(1).
		WithFix("read your answers as they come, and send the same call again after the time in Retry-After")
}
