package view

import (
	"context"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Viewer is the reader of threads and tasks: an agent, or the operator, who sees all.
type Viewer struct {
	Agent hub.AgentID
	All   bool
}

// ViewerOf returns the viewer that a caller is: an agent, or the operator, who sees
// all.
func ViewerOf(ctx context.Context, agent hub.AgentID) Viewer {
	return Viewer{Agent: agent, All: hub.CallerOf(ctx).Operator}
}

// Message reports whether the viewer may see a message.
func (v Viewer) Message(m *core.StoredMessage) bool {
	return v.All || hub.Visible(v.Agent, m.From, m.To)
}

// Task reports whether the viewer may see a task.
func (v Viewer) Task(t *core.StoredTask) bool { return v.All || core.TaskVisible(v.Agent, t) }

// Task returns a task as its viewer sees it. task_not_found, also for a task that the
// viewer may not see.
func (v *View) Task(id hub.TaskID, sees Viewer) (hub.Task, error) {
	t, live := v.Tasks.Get(id)
	if !live {
		var err error
		if t, err = v.StoredTask(id); err != nil && !errors.Is(err, core.ErrNotFound) {
			return hub.Task{}, err
		} else if err != nil || id > v.Ring.Visible() {
			return hub.Task{}, ErrTaskNotFound(id)
		}
	}
	if !sees.Task(&t) {
		return hub.Task{}, ErrTaskNotFound(id)
	}
	return v.Linked(t.Task, t.Hidden, sees), nil
}

// Linked is Redacted for an answer about one task: it also names the tasks that
// the task waits for now, and those that wait for it.
func (v *View) Linked(row hub.Task, doubtful []hub.TaskID, sees Viewer) hub.Task {
	row = v.Redacted(row, doubtful, sees)
	if row.Status.Terminal() {
		return row
	}
	blockers, blocked := v.Tasks.Links(&row)
	row.OpenBlockers, row.Blocks = seen(blockers, sees), seen(blocked, sees)
	return row
}

// seen returns the ids of the tasks that the viewer may see.
func seen(tasks []core.StoredTask, sees Viewer) (ids []hub.TaskID) {
	for i := range tasks {
		if sees.Task(&tasks[i]) {
			ids = append(ids, tasks[i].Task.TaskID)
		}
	}
	slices.Sort(ids)
	return ids
}

// TaskRow shows a task as its viewer sees it.
func (v *View) TaskRow(t *core.StoredTask, sees Viewer) hub.Task {
	return v.Redacted(t.Task, t.Hidden, sees)
}

// TaskRows shows the first tasks.
func (v *View) TaskRows(tasks []core.StoredTask, limit int, sees Viewer) []hub.Task {
	rows := make([]hub.Task, 0, min(limit, len(tasks)))
	for i := 0; i < len(tasks) && i < limit; i++ {
		rows = append(rows, v.TaskRow(&tasks[i], sees))
	}
	return rows
}

// Redacted returns the row with a blocked_by that lacks the tasks which the viewer
// may not see. Only the tasks in doubtful are checked. Ready stays as it is.
func (v *View) Redacted(row hub.Task, doubtful []hub.TaskID, sees Viewer) hub.Task {
	if len(doubtful) == 0 || sees.All {
		return row
	}
	shown := make([]hub.TaskID, 0, len(row.BlockedBy))
	for _, id := range row.BlockedBy {
		if slices.Contains(doubtful, id) {
			if t, err := v.AnyTask(id); err != nil || !sees.Task(&t) {
				continue
			}
		}
		shown = append(shown, id)
	}
	row.BlockedBy = shown
	return row
}

// Knows reports whether the viewer may see a message, or the task that it opened.
func (v *View) Knows(sees Viewer, id hub.MessageID) (bool, error) {
	m, err := v.Message(id)
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}):
		return false, nil
	case err != nil || sees.Message(m):
		return err == nil, err
	}
	return v.knowsTask(sees, id, false)
}

// knowsTask reports whether the viewer may see a task. If there is no such task, it
// returns otherwise.
func (v *View) knowsTask(sees Viewer, id hub.TaskID, otherwise bool) (bool, error) {
	t, err := v.AnyTask(id)
	if errors.Is(err, core.ErrNotFound) {
		return otherwise, nil
	}
	return err == nil && sees.Task(&t), err
}

// CheckClaimed refuses a claim on a message or task that the claimer does not see:
// it would keep out those who do. A key that reads as the one of a task of others
// counts as that task's.
func (v *View) CheckClaimed(sees Viewer, in *hub.ClaimInput) error {
	id, known := in.TaskMessageID, true
	var err error
	if id != 0 {
		known, err = v.Knows(sees, id)
	}
	if named := core.TaskOfKey(in.ClaimKey); known && err == nil && named != 0 {
		id = named
		known, err = v.knowsTask(sees, id, true) // such a key of no task is any other
	}
	if err == nil && !known {
		err = ErrTaskNotFound(id).With("task_message_id", id)
	}
	return err
}

// speaksFor reports whether the call has shown that it comes from agent: by its session,
// or by the spool that it came through.
func speaksFor(caller *hub.Caller, agent hub.AgentID) bool {
	return agent != "" && (Proves(caller, agent) || caller.Relay == agent)
}

// Proves reports whether the call has proved the session of agent. Only then may
// an answer carry secrets of a session that it did not make: which spool a call
// came through, any program on this machine can say.
func Proves(caller *hub.Caller, agent hub.AgentID) bool {
	return agent != "" && caller.Agent == agent
}

// MayBe reports whether the call may take the seat that agent has already. The hub
// believes the agent id of a call from this machine. A call from another machine must
// prove it, unless the agent has the seat and no other trace: then an earlier call
// ended between the two steps of joining.
func (v *View) MayBe(caller *hub.Caller, agent hub.AgentID) (bool, error) {
	if agent == "" || !caller.Remote || speaksFor(caller, agent) {
		return agent != "", nil
	}
	row, err := v.AgentRow(agent)
	if err != nil || row != nil {
		return false, err
	}
	lives, err := v.lives(agent)
	return !lives, err
}

// TakenBy says which names belong to other agents. asked is the name that the call asks
// for; the hub chooses any other.
//
//	name of                                     asked for   chosen by the hub   another machine
//	a live agent, or reserved                   taken       taken               taken
//	an agent that ended of silence              free        taken               taken
//	an agent that closed its session            free        free                taken
//	one that acts without having registered     free        taken               taken
//	one that was only written to or given work  free        free                taken
//
// A name that the caller speaks for is free. A name counts as taken if the store cannot
// be read.
func (v *View) TakenBy(caller *hub.Caller, asked hub.AgentID) func(hub.AgentID) bool {
	remote := caller.Remote
	return func(name hub.AgentID) bool {
		if speaksFor(caller, name) {
			return false
		}
		if _, _, live := v.Directory.Session(name); live || name.Reserved() {
			return true
		}
		row, err := v.AgentRow(name)
		switch {
		case err != nil:
			return true
		case row == nil && remote:
			return v.Known(name)
		case row == nil:
			return name != asked && v.Acts(name)
		}
		return remote || row.Session.Active || name != asked && row.EndReason == core.EndedIdle
	}
}

// Known reports whether anything in the hub is meant for an agent that has never
// registered: a seat in any room, or what lives says. Who got its name would get
// that too. What cannot be read counts as known.
func (v *View) Known(agent hub.AgentID) bool {
	rooms, err := v.RoomsOf(agent)
	if err != nil || len(rooms) > 0 {
		return true
	}
	lives, err := v.lives(agent)
	return err != nil || lives
}

// Acts reports whether somebody goes by a name that was never registered: has a
// seat in any room, a cursor of what it has seen, a lease, or a task that it has
// posted. What cannot be read counts as acting.
func (v *View) Acts(agent hub.AgentID) bool {
	rooms, err := v.RoomsOf(agent)
	seen := v.Seen.Of(agent)
	return err != nil || len(rooms) > 0 || seen.Begun() || v.Leases.holds(agent) || v.Tasks.posted(agent)
}

// lives reports whether an agent has been written to, has a cursor of what it has
// seen, holds a lease, or has, is offered or has given a task that has not ended.
// It costs a few look-ups, however many of each there are.
func (v *View) lives(agent hub.AgentID) (bool, error) {
	if seen := v.Seen.Of(agent); seen.Begun() || v.Leases.holds(agent) || v.Tasks.concerns(agent) {
		return true, nil
	}
	written := false
	err := v.rows.Messages(InboxScope(agent), 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		written = true
		return false
	})
	return written, err
}

// SeesLease reports whether the viewer may see a lease. A claim on a task is as hidden as
// the task: its key, its holder and the holder's notes would tell of it. The holder sees
// its own.
func (v *View) SeesLease(sees Viewer, l *core.Lease) (bool, error) {
	if l.Space != core.SpaceClaim || sees.All || sees.Agent != "" && l.Agent == sees.Agent {
		return true, nil
	}
	if l.Task != 0 {
		if known, err := v.Knows(sees, l.Task); err != nil || !known {
			return false, err
		}
	}
	if id := core.TaskOfKey(hub.ClaimKey(l.Key)); id != 0 {
		return v.knowsTask(sees, id, true)
	}
	return true, nil
}

// ErrTaskNotFound is the refusal for a task that is not there or not shown.
func ErrTaskNotFound(id hub.TaskID) *hub.Error {
	return hub.Errorf(hub.CodeTaskNotFound, "there is no task %d", id).
		WithFix("a task's id is that of the message that opened it; name agent_id if the task was opened by a direct message")
}

// RunRow returns a run's row with the tasks that the viewer may see.
func (v *View) RunRow(run core.StoredRun, sees Viewer) (hub.Run, error) {
	row := run.Run
	row.TaskIDs = []hub.TaskID{}
	var bad error
	err := v.rows.RowsOf(core.TableTaskByRun, core.OwnedKey(row.RunID, nil), false, func(key, value []byte) bool {
		var entry core.RunTask
		if entry, bad = core.DecodeRunTask(key, value); bad != nil {
			bad = hub.NewError(hub.CodeCorruptRecord, "an entry of a run cannot be read")
			return false
		}
		if entry.Seq > run.AsOf {
			return true // it joined after what is shown
		}
		if entry.Direct {
			var t core.StoredTask
			if t, bad = v.AnyTask(entry.Task); bad != nil || !sees.Task(&t) {
				return bad == nil
			}
		}
		row.TaskIDs = append(row.TaskIDs, entry.Task)
		return true
	})
	return row, errors.Join(err, bad)
}
