package actors

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"hubcli/hub"
)

// modelWait is a claim or lock that waits for its key, or has waited.
type modelWait struct {
	agent hub.AgentID
	key   string
	ttl   int
	until int64 // hub time, ms
	got   atomic.Pointer[modelGrant]
}

// modelGrant is the answer to a claim or lock that has waited.
type modelGrant struct {
	grant hub.Grant[hub.Claim]
	err   error
	at    int64 // hub time, ms
}

// answer is the answer of the hub, which must be there.
func (w *modelWait) answer() modelGrant {
	if got := w.got.Load(); got != nil {
		return *got
	}
	return modelGrant{err: fmt.Errorf("%s still waits for %s", w.agent, w.key)}
}

// advance lets the time go on up to now. Leases end at their deadlines, and then those waits
// whose time is over.
func (m *simpleHub) advance(now int64) error {
	for {
		m.now = math.MaxInt64
		for key, line := range m.waiting {
			m.now = min(m.now, m.leases[key].deadline)
			for _, w := range line {
				m.now = min(m.now, w.until)
			}
		}
		if m.now > now {
			m.now = now
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(m.waiting)) {
			if err := m.serve(key); err != nil {
				return err
			}
			for _, w := range slices.Clone(m.waiting[key]) {
				if w.until > m.now {
					continue
				}
				if err := m.conclude(w); err != nil {
					return err
				}
			}
		}
	}
}

// serve grants a key that may be free to those who have waited longest. The holder of a key
// does not wait for it.
func (m *simpleHub) serve(key string) error {
	for line := m.waiting[key]; len(line) > 0; line = m.waiting[key] {
		next := 0
		if l, held := m.holder(key); held {
			next = slices.IndexFunc(line, func(w *modelWait) bool { return w.agent == l.owner })
		}
		if next < 0 {
			return nil
		}
		if err := m.conclude(line[next]); err != nil {
			return err
		}
	}
	return nil
}

// conclude ends a wait: the hub has decided then as if the call had come at that moment.
func (m *simpleHub) conclude(w *modelWait) error {
	m.leave(w)
	got := w.answer()
	if err := answered(got.err, ""); err != nil {
		return err
	}
	if got.at != m.now {
		return fmt.Errorf("%s waited for %s until %d ms, want %d", w.agent, w.key, got.at, m.now)
	}
	g := got.grant
	want, acquired, err := m.acquire(w.key, w.agent, w.ttl, g.Row.Fence)
	if err != nil {
		return err
	}
	if err := granted(g.Acquired, acquired, g.Row.OwnerAgentID, g.Row.Fence, want); err != nil {
		return fmt.Errorf("%s waited for %s: %w", w.agent, w.key, err)
	}
	return nil
}

// reaches reports whether an agent waits for another one, also by way of others.
func (m *simpleHub) reaches(from, to hub.AgentID, seen map[hub.AgentID]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	for key, line := range m.waiting {
		l, held := m.holder(key)
		waits := slices.ContainsFunc(line, func(w *modelWait) bool { return w.agent == from })
		if held && waits && m.reaches(l.owner, to, seen) {
			return true
		}
	}
	return false
}

func (m *simpleHub) leave(w *modelWait) {
	line := slices.DeleteFunc(m.waiting[w.key], func(o *modelWait) bool { return o == w })
	if m.waiting[w.key] = line; len(line) == 0 {
		delete(m.waiting, w.key)
	}
}

// waits returns how many calls of an agent wait.
func (m *simpleHub) waits(a hub.AgentID) (n int) {
	for _, line := range m.waiting {
		for _, w := range line {
			if w.agent == a {
				n++
			}
		}
	}
	return n
}

// lines returns the agents that wait for each key, in their order.
func (m *simpleHub) lines() map[string]string {
	all := map[string]string{}
	for key, line := range m.waiting {
		var agents []hub.AgentID
		for _, w := range line {
			agents = append(agents, w.agent)
		}
		all[key] = fmt.Sprint(agents)
	}
	return all
}

// wait claims a key or locks a file and waits for it, up to N seconds.
func (p *player) wait(ctx context.Context, c call) judge {
	key, sec := fmt.Sprint("key-", c.Which), min(c.N, hub.MaxWaitSec)
	w := &modelWait{agent: c.Agent, key: "claim " + key, ttl: 1 + c.N%7, until: p.m.now + int64(sec)*1000}
	ask := func() (hub.Grant[hub.Claim], error) {
		return p.r.Claim(ctx, hub.ClaimInput{OwnerAgentID: w.agent, ClaimKey: hub.ClaimKey(key), TTLSec: w.ttl, WaitSec: float64(sec)})
	}
	if c.N%2 == 0 {
		path := fmt.Sprint("/src/file-", c.Which)
		w.key = "lock " + path
		ask = func() (hub.Grant[hub.Claim], error) {
			g, err := p.r.Lock(ctx, hub.LockInput{AgentID: w.agent, FilePath: path, TTLSec: w.ttl, WaitSec: float64(sec)})
			return hub.Grant[hub.Claim]{Acquired: g.Acquired, Circle: g.Circle, Row: hub.Claim{OwnerAgentID: g.Row.AgentID, Fence: g.Row.Fence}}, err
		}
	}
	go func() {
		g, err := ask()
		w.got.Store(&modelGrant{g, err, p.r.engine.Clock.Now().HubMS})
	}()
	return func(m *simpleHub) error {
		l, held := m.holder(w.key)
		switch {
		case !held || l.owner == w.agent:
			return m.conclude(w)
		case m.waits(w.agent) >= hub.MaxParkedPerAgent:
			return answered(w.answer().err, hub.CodeTooManyPolls)
		case m.reaches(l.owner, w.agent, map[hub.AgentID]bool{}):
			if got := w.answer(); got.err == nil && len(got.grant.Circle) < 2 {
				return fmt.Errorf("%s closes a circle with %s, and is answered %+v", w.agent, w.key, got.grant)
			}
			return m.conclude(w)
		}
		m.waiting[w.key] = append(m.waiting[w.key], w)
		return nil
	}
}

// pass lets some time go by.
func (p *player) pass(d time.Duration) error {
	time.Sleep(d)
	synctest.Wait() // what is due at this very moment is done
	return p.m.advance(p.r.engine.Clock.Now().HubMS)
}

// early reports a wait that has ended before its time.
func (m *simpleHub) early() error {
	for _, line := range m.waiting {
		for _, w := range line {
			if got := w.got.Load(); got != nil {
				return fmt.Errorf("%s is to wait for %s, and got %+v", w.agent, w.key, *got)
			}
		}
	}
	return nil
}

// cutOff ends all waits with the hub: at a clean stop they are decided with the leases as they
// are. Nobody gets one that another agent holds.
func (p *player) cutOff(crash bool) error {
	for _, key := range slices.Sorted(maps.Keys(p.m.waiting)) {
		for _, w := range slices.Clone(p.m.waiting[key]) {
			if !crash {
				if err := p.m.conclude(w); err != nil {
					return err
				}
				continue
			}
			p.m.leave(w) // what the hub said that has lost its power, nobody heard
			if err := w.answer().err; err != nil && codeOf(err) == "" {
				return err
			}
		}
	}
	return nil
}
