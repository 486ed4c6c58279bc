package view

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Directory is the view of the live agents: their sessions, when each agent made its
// last call, and how many calls it has parked. The sessions come from committed
// records. Last calls and parked calls are kept in memory only, never journaled.
type Directory struct {
	notifier  *Notifier // for watches of the presence of an agent
	changes   *Changes
	mu        sync.RWMutex
	live      map[hub.AgentID]*presence
	sessions  map[hub.SessionID]hub.AgentID // of live sessions
	stuckTold map[hub.AgentID]hub.Time      // when the room of an agent was told that it is stuck, of the last hub.StuckTold
	channels  int64                         // how many were ever created
	// Sessions is of the bytes that live sessions take, and Channels of the channels that are
	// not archived.
	Sessions, Channels *Shares
	// creator returns who made a channel that there is.
	creator func(hub.ChannelName) (hub.AgentID, error)
	// uncounted says that the checkpoint of an earlier version does not say who made the
	// channels.
	uncounted bool
	head      core.Head // the last record in the view

	parkedMu sync.Mutex // guards what follows but MostParked; locked after mu, never before
	parked   map[hub.AgentID]parking
	waiting  int // all parked calls

	// MostParked is how many calls may wait at a time. It is set before the first call.
	MostParked int
	// oldest and latest are the ends of the list of all parked calls.
	oldest, latest *Parked
}

// Parked is a call that waits. It has a place in the list of all of them, in the
// order in which they were parked.
type Parked struct {
	agent         hub.AgentID
	kind          hub.ParkedKind
	since         hub.Time
	stream        bool // see Streams
	before, after *Parked
}

// poll reports whether a message answers the call. Watches are the polls of an
// agent's sibling.
func (p *Parked) poll() bool { return p.kind != hub.ParkedLease }

// parking counts the calls that are parked on an agent's behalf.
type parking struct {
	calls int
	polls int // of them those that a message answers; the others wait for a lease
	// streams are watches that go on by themselves, whether their agent is there or not.
	streams int
}

// presence is one live session.
type presence struct {
	session hub.Session
	seen    atomic.Int64 // wall ms of the last call
	acted   atomic.Int64 // of the last call that was no poll; 0: since the hub runs there was none
	busy    atomic.Int64 // of the first of the calls that keep the agent's seats working
	freed   atomic.Int64 // of the last time that a task of the agent ended or stopped needing it
	givenAt atomic.Int64 // of the last answer with messages to a poll of the agent
	givenID atomic.Int64 // up to which message that answer went
	woken   atomic.Int64 // of the last answer to a poll or a watch that waited
	turn    atomic.Pointer[turn]
	// waited is when calls of the agent were last parked without a break, from the
	// first to the end of the last. Guarded by the directory's parkedMu.
	waited Span
	// priorKey says that the key of the session before is still good, so that
	// the first call that proves this one must retire it.
	priorKey bool
}

// Span is a span of time.
type Span struct{ From, To hub.Time }

func newDirectory(n *Notifier, c *Changes) *Directory {
	return &Directory{
		Sessions: newShares(&core.SessionShare), Channels: newShares(&core.ChannelShare),
		notifier: n, changes: c, live: map[hub.AgentID]*presence{}, sessions: map[hub.SessionID]hub.AgentID{},
		parked: map[hub.AgentID]parking{}, stuckTold: map[hub.AgentID]hub.Time{},
	}
}

// apply takes one committed fact into the view, at a start.
func (d *Directory) apply(f core.Fact, at core.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.change(f, at)
}

// shown takes a committed record into the view, all of it at once: a snapshot
// between two of its facts would be counted twice at the next start.
func (d *Directory) shown(r *core.Record, facts []core.Fact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range facts {
		d.change(f, r.Position())
	}
	d.head = core.Head{
		Seq: r.Seq, Message: r.FirstMessage + hub.MessageID(r.MessageCount) - 1,
		Fence: r.FirstFence + hub.Fence(r.FenceCount) - 1, HubMS: max(d.head.HubMS, r.HubMS),
	}
}

// passedOver moves the head of the view over a gap of an import.
func (d *Directory) passedOver(g core.Gap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.head.Seq, d.head.Message = g.UptoSeq, g.UptoMessage
}

// change is apply with the lock held.
func (d *Directory) change(f core.Fact, at core.Position) {
	switch f := f.(type) {
	case *core.SessionStarted:
		d.put(f.Session(at), f.Prior != "")
	case *core.SessionRevived:
		d.put(f.Session, false)
		d.live[f.Session.AgentID].acted.Store(0) // a poll revives too
	case *core.SessionRenamed:
		if p := d.live[f.Agent]; p != nil {
			d.Sessions.add(f.Agent, len(f.DisplayName)-len(p.session.DisplayName))
			p.session.DisplayName = f.DisplayName
		}
	case *core.SessionEnded:
		d.drop(f.Agent)
	case *core.PriorKeyRetired:
		if p := d.live[f.Agent]; p != nil {
			p.priorKey = false
		}
	case *core.ChannelCreated:
		d.channels++
		d.Channels.add(f.CreatedBy, 1)
	case *core.ChannelDeleted: // it was archived, so that it counts for no creator
		if f.Back == nil {
			d.channels--
		} else {
			d.channels++
		}
	case *core.ChannelArchived:
		n := 1
		if f.Archived {
			n = -1
		}
		if by, err := d.creator(f.Name); err == nil {
			d.Channels.add(by, n)
		}
	}
}

func (d *Directory) put(s hub.Session, priorKey bool) {
	d.drop(s.AgentID)
	p := &presence{session: s, priorKey: priorKey}
	p.seen.Store(int64(s.LastSeen))
	p.act(s.LastSeen) // beginning a session is a call that is no poll
	d.live[s.AgentID] = p
	d.Sessions.add(s.AgentID, core.SessionBytes(&s))
	d.sessions[s.SessionID] = s.AgentID
}

func (d *Directory) drop(agent hub.AgentID) {
	if p := d.live[agent]; p != nil {
		delete(d.sessions, p.session.SessionID)
		delete(d.live, agent)
		d.Sessions.add(agent, -core.SessionBytes(&p.session))
	}
}

// row returns the presence's session as it is shown.
func (p *presence) row() hub.Session {
	s := p.session
	s.LastSeen = hub.Time(p.seen.Load())
	return s
}

// Session returns an agent's live session.
func (d *Directory) Session(agent hub.AgentID) (s hub.Session, priorKey, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.live[agent]
	if p == nil {
		return hub.Session{}, false, false
	}
	return p.row(), p.priorKey, true
}

// AgentOf returns whose live session it is.
func (d *Directory) AgentOf(id hub.SessionID) (hub.AgentID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	agent, ok := d.sessions[id]
	return agent, ok
}

// Touch notes a call of the agent; false if it has no live session.
func (d *Directory) Touch(agent hub.AgentID, now hub.Time) bool {
	return d.note(agent, now, func(*presence) {})
}

// Act is touch for a call that is no poll.
func (d *Directory) Act(agent hub.AgentID, now hub.Time) bool {
	return d.note(agent, now, func(p *presence) { p.act(now) })
}

func (d *Directory) note(agent hub.AgentID, now hub.Time, change func(*presence)) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.live[agent]
	if p == nil {
		return false
	}
	p.seen.Store(int64(now))
	change(p)
	d.Changed(agent)
	return true
}

// Changed wakes who waits for the presence of an agent.
func (d *Directory) Changed(agent hub.AgentID) {
	d.notifier.notifyWatches(func() core.Scope { return PresenceScope(agent) })
	d.changes.agent(agent)
}

func (p *presence) act(now hub.Time) {
	if before := p.acted.Swap(int64(now)); int64(now)-before > hub.SeatWorkingFor.Milliseconds() {
		p.busy.Store(int64(now))
	}
}

// free notes that a task of the agent has ended or does not need it now.
func (d *Directory) free(agent hub.AgentID, now hub.Time) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.live[agent]; p != nil {
		p.freed.Store(int64(now))
	}
}

// Woke notes that a wait of the agent was answered: its program goes on, or begins a turn.
func (d *Directory) Woke(agent hub.AgentID, now hub.Time) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.live[agent]; p != nil {
		p.woken.Store(int64(now))
	}
}

// turn is how far an agent is with its turn, as a hook has noted it.
type turn struct {
	state hub.Turn
	tool  string // with hub.TurnAtPrompt
	since hub.Time
}

// NoteTurn notes how far an agent is with its turn; false if the agent has no live
// session. What is noted again keeps its time.
func (d *Directory) NoteTurn(agent hub.AgentID, state hub.Turn, tool string, now hub.Time) bool {
	return d.note(agent, now, func(p *presence) {
		if before := p.turn.Load(); before == nil || before.state != state || before.tool != tool {
			p.turn.Store(&turn{state, tool, now})
		}
	})
}

// givenFor is the time in which a client reports, by the since_id of a call, that it
// has read the answer to a poll. The bridge takes a second.
const givenFor = 2 * time.Second

// Give notes that a poll of the agent is answered with messages up to id.
func (d *Directory) Give(agent hub.AgentID, id hub.MessageID, now hub.Time) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.live[agent]; p != nil {
		p.givenID.Store(int64(id))
		p.givenAt.Store(int64(now))
	}
}

// Given returns up to which message the agent's poll was answered in the last two
// seconds; 0 if it was not.
func (d *Directory) Given(agent hub.AgentID, now hub.Time) hub.MessageID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.live[agent]
	if p == nil || int64(now)-p.givenAt.Load() >= givenFor.Milliseconds() {
		return 0
	}
	return hub.MessageID(p.givenID.Load())
}

// touchAll notes a call of everybody: after a start all count as just seen.
func (d *Directory) touchAll(now hub.Time) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, p := range d.live {
		p.seen.Store(int64(now))
	}
}

// Agents returns the live sessions by agent id, watchers left out.
func (d *Directory) Agents(capability string) []hub.Session {
	d.mu.RLock()
	out := make([]hub.Session, 0, len(d.live))
	for agent, p := range d.live {
		if agent.Watcher() || capability != "" && !slices.Contains(p.session.Capabilities, capability) {
			continue
		}
		out = append(out, p.row())
	}
	d.mu.RUnlock()
	slices.SortFunc(out, func(a, b hub.Session) int { return cmp.Compare(a.AgentID, b.AgentID) })
	return out
}

// Page returns the first n live sessions behind an agent id that keep keeps, by
// agent id, watchers left out.
func (d *Directory) Page(behind hub.AgentID, n int, keep func(hub.AgentID, *hub.Session) bool) []hub.Session {
	found := Firsts[hub.AgentID]{N: n, Compare: cmp.Compare[hub.AgentID]}
	d.mu.RLock()
	defer d.mu.RUnlock()
	for agent, p := range d.live {
		if agent > behind && !agent.Watcher() && keep(agent, &p.session) {
			found.Add(agent)
		}
	}
	ids := found.Sorted()
	out := make([]hub.Session, len(ids))
	for i, id := range ids {
		out[i] = d.live[id].row()
	}
	return out
}

// Silent returns the sessions that were last heard of before limit and have no
// call parked, nor a watch.
func (d *Directory) Silent(limit hub.Time) []core.SessionProof {
	var out []core.SessionProof
	d.mu.RLock()
	defer d.mu.RUnlock()
	for agent, p := range d.live {
		if p.seen.Load() < int64(limit) && !d.hasParked(agent) && !d.hasParked(agent.Watch()) {
			out = append(out, core.SessionProof{Agent: agent, Incarnation: p.session.Incarnation})
		}
	}
	return out
}

// parkRetrySec is how soon a call that may not wait now may be repeated.
const parkRetrySec = 1

// repollGap is how soon after a poll the next one goes on with the same wait.
const repollGap = 5 * time.Second

// Park notes a call of caller that begins to wait on the agent's behalf; an empty agent is
// nobody in particular. The caller of Park ends the wait with Unpark. Error: too_many_polls
// beyond the limit of an agent, or of all calls of nobody. The operator's calls of nobody
// have no limit.
func (d *Directory) Park(caller *hub.Caller, agent hub.AgentID, kind hub.ParkedKind) (*Parked, error) {
	call, err := d.enter(caller, agent, kind)
	if err == nil {
		caller.Waits()
	}
	return call, err
}

func (d *Directory) enter(caller *hub.Caller, agent hub.AgentID, kind hub.ParkedKind) (*Parked, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	n := d.parked[agent]
	switch {
	case d.waiting >= d.MostParked && !caller.Operator:
		return nil, hub.Errorf(hub.CodeTooManyPolls, "%d calls already wait, as many as the hub has connections for", d.waiting).
			With("limit", d.MostParked).WithRetryAfter(parkRetrySec).
			WithFix("let some of them end, or start the hub with a higher limit of open files")
	case agent != "" && n.calls >= hub.MaxParkedPerAgent && !(caller.Operator && agent.Reserved()):
		return nil, hub.Errorf(hub.CodeTooManyPolls, "agent %s already has %d calls waiting", agent, hub.MaxParkedPerAgent).
			With("limit", hub.MaxParkedPerAgent).WithRetryAfter(parkRetrySec).
			WithFix("let one of them end, or use an agent id of its own for every process")
	case agent == "" && !caller.Operator && n.calls >= hub.MaxParkedOfNobody:
		return nil, hub.Errorf(hub.CodeTooManyPolls, "%d calls that name no agent already wait", n.calls).
			With("limit", hub.MaxParkedOfNobody).WithRetryAfter(parkRetrySec).
			WithFix("wait for the events of your agent, prove its session, or let one of those calls end")
	}
	now := hub.TimeOf(time.Now())
	if p := d.live[agent]; p != nil && n.calls == 0 {
		if now-p.waited.To > hub.Time(repollGap.Milliseconds()) || p.acted.Load() > int64(p.waited.To) {
			p.waited.From = now
		}
	}
	call := &Parked{agent: agent, kind: kind, since: now, before: d.latest}
	n.calls++
	if call.poll() {
		n.polls++
	}
	d.parked[agent] = n
	d.waiting++
	if d.latest == nil {
		d.oldest = call
	} else {
		d.latest.after = call
	}
	d.latest = call
	d.Changed(agent)
	return call, nil
}

// Streams marks a parked watch as one that goes on by itself.
func (d *Directory) Streams(call *Parked) {
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	n := d.parked[call.agent]
	n.streams++
	d.parked[call.agent], call.stream = n, true
}

// Unpark ends the wait of a call.
func (d *Directory) Unpark(call *Parked) {
	agent := call.agent
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	d.waiting--
	if call.before == nil {
		d.oldest = call.after
	} else {
		call.before.after = call.after
	}
	if call.after == nil {
		d.latest = call.before
	} else {
		call.after.before = call.before
	}
	n := d.parked[agent]
	n.calls--
	if call.poll() {
		n.polls--
	}
	if call.stream {
		n.streams--
	}
	if n.calls > 0 {
		d.parked[agent] = n
		return
	}
	delete(d.parked, agent)
	if p := d.live[agent]; p != nil {
		p.waited.To = hub.TimeOf(time.Now())
	}
	d.Changed(agent)
}

// ParkedCalls returns the calls that have waited longest, at most limit, and how many
// wait in all. A watch counts for its agent.
func (d *Directory) ParkedCalls(limit int) (calls []hub.ParkedCall, all int) {
	calls = []hub.ParkedCall{}
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	for p := d.oldest; p != nil && len(calls) < limit; p = p.after {
		agent := p.agent
		if p.kind == hub.ParkedWatch {
			agent = hub.AgentID(strings.TrimSuffix(string(agent), hub.WatchSuffix))
		}
		calls = append(calls, hub.ParkedCall{Kind: p.kind, AgentID: agent, Since: p.since})
	}
	return calls, d.waiting
}

func (d *Directory) hasParked(agent hub.AgentID) bool {
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	return d.parked[agent].calls > 0
}

// Counts returns how many sessions are live, how many channels were created and
// how many calls are parked.
func (d *Directory) Counts() (sessions int, channels int64, parked int) {
	d.mu.RLock()
	sessions, channels = len(d.live), d.channels
	d.mu.RUnlock()
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	return sessions, channels, d.waiting
}
