package asleep

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// How many agents are kept and shown, and for how long.
const (
	maxAgents  = 1_000          // agents that are kept
	maxShown   = 100            // agents that Agents returns
	maxDerived = 10_000         // messages that a start looks at
	listedFor  = 24 * time.Hour // how long an agent is shown after its first unread message
)

// Options are the parts of the hub that the package uses. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Rows   core.Rows
	Log    *slog.Logger
	// LastCall returns the time of the last call of an agent without a session;
	// 0: unknown.
	LastCall func(hub.AgentID) hub.Time
	// Recipient says whether an agent would notice a message now.
	Recipient func(hub.AgentID) (hub.Recipient, error)
	// Nobody reports that no agent has ever registered under an id, and that none acts under it.
	Nobody func(hub.AgentID) (bool, error)
}

// Asleep knows the agents that got direct messages lately.
type Asleep struct {
	view      *view.View
	engine    *engine.Engine
	rows      core.Rows
	log       *slog.Logger
	lastCall  func(hub.AgentID) hub.Time
	recipient func(hub.AgentID) (hub.Recipient, error)
	nobody    func(hub.AgentID) (bool, error)
	started   hub.Time // by the wall clock: nobody could call before

	mu     sync.Mutex
	agents map[hub.AgentID]entry
	news   chan struct{} // an agent is to be looked at; capacity 1
}

// entry is an agent that has got a direct message.
type entry struct {
	due   hub.Time // when it is looked at; 0: it is asleep, and its room was told
	since hub.Time // of an agent that is asleep: its first unread message
}

// New returns an Asleep of a hub that starts now. The engine may start later.
func New(o Options) *Asleep {
	return &Asleep{
		view: o.View, engine: o.Engine, rows: o.Rows, log: o.Log, lastCall: o.LastCall, recipient: o.Recipient, nobody: o.Nobody,
		started: o.Engine.Clock.Now().Wall, agents: map[hub.AgentID]entry{}, news: make(chan struct{}, 1),
	}
}

// after is hub.AsleepAfter in hub time.
const after = hub.Time(hub.AsleepAfter / time.Millisecond)

// Shown learns from a committed record which agents got direct messages.
func (s *Asleep) Shown(r *core.Record, _ []core.Fact) {
	for i := range r.Messages {
		if m := &r.Messages[i]; s.wakes(m) {
			s.note(m.To, m.TS+after)
		}
	}
}

// wakes reports whether the recipient of a message should be woken by it. Notices of
// the system and what an agent writes to itself ask nothing, and neither do trials of adapters.
func (s *Asleep) wakes(m *core.StoredMessage) bool {
	return m.To != "" && m.To != m.From && !m.To.Reserved() && !m.To.Watcher() && !m.To.Trial() && !m.Whole && s.view.AsksOf(m, m.To, "")
}

// note has an agent looked at, unless that is to happen anyway. It does not wait.
func (s *Asleep) note(agent hub.AgentID, due hub.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.agents[agent]
	if known && e.due != 0 || !known && !s.room() {
		return // an agent beyond the bound is looked at with a later message
	}
	s.agents[agent] = entry{due: due}
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// room makes room for one more agent: it forgets the one that has been asleep longest.
// It returns false if all are still to be looked at. The caller holds the mutex.
func (s *Asleep) room() bool {
	if len(s.agents) < maxAgents {
		return true
	}
	var oldest hub.AgentID
	for agent, e := range s.agents {
		if e.due == 0 && (oldest == "" || e.since < s.agents[oldest].since) {
			oldest = agent
		}
	}
	delete(s.agents, oldest)
	return oldest != ""
}

// Serve looks at agents when they are due, until quit is closed.
func (s *Asleep) Serve(quit <-chan struct{}) {
	s.derive()
	timer := time.NewTimer(hub.AsleepAfter)
	defer timer.Stop()
	for {
		now := s.engine.Clock.Now().Wall
		timer.Stop()
		if next := s.next(); next != 0 {
			timer.Reset(view.Span{From: now, To: next}.Length())
		}
		select {
		case <-s.news:
		case <-timer.C:
			for _, agent := range s.taken(s.engine.Clock.Now().Wall) {
				s.tend(agent)
			}
		case <-quit:
			return
		}
	}
}

// derive notes the agents that an earlier process may have left unread messages for.
func (s *Asleep) derive() {
	looked := 0
	err := s.rows.Messages(view.PublicScope(), 0, s.view.Ring.Visible(), true, func(m *core.StoredMessage) bool {
		if s.wakes(m) {
			s.note(m.To, s.started+after)
		}
		looked++
		return looked < maxDerived && s.started-m.TS < hub.Time(listedFor.Milliseconds()) && !s.engine.Stopping.Load()
	})
	if err != nil {
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "agents that sleep over messages of an earlier start are not told of", slog.Any("error", err))
	}
}

// next returns when the next agent is due; 0: none is.
func (s *Asleep) next() (next hub.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.agents {
		if e.due != 0 && (next == 0 || e.due < next) {
			next = e.due
		}
	}
	return next
}

// taken returns the agents that are due now, and drops them. So a message that comes
// while one of them is looked at is noted anew.
func (s *Asleep) taken(now hub.Time) (due []hub.AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for agent, e := range s.agents {
		if e.due != 0 && e.due <= now {
			due = append(due, agent)
			delete(s.agents, agent)
		}
	}
	slices.Sort(due)
	return due
}

// put keeps an agent that was looked at, unless it was noted anew meanwhile.
func (s *Asleep) put(agent hub.AgentID, e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.agents[agent]; !known && s.room() {
		s.agents[agent] = e
	}
}

// forget drops an agent that is asleep no longer, unless it is to be looked at.
func (s *Asleep) forget(agent hub.AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents[agent].due == 0 {
		delete(s.agents, agent)
	}
}

// Agents lists the agents that are asleep and of which their rooms were told, the
// longest first. It looks at each again: an agent that has woken is not shown.
func (s *Asleep) Agents() []hub.AsleepAgent {
	s.mu.Lock()
	var told []hub.AgentID
	for agent, e := range s.agents {
		if e.due == 0 {
			told = append(told, agent)
		}
	}
	slices.SortFunc(told, func(a, b hub.AgentID) int {
		return cmp.Or(cmp.Compare(s.agents[a].since, s.agents[b].since), cmp.Compare(a, b))
	})
	s.mu.Unlock()
	out := []hub.AsleepAgent{}
	for _, agent := range told {
		if len(out) == maxShown {
			break
		}
		if found := s.stillAsleep(agent); found != nil {
			out = append(out, *found)
		}
	}
	return out
}

// Len returns how many agents are kept: those to be looked at, and those of which their
// rooms were told.
func (s *Asleep) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.agents)
}
