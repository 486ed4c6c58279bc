package actors

import (
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// views are what is shown of committed records. The writer feeds them in the
// order of the records; they never decide anything.
type views struct {
	rows      core.Rows
	ring      *ring
	bells     *bells
	directory *directory
	threads   *threads
	leases    *leaseView
	tasks     *taskView
	runs      *runView
	places    *places
	spawner   *spawner
	seating   *seating
	seq       *sequencer
	indexer   *indexer      // nil without an index
	shownSeq  atomic.Uint64 // the last record that the views show
	// still keeps the views from showing more, for a look at several of them on
	// one state. It is held for moments: the writer waits.
	still sync.RWMutex
}

// prepare returns the rows of the views that these records change. It runs
// before the commit, so that they are stored with it.
func (v *views) prepare(records []*core.Record) ([]core.Row, error) {
	return v.threads.prepare(records)
}

// forget takes back what prepare has noted of records that were not committed.
func (v *views) forget() { v.threads.forget() }

// show lets the views see one committed record and returns scopes with those
// added that have something new.
func (v *views) show(s *slot, scopes []core.Scope) []core.Scope {
	r := s.record
	for _, f := range s.facts {
		switch f := f.(type) {
		case *core.SessionStarted:
			scopes = append(scopes, sessionScope(f.Agent)) // parked calls of the displaced session
		case *core.SessionEnded:
			if was, _, ok := v.directory.session(f.Agent); ok {
				v.seq.sessionEnded(f.Agent, was.Incarnation, r.HubMS)
			}
			scopes = append(scopes, sessionScope(f.Agent))
		}
	}
	// Before the directory: a checkpoint takes from that how far it reaches.
	v.seating.shown(r, s.facts)
	if r.Owner.Kind == core.OwnerLeases {
		v.claimed(r, s.facts)
	}
	v.directory.shown(r, s.facts)
	switch r.Owner.Kind {
	case core.OwnerLeases:
		v.leases.apply(s.facts, r.Rows)
	case core.OwnerTasks:
		for i := range r.Rows {
			scopes = v.showTasks(&r.Rows[i], r.Wall, scopes)
		}
	case core.OwnerProjects:
		for i := range r.Rows {
			v.places.apply(&r.Rows[i])
		}
	case core.OwnerSpawns:
		for _, f := range s.facts {
			if _, ok := f.(*core.SpawnRequested); ok {
				v.spawner.committed(hub.SpawnID(core.IDAt(core.PrefixSpawn, r.Seq)))
			}
		}
	case core.OwnerAgent, core.OwnerChannel, core.OwnerRoom, core.OwnerMemory, core.OwnerSettings:
	}
	if len(r.Messages) > 0 {
		v.ring.append(r.Messages)
		for i := range r.Messages {
			scopes = appendScopes(scopes, &r.Messages[i])
		}
	}
	v.shownSeq.Store(uint64(r.Seq))
	v.indexer.shown(r)
	return scopes
}

// showTasks lets the views of tasks and runs see a committed row of that time, and
// returns scopes with those added that watches listen to.
func (v *views) showTasks(row *core.Row, at hub.Time, scopes []core.Scope) []core.Scope {
	switch row.Table { //nolint:exhaustive // the others are indexes, which are read from the store
	case core.TableTask:
		was, is := v.tasks.apply(row)
		if agent := engages(&was.Task); agent != "" && agent != engages(&is.Task) {
			v.directory.free(agent, at)
		}
		return v.appendWatched(scopes, &was.Task, &is.Task)
	case core.TableRun:
		r := v.runs.apply(row)
		if v.bells.listening.Load() > 0 {
			return append(scopes, runScope(r.Run.RunID))
		}
	}
	return scopes
}

// sessionScope is the scope of a bell, not of messages: it rings when the
// agent's session ends or another begins.
func sessionScope(a hub.AgentID) core.Scope {
	return core.Scope{Kind: scopeSession, Name: string(a)}
}

// Scopes of bells, not of messages.
const (
	scopeSession  core.ScopeKind = 255
	scopeTask     core.ScopeKind = 254
	scopeRun      core.ScopeKind = 253
	scopePresence core.ScopeKind = 252
)

// taskScope rings when the task changes.
func taskScope(id hub.TaskID) core.Scope {
	return core.Scope{Kind: scopeTask, Name: string(core.IDKey(id))}
}

// runScope rings when the run changes, which it does with each of its tasks.
func runScope(id hub.RunID) core.Scope { return core.Scope{Kind: scopeRun, Name: string(id)} }

// presenceScope rings when the agent makes a call, or begins or ends to wait, and
// when a task of it changes.
func presenceScope(a hub.AgentID) core.Scope {
	return core.Scope{Kind: scopePresence, Name: string(a)}
}

// appendWatched adds the scopes of a changed task, if anybody listens to such. It
// is asked after the change is shown, so that who begins to listen meanwhile sees
// it.
func (v *views) appendWatched(scopes []core.Scope, was, is *hub.Task) []core.Scope {
	if v.bells.listening.Load() == 0 {
		return scopes
	}
	scopes = append(scopes, taskScope(is.TaskID))
	for _, t := range []*hub.Task{was, is} {
		if t.Assignee != nil {
			scopes = append(scopes, presenceScope(*t.Assignee))
		}
	}
	return scopes
}

func appendScopes(scopes []core.Scope, m *core.StoredMessage) []core.Scope {
	if m.To == "" {
		scopes = append(scopes, publicScope(), channelScope(m.Channel))
	} else {
		scopes = append(scopes, inboxScope(m.To))
	}
	if m.Thread != "" {
		scopes = append(scopes, threadScope(m.Thread))
	}
	return scopes
}
