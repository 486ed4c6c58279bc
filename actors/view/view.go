package view

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// View are what is shown of committed records. The writer feeds them in the
// order of the records; they never decide anything.
type View struct {
	rows      core.Rows
	Ring      *Ring
	Notifier  *Notifier
	Directory *Directory
	Threads   *threads
	Seen      *SeenBook
	Answered  *Answered
	Offers    *Offers
	Leases    *Leases
	Waiters   *Waiters
	Tasks     *Tasks
	Runs      *Runs
	Places    *places
	pauses    *rulings[hub.PauseTarget, hub.Pause]
	mutes     *rulings[hub.MuteTarget, hub.Mute]
	budgets   *budgets
	passes    *rulings[hub.PassID, hub.Pass]
	users     *rulings[string, hub.AllowedUser]
	Changes   *Changes
	ledger    *ledger
	Retired   *Retired
	imports   imports
	names     names
	// beginnings remembers where agents begin to read.
	beginnings *beginnings
	pages      answers.Memory
	// SessionEnded is told of each session that a shown record ends.
	SessionEnded func(core.SessionProof, int64)
	ShownSeq     atomic.Uint64 // the last record that the views show
	// Still keeps the views from showing more, for a look at several of them on
	// one state. It is held for moments: the writer waits.
	Still sync.RWMutex
}

// New returns views that show nothing yet but that messages up to head exist.
func New(journal core.Journal, rows core.Rows, log *slog.Logger, ringBytes int, head hub.MessageID) *View {
	notifier, changes, answers := newNotifier(), newChanges(), newAnswered()
	rows = rowsToRead{rows, answers}
	v := &View{
		rows: rows, Ring: newRing(ringBytes, head), Answered: answers, Notifier: notifier, Directory: newDirectory(notifier, changes),
		Threads: newThreads(rows), Seen: newSeenBook(journal, rows, log), Offers: newOffers(),
		Leases: newLeases(), Waiters: newWaiters(changes), Tasks: newTasks(), Runs: newRuns(), Places: newPlaces(),
		Retired:      newRetired(),
		beginnings:   newBeginnings(),
		pauses:       newRulings(&core.PauseKind),
		mutes:        newRulings(&core.MuteKind),
		budgets:      newBudgets(),
		passes:       newRulings(&core.PassKind),
		users:        newRulings(&core.UserKind),
		Changes:      changes,
		ledger:       newLedger(hub.Time(time.Now().UnixMilli())),
		SessionEnded: func(core.SessionProof, int64) {},
	}
	v.Directory.creator = v.channelCreator
	v.Ring.readable = answers.readable
	return v
}

// Rows are the rows of the store as readers get them: no agent may see an answer that was taken
// back.
func (v *View) Rows() core.Rows { return v.rows }

// Prepare returns the rows of the views that these records change. It runs
// before the commit, so that they are stored with it.
func (v *View) Prepare(records []*core.Record) ([]core.Row, error) {
	return v.Threads.prepare(records)
}

// Forget takes back what prepare has noted of records that were not committed.
func (v *View) Forget() { v.Threads.forget() }

// Begin is called before the records of one group are shown.
func (v *View) Begin() { v.Still.Lock() }

// End is called after them.
func (v *View) End() { v.Still.Unlock() }

// Show lets the views see one committed record, between Begin and End, and returns
// scopes with those added that have something new.
func (v *View) Show(r *core.Record, facts []core.Fact, scopes []core.Scope) []core.Scope {
	for _, f := range facts {
		switch f := f.(type) {
		case *core.SessionStarted:
			v.beginnings.forget(f.Agent)
			scopes = append(scopes, SessionScope(f.Agent)) // parked calls of the displaced session
		case *core.SessionEnded:
			if was, _, ok := v.Directory.Session(f.Agent); ok {
				v.SessionEnded(core.SessionProof{Agent: f.Agent, Incarnation: was.Incarnation}, r.HubMS)
			}
			scopes = append(scopes, SessionScope(f.Agent))
		case *core.AskAnswered:
			v.Answered.answered(r.Messages, r.HubMS)
		}
	}
	v.Directory.shown(r, facts)
	if r.Owner.Kind == core.OwnerLeases {
		v.Leases.apply(facts, r.Rows)
	}
	for i := range r.Rows {
		scopes = v.showRow(&r.Rows[i], r.Wall, scopes)
	}
	if len(r.Messages) > 0 {
		v.Ring.append(r.Messages)
		for i := range r.Messages {
			scopes = appendScopes(scopes, &r.Messages[i])
		}
	}
	for i := range r.Rows { // before the record counts as shown: a reader that has come to it has been told
		v.Changes.row(&r.Rows[i])
	}
	v.ShownSeq.Store(uint64(r.Seq))
	return scopes
}

// PassedOver moves the ends of the views over a gap of an import.
func (v *View) PassedOver(g core.Gap) {
	v.Ring.skip(g.UptoMessage)
	v.Directory.passedOver(g)
	v.ShownSeq.Store(uint64(g.UptoSeq))
}

// showRow lets the views see a committed row of that time, and returns scopes with
// those added that watches listen to.
func (v *View) showRow(row *core.Row, at hub.Time, scopes []core.Scope) []core.Scope {
	switch row.Table { //nolint:exhaustive // the others are read from the store
	case core.TableProject, core.TableRoom, core.TableChannelArchived:
		v.Places.apply(row)
	case core.TableImport:
		v.imports.apply(row.Value)
		v.Ring.raise(v.imports.last().UptoMessage)
	case core.TableSeat:
		_, agent, _ := bytes.Cut(row.Key, []byte{0})
		v.beginnings.forget(hub.AgentID(agent))
	case core.TablePause:
		v.pauses.apply(row.Key, row.Value)
		return append(scopes, PauseScope())
	case core.TableRetired:
		v.Retired.apply(row.Key, row.Value)
	case core.TableMute:
		v.mutes.apply(row.Key, row.Value)
	case core.TableTakenBack:
		v.Answered.apply(row.Key)
	case core.TableBudget:
		v.budgets.apply(row.Key, row.Value)
	case core.TablePass:
		v.passes.apply(row.Key, row.Value)
	case core.TableUser:
		v.users.apply(row.Key, row.Value)
	case core.TableTask:
		was, is := v.Tasks.apply(row)
		if agent := engages(&was.Task); agent != "" && agent != engages(&is.Task) {
			v.Directory.free(agent, at)
		}
		v.Changes.task(&was.Task, &is.Task)
		return v.appendWatched(scopes, &was.Task, &is.Task)
	case core.TableRun:
		r := v.Runs.apply(row)
		if v.Notifier.watching.Load() > 0 {
			return append(scopes, RunScope(r.Run.RunID))
		}
	}
	return scopes
}

// Rebuilt shows the state of a rebuilt owner: the rows of the record that broke were
// not in it. Of rows there is one under each key.
func (v *View) Rebuilt(k core.Owner, state core.Machine, rows []core.Row) {
	if leases, ok := state.(*core.Leases); ok {
		for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
			v.Leases.Replace(k, space, leases.List(space))
		}
	}
	for i := range rows {
		for _, scope := range v.showRow(&rows[i], hub.TimeOf(time.Now()), nil) {
			v.Notifier.Notify(scope)
		}
	}
}

// Sizes says how many entries each view holds, by what they are.
func (v *View) Sizes() map[string]int {
	v.Directory.mu.RLock()
	out := map[string]int{"live agents": len(v.Directory.live), "sessions": len(v.Directory.sessions)}
	v.Directory.mu.RUnlock()
	v.Directory.parkedMu.Lock()
	out["parked"] = len(v.Directory.parked)
	v.Directory.parkedMu.Unlock()
	out["leases"], out["tasks"] = v.Leases.Len(), v.Tasks.Len()
	out["messages"], out["scopes listened to"] = v.Ring.len(), v.Notifier.subscriptions()
	return out
}

// Live reports whether an agent has a live session.
func (v *View) Live(agent hub.AgentID) bool {
	_, _, live := v.Directory.Session(agent)
	return live
}

// Displaced reports whether a later session of the same agent has replaced the session
// that a caller has proved.
func (v *View) Displaced(caller *hub.Caller) bool {
	if caller.Incarnation == 0 {
		return false
	}
	s, _, live := v.Directory.Session(caller.Agent)
	return live && s.Incarnation > caller.Incarnation
}

// Restore takes the sessions of a checkpoint.
func (v *View) Restore(s core.Section) error {
	var state directoryState
	if err := core.CheckVersion("sessions", s.Version, directoryVersion); err != nil {
		return err
	}
	err := json.Unmarshal(s.Data, &state)
	if err == nil {
		v.Directory.restore(state)
		v.Directory.uncounted = state.Channels > 0 && len(state.Creators) == 0
	}
	return err
}

// Replay takes a committed fact that no permanent owner has decided.
func (v *View) Replay(f core.Fact, at core.Position) { v.Directory.apply(f, at) }

// Started shows what was restored, up to head, and returns the live sessions: all
// count as just seen.
func (v *View) Started(head core.Head, now hub.Time, states map[core.Owner]core.Machine) (live []core.SessionProof) {
	if v.Directory.uncounted {
		v.countChannels()
	}
	v.Directory.touchAll(now)
	for _, p := range v.Directory.live {
		live = append(live, core.SessionProof{Agent: p.session.AgentID, Incarnation: p.session.Incarnation})
	}
	v.Directory.head = head
	v.ShownSeq.Store(uint64(head.Seq))
	for _, state := range states {
		switch state := state.(type) {
		case *core.Tasks:
			for _, t := range state.List() {
				v.Tasks.Put(t)
			}
			for _, run := range state.Runs() {
				v.Runs.Put(run)
			}
		case *core.Projects:
			v.Places.restore(state.ProjectIndex())
		case *core.Leases:
			for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
				for _, lease := range state.List(space) {
					v.Leases.Restore(lease)
				}
			}
		}
	}
	return live
}

// Snapshot returns the sessions for a checkpoint. It waits until a group is shown
// whole: what subscribers make of a record up to head, they have made.
func (v *View) Snapshot() (core.Section, core.Head, error) {
	v.Still.RLock()
	defer v.Still.RUnlock()
	state, head := v.Directory.Snapshot()
	data, err := json.Marshal(state)
	return core.Section{Owner: core.DirectoryOwner(), AsOf: head.Seq, Version: directoryVersion, Data: data}, head, err
}

// Timed reports whether any lease is held: each has a deadline.
func (v *View) Timed() bool { return v.Leases.Len() > 0 }

// ShownUpTo returns the last record that is shown.
func (v *View) ShownUpTo() hub.Seq { return hub.Seq(v.ShownSeq.Load()) }

// appendWatched adds the scopes of a changed task, if any watch subscribes to such
// scopes. It runs after the change is shown. So a watch that subscribes meanwhile finds
// the change in the view.
func (v *View) appendWatched(scopes []core.Scope, was, is *hub.Task) []core.Scope {
	if v.Notifier.watching.Load() == 0 {
		return scopes
	}
	scopes = append(scopes, TaskScope(is.TaskID))
	if is.RunID != nil {
		scopes = append(scopes, RunScope(*is.RunID)) // a task that is left changes no row of its run
	}
	if is.RoomID != nil && is.Ready && is.Status == hub.TaskOpen {
		scopes = append(scopes, ReadyScope(*is.RoomID))
	}
	for _, t := range []*hub.Task{was, is} {
		if t.Assignee != nil {
			scopes = append(scopes, PresenceScope(*t.Assignee))
		}
	}
	return scopes
}
