package guard

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Options are the parts of the hub that the package uses. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Log    *slog.Logger
	// Ask asks the operator about agents that are stopped, once while they are.
	Ask func(context.Context, core.Loop) error
	// Stopped returns the questions about agents that are stopped, as stored.
	Stopped func() ([]core.StoredAsk, error)
}

// Guard watches what agents post to each other.
type Guard struct {
	view    *view.View
	engine  *engine.Engine
	log     *slog.Logger
	ask     func(context.Context, core.Loop) error
	stopped func() ([]core.StoredAsk, error)

	mu     sync.Mutex
	chains *chains
	stops  map[place]stop     // bounded by the questions that the system may have open
	due    map[place]struct{} // chains to be looked at
	news   chan struct{}      // there are some; capacity 1
}

// stop is a question to the operator that is open, or was answered with keeping apart.
type stop struct {
	ask    hub.AskID
	agents []hub.AgentID
	until  int64 // in hub ms, of an answered question; 0: it is open
}

// New returns the guard of a hub. The engine need not run yet.
func New(o Options) *Guard {
	return &Guard{
		view: o.View, engine: o.Engine, log: o.Log, ask: o.Ask, stopped: o.Stopped,
		chains: newChains(), stops: map[place]stop{}, due: map[place]struct{}{}, news: make(chan struct{}, 1),
	}
}

// Restore takes what an earlier process has stopped.
func (g *Guard) Restore() error {
	rows, err := g.stopped()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range rows {
		g.take(&rows[i])
	}
	return err
}

// take keeps a question about a loop. The caller holds the mutex.
func (g *Guard) take(row *core.StoredAsk) {
	if l := row.Loop; l != nil {
		g.stops[placeOfLoop(l)] = stop{ask: row.Ask.AskID, agents: l.Agents, until: row.ApartMS}
	}
}

func placeOfLoop(l *core.Loop) place {
	switch {
	case l.Channel == "" && len(l.Agents) >= maxAgents:
		return ringOf(l.Agents)
	case l.Channel == "":
		return placeOf(l.Agents[0], l.Agents[len(l.Agents)-1], "", "")
	}
	return placeOf("", "", l.Channel, l.Thread)
}

// Post is one post on its way. The zero Post passes always.
type Post struct {
	guard  *Guard
	place  place
	turn   turn
	limits limits
	state  postState
	// ring is that of which the post is a part, with limits of its own; the zero place: none.
	ring       place
	ringLimits limits
}

type postState uint8

const (
	postNew postState = iota
	postEntered
	postLeft
)

// Begin begins a post of an agent that asks for no work. The owner of the message then
// calls Enter when it decides, and the caller calls Leave after it. What shows progress and
// what the operator says is never looked at.
func (g *Guard) Begin(m *core.MessageDraft) *Post {
	if m.From.Reserved() || m.To.Reserved() {
		return &Post{}
	}
	p := &Post{guard: g, place: placeOf(m.From, m.To, m.Channel, m.Thread), turn: turn{from: m.From, to: m.To, replyTo: m.ReplyTo}}
	if !g.watched(p.place) {
		return &Post{}
	}
	g.mu.Lock()
	ch, known := g.chains.known.Get(p.place)
	_, held := g.stops[p.place]
	looks := held || known && ch.hops >= hub.MinGuardHops
	if m.To != "" {
		p.ring = g.ringOfPost(m.From, m.To)
	}
	g.mu.Unlock()
	if p.ring.ring != "" {
		p.ringLimits = g.limits(p.ring)
	}
	p.limits = usual
	if looks { // a chain without so many hops is never slowed or stopped, and most have few
		p.limits = g.limits(p.place)
	}
	if looks || p.ring.ring != "" {
		p.turn.words = wordsOf(m)
	}
	return p
}

// ringOfPost returns the place of the ring of which a post is a part: one that is stopped, or
// one whose baton it would hand on. The zero place: there is none that could be stopped.
func (g *Guard) ringOfPost(from, to hub.AgentID) place {
	for p, s := range g.stops {
		if p.ring != "" && slices.Contains(s.agents, from) && slices.Contains(s.agents, to) {
			return p
		}
	}
	b := g.chains.handing(from, to, g.engine.Clock.Now().HubMS)
	if b == nil || b.hops < hub.MinGuardHops || len(b.agents) < maxAgents {
		return place{}
	}
	return b.place()
}

// Enter refuses the post, or counts it as under way. Errors: slowed, loop_stopped.
func (p *Post) Enter(now core.Now) error {
	if p.guard == nil {
		return nil
	}
	g := p.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if s, held := g.held(p.place, now.HubMS); held && s.binds(p.limits) && slices.Contains(s.agents, p.turn.from) {
		return errStopped(s, now)
	}
	if err := p.enterRing(now); err != nil {
		return err
	}
	v := g.chains.enter(p.place, &p.turn, now.HubMS, p.limits)
	if err := g.refuse(p.place, v, now); err != nil {
		return err
	}
	if p.state == postLeft { // its caller has gone
		g.chains.leave(p.place, p.turn.from)
		return nil
	}
	p.state = postEntered
	return nil
}

// enterRing refuses the post if the ring of which it is a part is slowed or stopped. The caller
// holds the mutex.
func (p *Post) enterRing(now core.Now) error {
	if p.ring.ring == "" {
		return nil
	}
	g := p.guard
	if s, held := g.held(p.ring, now.HubMS); held && s.binds(p.ringLimits) {
		return errStopped(s, now)
	}
	return g.refuse(p.ring, g.chains.enterRing(p.ring, &p.turn, now.HubMS, p.ringLimits), now)
}

// refuse returns the error of a verdict about a post at a place, nil if it passes. The caller
// holds the mutex.
func (g *Guard) refuse(p place, v verdict, now core.Now) error {
	switch {
	case v.stop:
		g.look(p)
		return errStopped(stop{agents: g.chains.at(p, now.HubMS).sorted()}, now)
	case v.wait > 0:
		return errSlowed(g.chains.at(p, now.HubMS).sorted(), v)
	}
	return nil
}

// binds reports whether a stop holds where these limits do. Posts are refused only where the
// operator wants that, by an answer to the question or by a setting.
func (s *stop) binds(l limits) bool { return l.stop > 0 || l.watched() && s.until != 0 }

// held returns what stops a place now.
func (g *Guard) held(p place, now int64) (stop, bool) {
	s, held := g.stops[p]
	if held && s.until != 0 && s.until <= now {
		delete(g.stops, p)
		held = false
	}
	return s, held
}

// Leave ends the post. It may be called although Enter was not.
func (p *Post) Leave() {
	if p.guard == nil {
		return
	}
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	if p.state == postEntered {
		p.guard.chains.leave(p.place, p.turn.from)
	}
	p.state = postLeft
}

// errSlowed asks the agent to wait, and says which posts need not.
func errSlowed(agents []hub.AgentID, v verdict) error {
	sec := int((v.wait + 999) / 1000)
	text := "%s have posted to each other many times, and fast, without a task, a decision or an artifact between, so the hub slows them down"
	if v.why == whyRepeats {
		text = "%s repeat nearly the same words to each other, without a task, a decision or an artifact between, so the hub slows these words down; a post that says something new passes"
	}
	e := hub.Errorf(hub.CodeSlowed, text, named(agents)).With("agents", agents).With("retry_after", sec).WithRetryAfter(sec)
	if v.why != "" {
		e = e.With("why", string(v.why))
	}
	return e
}

// named lists agents in words.
func named(agents []hub.AgentID) string {
	if len(agents) < 2 {
		return "these agents"
	}
	l := core.Loop{Agents: agents}
	return l.Names()
}

// errStopped says that the operator decides.
func errStopped(s stop, now core.Now) error {
	if s.until != 0 {
		return hub.Errorf(hub.CodeLoopStopped, "the operator keeps %s apart here for a time", named(s.agents)).
			With("agents", s.agents).With("ask_id", s.ask).With("until", now.Wall+hub.Time(s.until-now.HubMS))
	}
	e := hub.Errorf(hub.CodeLoopStopped, "%s have posted to each other more times without a task, a decision or an artifact between than the operator wants here, and the operator is asked whether they may go on", named(s.agents)).
		With("agents", s.agents)
	if s.ask != "" {
		e = e.With("ask_id", s.ask)
	}
	return e
}

// Shown learns from a committed record which agents have posted or shown progress.
func (g *Guard) Shown(r *core.Record, facts []core.Fact) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kind := r.Owner.Kind
	switch {
	case kind == core.OwnerAgent, kind == core.OwnerChannel, kind == core.OwnerTasks && len(facts) == 0:
		// A message about a task of which nothing changes is a word like any other.
		for i := range r.Messages {
			g.posted(&r.Messages[i], r.HubMS)
		}
		return
	case kind == core.OwnerAsks:
		g.asked(r, facts)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.From == hub.AgentOperator || kind == core.OwnerTasks && m.From != hub.AgentSystem {
			g.chains.progress(m.From)
			g.chains.progress(m.To)
		}
		if m.To == "" && m.From != hub.AgentSystem { // a task, decision or artifact
			g.chains.interrupt(placeOf("", "", m.Channel, m.Thread))
		}
	}
	g.progress(r, facts)
}

// watched reports whether turns at a place count: in direct messages and in rooms. Other
// channels are also what programs post to that agree on something in many small steps.
func (g *Guard) watched(p place) bool { return p.channel == "" || g.view.RoomOf(p.channel) != "" }

// leastTold has the fewest turns after which agents are told.
var leastTold = limits{tell: hub.MinGuardHops / 2}

// posted counts a message that shows no progress.
func (g *Guard) posted(m *core.StoredMessage, now int64) {
	p := placeOf(m.From, m.To, m.Channel, m.Thread)
	switch {
	case m.From == hub.AgentOperator:
		g.chains.progress(m.To)
		g.chains.interrupt(p)
	case m.From.Reserved() || m.To.Reserved() || !g.watched(p):
	default:
		t := &turn{from: m.From, to: m.To, words: wordsOfStored(m), id: m.ID, replyTo: m.ReplyTo()}
		if m.To != "" {
			if b := g.chains.handed(t, now); b != nil && b.hops >= leastTold.of(&b.chain).tell {
				g.look(b.place())
			}
		}
		if g.chains.posted(p, t, now) >= leastTold.tell {
			g.look(p)
		}
	}
}

// look has Serve look at a chain. The caller holds the mutex.
func (g *Guard) look(p place) {
	g.due[p] = struct{}{}
	select {
	case g.news <- struct{}{}:
	default:
	}
}

// asked learns which agents are stopped, and what the operator has answered. An answer
// begins a new chain.
func (g *Guard) asked(r *core.Record, facts []core.Fact) {
	for _, f := range facts {
		switch f := f.(type) {
		case *core.Asked:
			g.take(&core.StoredAsk{Ask: hub.Ask{AskID: f.ID(r.Position())}, Loop: f.Loop})
		case *core.AskAnswered:
			g.settle(f.Ask, core.ApartUntil(f.Answer, r.Position()))
		case *core.AskWithdrawn:
			g.settle(f.Ask, 0)
		case *core.AskExpired:
			g.settle(f.Ask, 0)
		}
	}
}

// settle ends a stop, or keeps it until a time.
func (g *Guard) settle(id hub.AskID, until int64) {
	for p, s := range g.stops {
		if s.ask != id {
			continue
		}
		g.chains.interrupt(p)
		if s.until = until; until == 0 {
			delete(g.stops, p)
		} else {
			g.stops[p] = s
		}
	}
}

// progress learns from the facts of a record which agents have done something.
func (g *Guard) progress(r *core.Record, facts []core.Fact) {
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseGranted:
			g.chains.progress(f.Agent)
		case *core.LeaseReleased:
			g.chains.progress(f.Agent)
		case *core.DecisionAdded:
			g.chains.progress(f.By)
		case *core.ArtifactAdded:
			g.chains.progress(f.By)
		case *core.MemoryRemembered:
			g.chains.progress(f.By)
		case *core.RunStarted:
			g.chains.progress(f.CreatedBy)
		}
	}
	if r.Owner.Kind == core.OwnerTasks {
		g.worked(r)
	}
}

// worked notes progress of the agents whose tasks a record has changed.
func (g *Guard) worked(r *core.Record) {
	if g.chains.known.Len() == 0 {
		return
	}
	for i := range r.Rows {
		var row core.StoredTask
		if r.Rows[i].Table != core.TableTask || json.Unmarshal(r.Rows[i].Value, &row) != nil {
			continue
		}
		g.chains.progress(row.Task.CreatedBy)
		if row.Task.Assignee != nil {
			g.chains.progress(*row.Task.Assignee)
		}
	}
}
