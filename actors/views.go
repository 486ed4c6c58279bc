package actors

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

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
	seen      *seenBook
	leases    *leaseView
	tasks     *taskView
	runs      *runView
	places    *places
	// sessionEnded is told of each session that a shown record ends.
	sessionEnded func(core.SessionProof, int64)
	shownSeq     atomic.Uint64 // the last record that the views show
	// still keeps the views from showing more, for a look at several of them on
	// one state. It is held for moments: the writer waits.
	still sync.RWMutex
}

// newViews returns views that show nothing yet but that messages up to head exist.
func newViews(journal core.Journal, rows core.Rows, log *slog.Logger, ringBytes int, head hub.MessageID) *views {
	bells := newBells()
	return &views{
		rows: rows, ring: newRing(ringBytes, head), bells: bells, directory: newDirectory(bells),
		threads: newThreads(rows), seen: newSeenBook(journal, rows, log),
		leases: newLeaseView(), tasks: newTaskView(), runs: newRunView(), places: newPlaces(),
		sessionEnded: func(core.SessionProof, int64) {},
	}
}

// prepare returns the rows of the views that these records change. It runs
// before the commit, so that they are stored with it.
func (v *views) prepare(records []*core.Record) ([]core.Row, error) {
	return v.threads.prepare(records)
}

// forget takes back what prepare has noted of records that were not committed.
func (v *views) forget() { v.threads.forget() }

// begin and end enclose the records of one group that are shown.
func (v *views) begin() { v.still.Lock() }
func (v *views) end()   { v.still.Unlock() }

// show lets the views see one committed record, between begin and end, and returns
// scopes with those added that have something new.
func (v *views) show(r *core.Record, facts []core.Fact, scopes []core.Scope) []core.Scope {
	for _, f := range facts {
		switch f := f.(type) {
		case *core.SessionStarted:
			scopes = append(scopes, sessionScope(f.Agent)) // parked calls of the displaced session
		case *core.SessionEnded:
			if was, _, ok := v.directory.session(f.Agent); ok {
				v.sessionEnded(core.SessionProof{Agent: f.Agent, Incarnation: was.Incarnation}, r.HubMS)
			}
			scopes = append(scopes, sessionScope(f.Agent))
		}
	}
	v.directory.shown(r, facts)
	if r.Owner.Kind == core.OwnerLeases {
		v.leases.apply(facts, r.Rows)
	}
	for i := range r.Rows {
		scopes = v.showRow(&r.Rows[i], r.Wall, scopes)
	}
	if len(r.Messages) > 0 {
		v.ring.append(r.Messages)
		for i := range r.Messages {
			scopes = appendScopes(scopes, &r.Messages[i])
		}
	}
	v.shownSeq.Store(uint64(r.Seq))
	return scopes
}

// showRow lets the views see a committed row of that time, and returns scopes with
// those added that watches listen to.
func (v *views) showRow(row *core.Row, at hub.Time, scopes []core.Scope) []core.Scope {
	switch row.Table { //nolint:exhaustive // the others are read from the store
	case core.TableProject, core.TableRoom:
		v.places.apply(row)
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

// rebuilt shows the state of a rebuilt owner: the rows of the record that broke were
// not in it. Of rows there is one under each key.
func (v *views) rebuilt(k core.Owner, state core.Machine, rows []core.Row) {
	if leases, ok := state.(*core.Leases); ok {
		for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
			v.leases.replace(k, space, leases.List(space))
		}
	}
	for i := range rows {
		for _, scope := range v.showRow(&rows[i], hub.TimeOf(time.Now()), nil) {
			v.bells.ring(scope)
		}
	}
}

// Sizes says how many entries each view holds, by what they are.
func (v *views) Sizes() map[string]int {
	v.directory.mu.RLock()
	out := map[string]int{"live agents": len(v.directory.live), "sessions": len(v.directory.sessions)}
	v.directory.mu.RUnlock()
	v.directory.parkedMu.Lock()
	out["parked"] = len(v.directory.parked)
	v.directory.parkedMu.Unlock()
	out["leases"], out["tasks"] = v.leases.len(), v.tasks.len()
	out["messages"], out["listeners"] = v.ring.len(), v.bells.listeners()
	return out
}

// live reports whether an agent has a live session.
func (v *views) live(agent hub.AgentID) bool {
	_, _, live := v.directory.session(agent)
	return live
}

// restore takes the sessions of a checkpoint.
func (v *views) restore(s core.Section) error {
	var state directoryState
	if err := core.CheckVersion("sessions", s.Version, directoryVersion); err != nil {
		return err
	}
	err := json.Unmarshal(s.Data, &state)
	if err == nil {
		v.directory.restore(state)
	}
	return err
}

// replay takes a committed fact that no permanent owner has decided.
func (v *views) replay(f core.Fact, at core.Position) { v.directory.apply(f, at) }

// started shows what was restored, up to head, and returns the live sessions: all
// count as just seen.
func (v *views) started(head core.Head, now hub.Time, states map[core.Owner]core.Machine) (live []core.SessionProof) {
	v.directory.touchAll(now)
	for _, p := range v.directory.live {
		live = append(live, core.SessionProof{Agent: p.session.AgentID, Incarnation: p.session.Incarnation})
	}
	v.directory.head = head
	v.shownSeq.Store(uint64(head.Seq))
	for _, state := range states {
		switch state := state.(type) {
		case *core.Tasks:
			for _, t := range state.List() {
				v.tasks.put(t)
			}
			for _, run := range state.Runs() {
				v.runs.put(run)
			}
		case *core.Projects:
			v.places.restore(state.Atlas())
		case *core.Leases:
			for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
				for _, lease := range state.List(space) {
					v.leases.restore(lease)
				}
			}
		}
	}
	return live
}

// snapshot returns the sessions for a checkpoint. It waits until a group is shown
// whole: what subscribers make of a record up to head, they have made.
func (v *views) snapshot() (core.Section, core.Head, error) {
	v.still.RLock()
	defer v.still.RUnlock()
	state, head := v.directory.snapshot()
	data, err := json.Marshal(state)
	return core.Section{Owner: core.DirectoryOwner(), AsOf: head.Seq, Version: directoryVersion, Data: data}, head, err
}

// shownUpTo returns the last record that is shown.
func (v *views) shownUpTo() hub.Seq { return hub.Seq(v.shownSeq.Load()) }

// sessionScope is the scope of a bell, not of messages: it rings when the
// agent's core.SessionProof ends or another begins.
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
