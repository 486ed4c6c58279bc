package actors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing/synctest"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// modelThemes are kinds of calls that get in each other's way.
var modelThemes = [][]string{
	{"claim", "claim", "refresh", "release", "wait"},
	{"lock", "lock", "unlock", "wait"},
	{"say", "tell", "repeat", "poll"},
	{"repeat"},
	{"shout", "shout", "archive", "close", "bring", "reopen", "poll"},
	{"build", "build", "close", "reopen"},
	{"remember", "remember", "forget"},
	{"keep"},
	{"accept", "accept", "accept", "revoke"},
	{"register", "accept"},
	{"work", "work", "ask", "finish", "cancel", "fail"},
	{"open", "run", "join", "join", "start", "finish", "cancel"},
	{"start", "join", "finish"},
}

// drawTogether draws two to four calls that come at once. If a crash is to cut them off, none
// of them waits, and none lets another agent have what it waits for.
func drawTogether(t *rapid.T, cut bool) []call {
	theme := rapid.SampledFrom(modelThemes).Draw(t, "theme")
	if cut {
		theme = slices.DeleteFunc(slices.Clone(theme), func(kind string) bool { return kind == "wait" || kind == "release" || kind == "unlock" })
	}
	waits := map[hub.AgentID]bool{}
	calls := make([]call, rapid.IntRange(2, 4).Draw(t, "calls"))
	for i := range calls {
		c := call{
			Kind: rapid.SampledFrom(theme).Draw(t, "kind"), Agent: drawAgent(t),
			Which: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "which"), N: drawNumber(t),
		}
		if waits[c.Agent] && c.Kind == "wait" {
			c.Kind = "claim" // nothing shows which of two waits of one agent came first
		}
		calls[i], waits[c.Agent] = c, waits[c.Agent] || c.Kind == "wait"
	}
	return calls
}

// made is a call that has been made.
type made struct {
	call  call
	judge judge
	heard bool // its answer came before the hub lost its power
}

// ask makes calls at once. It returns when each is answered, is parked or rests on records that
// are not stored yet.
func (p *player) ask(calls []call) []*made {
	all := make([]*made, len(calls))
	for i, c := range calls {
		one := &made{call: c}
		all[i] = one
		go func() {
			judge := p.call(context.Background(), c)
			one.judge, one.heard = judge, true
		}()
	}
	synctest.Wait()
	return all
}

// gated lets the store take only some more groups of records until open is called.
func (s *memStore) gated(groups int) (open func()) {
	free := make(chan struct{}, groups)
	for range groups {
		free <- struct{}{}
	}
	hold := func(on func(*core.Group)) {
		s.mu.Lock()
		s.onAppend = on
		s.mu.Unlock()
	}
	hold(func(*core.Group) { <-free })
	return sync.OnceFunc(func() {
		close(free)
		hold(nil)
	})
}

// together makes calls at once. Some order of them must explain all answers, and all that can be
// read afterwards. The hub decides them while the store takes N more groups of records, so that
// some answers rest on records that are not stored yet.
func (p *player) together(c call) error {
	open := p.r.store.gated(c.N)
	calls := p.ask(c.Calls)
	open()
	synctest.Wait()
	if err := unanswered(calls); err != nil {
		return err
	}
	read, err := p.look(context.Background())
	if err != nil {
		return err
	}
	return p.explain(calls, func(m *simpleHub) error { return errors.Join(m.early(), m.shows(read)) })
}

// cut makes calls at once, and the hub loses its power after N groups of records. A call that was
// answered before has happened. Each of the others has happened or not. The hub goes on without
// power and answers them too: no agent hears that, but it says how a call that is stored happened.
func (p *player) cut(c call) error {
	before := p.r.engine.Clock.Now().HubMS
	open := p.r.store.gated(c.N)
	calls := p.ask(c.Calls)
	var heard []bool
	for _, one := range calls {
		heard = append(heard, one.heard)
	}
	left := p.r.store.restarted()
	open()
	synctest.Wait()
	if err := p.r.stopQuietly(); err != nil {
		return err
	}
	synctest.Wait()
	if err := unanswered(calls); err != nil {
		return err
	}
	for i, one := range calls {
		one.heard = heard[i]
	}
	if err := p.cutOff(true); err != nil {
		return err
	}
	now, read, err := p.startAgain(left, before, true)
	if err != nil {
		return err
	}
	return p.explain(calls, func(m *simpleHub) error {
		m.restart(now)
		for _, l := range m.held() {
			m.fence = max(m.fence, l.fence)
		}
		return m.shows(read)
	})
}

// unanswered reports a call that has no answer.
func unanswered(calls []*made) error {
	for _, one := range calls {
		if !one.heard {
			return fmt.Errorf("%+v has no answer", one.call)
		}
	}
	return nil
}

// explain looks for an order of the calls that explains all answers and what can be read, and
// makes the model what it is then.
func (p *player) explain(calls []*made, fits func(*simpleHub) error) error {
	p.keys = map[string]int{}
	defer func() { p.keys = nil }()
	for _, c := range calls {
		if c.call.Kind == "repeat" {
			p.keys[c.call.key()]++
		}
	}
	calls = slices.DeleteFunc(calls, func(c *made) bool { return c.judge == nil })
	m, why := p.m.explain(calls, fits)
	if m == nil {
		text := "no order of these calls explains what was answered and read:"
		for _, c := range calls {
			text += fmt.Sprintf("\n%+v, heard %v: by itself %v", c.call, c.heard, c.judge(p.m.clone()))
		}
		return fmt.Errorf("%s\nthe last order fails so: %w", text, why)
	}
	p.m = m
	return nil
}

// explain returns the model after the calls in an order that fits. If there is none, it returns
// nil and what is wrong with the last order. A call that was not heard may be left out.
func (m *simpleHub) explain(calls []*made, fits func(*simpleHub) error) (after *simpleHub, why error) {
	if !slices.ContainsFunc(calls, func(c *made) bool { return c.heard }) {
		after := m.clone()
		if why = fits(after); why == nil {
			return after, nil
		}
	}
	for i, c := range calls {
		next := m.clone()
		err := c.judge(next)
		if !c.heard { // whether it has happened may show nowhere, and its numbers may be given again
			next.fence, next.read, next.incarnation = m.fence, maps.Clone(m.read), maps.Clone(m.incarnation)
		}
		if err == nil {
			if after, err = next.explain(slices.Concat(calls[:i], calls[i+1:]), fits); after != nil {
				return after, nil
			}
		}
		why = err
	}
	return nil, why
}
