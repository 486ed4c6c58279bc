package actors

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// viewer is who looks at threads: an agent, or the operator, who sees all.
type viewer struct {
	agent hub.AgentID
	all   bool
}

func viewerOf(ctx context.Context, agent hub.AgentID) viewer {
	return viewer{agent: agent, all: hub.CallerOf(ctx).Operator}
}

func (v viewer) message(m *core.StoredMessage) bool {
	return v.all || hub.Visible(v.agent, m.From, m.To)
}

func (v viewer) task(t *core.StoredTask) bool { return v.all || core.TaskVisible(v.agent, t) }

// taskRow shows a task as its viewer sees it.
func (v *views) taskRow(t *core.StoredTask, sees viewer) hub.Task {
	return v.redacted(t.Task, t.Veiled, sees)
}

// taskRows shows the first tasks.
func (v *views) taskRows(tasks []core.StoredTask, limit int, sees viewer) []hub.Task {
	rows := make([]hub.Task, 0, min(limit, len(tasks)))
	for i := 0; i < len(tasks) && i < limit; i++ {
		rows = append(rows, v.taskRow(&tasks[i], sees))
	}
	return rows
}

// unveiled returns the row without those of doubtful that its viewer may not see
// among the tasks it waits for. Whether it is ready stays as it is.
func (v *views) redacted(row hub.Task, doubtful []hub.TaskID, sees viewer) hub.Task {
	if len(doubtful) == 0 || sees.all {
		return row
	}
	shown := make([]hub.TaskID, 0, len(row.BlockedBy))
	for _, id := range row.BlockedBy {
		if slices.Contains(doubtful, id) {
			if t, err := v.anyTask(id); err != nil || !sees.task(&t) {
				continue
			}
		}
		shown = append(shown, id)
	}
	row.BlockedBy = shown
	return row
}

// knows reports whether the viewer may see a message, or the task that it opened.
func (v *views) knows(sees viewer, id hub.MessageID) (bool, error) {
	m, err := v.message(id)
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}):
		return false, nil
	case err != nil || sees.message(m):
		return err == nil, err
	}
	return v.knowsTask(sees, id, false)
}

// knowsTask reports whether the viewer may see a task, and otherwise what is so if
// there is none.
func (v *views) knowsTask(sees viewer, id hub.TaskID, otherwise bool) (bool, error) {
	t, err := v.anyTask(id)
	if errors.Is(err, core.ErrNotFound) {
		return otherwise, nil
	}
	return err == nil && sees.task(&t), err
}

// checkClaimed refuses a claim on a message or task that the claimer does not see:
// it would keep out those who do. A key that reads as the one of a task of others
// counts as that task's.
func (v *views) checkClaimed(sees viewer, in *hub.ClaimInput) error {
	id, known := in.TaskMessageID, true
	var err error
	if id != 0 {
		known, err = v.knows(sees, id)
	}
	if named := taskOfKey(in.ClaimKey); known && err == nil && named != 0 {
		id = named
		known, err = v.knowsTask(sees, id, true) // such a key of no task is any other
	}
	if err == nil && !known {
		err = errTaskNotFound(id).With("task_message_id", id)
	}
	return err
}

// taskKey is the key of a claim on a task that names none.
func taskKey(id hub.TaskID) hub.ClaimKey {
	return hub.ClaimKey("task-" + strconv.FormatInt(int64(id), 10))
}

// taskOfKey returns the task whose key this is, or 0.
func taskOfKey(key hub.ClaimKey) hub.TaskID {
	digits, ok := strings.CutPrefix(string(key), "task-")
	id, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || taskKey(hub.TaskID(id)) != key {
		return 0
	}
	return hub.TaskID(id)
}

// speaksFor reports whether the call has shown that it is agent's: by its core.SessionProof,
// or by the spool that it came through.
func speaksFor(ctx context.Context, agent hub.AgentID) bool {
	return agent != "" && (proves(ctx, agent) || hub.CallerOf(ctx).Relay == agent)
}

// proves reports whether the call has proved the session of agent. Only then may
// an answer carry secrets of a session that it did not make: which spool a call
// came through, any program on this machine can say.
func proves(ctx context.Context, agent hub.AgentID) bool {
	return agent != "" && hub.CallerOf(ctx).Agent == agent
}

// mayBe reports whether the call may take the seat that agent has already. On
// this machine an agent is who it says it is; from another one it must show it,
// unless nobody but the seat knows of such an agent: then a call has ended between
// its two steps.
func (v *views) mayBe(ctx context.Context, agent hub.AgentID) (bool, error) {
	if agent == "" || !hub.CallerOf(ctx).Remote || speaksFor(ctx, agent) {
		return agent != "", nil
	}
	row, err := v.agentRow(agent)
	if err != nil || row != nil {
		return false, err
	}
	lives, err := v.lives(agent)
	return !lives, err
}

// takenBy says which names are somebody else's: for the name that the call asks
// for, those of live agents; for a name that the hub chooses, also of agents that
// may come back, and of those that never registered and act all the same; for a
// call from another machine, of every agent that there ever was, and that anything
// is meant for. On this machine a name that has only been written to or given work
// is free: whoever is let in under it is meant. What cannot be read counts as taken.
func (v *views) takenBy(ctx context.Context, asked hub.AgentID) func(hub.AgentID) bool {
	remote := hub.CallerOf(ctx).Remote
	return func(name hub.AgentID) bool {
		if speaksFor(ctx, name) {
			return false
		}
		if _, _, live := v.directory.session(name); live || name.Reserved() {
			return true
		}
		row, err := v.agentRow(name)
		switch {
		case err != nil:
			return true
		case row == nil && remote:
			return v.known(name)
		case row == nil:
			return name != asked && v.acts(name)
		}
		return remote || row.Session.Active || name != asked && row.EndReason == core.EndedIdle
	}
}

// known reports whether anything in the hub is meant for an agent that has never
// registered: a seat in any room, or what lives says. Who got its name would get
// that too. What cannot be read counts as known.
func (v *views) known(agent hub.AgentID) bool {
	rooms, err := v.roomsOf(agent)
	if err != nil || len(rooms) > 0 {
		return true
	}
	lives, err := v.lives(agent)
	return err != nil || lives
}

// acts reports whether somebody goes by a name that was never registered: has a
// seat in any room, a cursor of what it has seen, a lease, or a task that it has
// posted. What cannot be read counts as acting.
func (v *views) acts(agent hub.AgentID) bool {
	rooms, err := v.roomsOf(agent)
	seen := v.seen.of(agent)
	return err != nil || len(rooms) > 0 || seen.Begun() || v.leases.holds(agent) || v.tasks.posted(agent)
}

// lives reports whether an agent has been written to, has a cursor of what it has
// seen, holds a lease, or has, is offered or has given a task that has not ended.
// It costs a few look-ups, however many of each there are.
func (v *views) lives(agent hub.AgentID) (bool, error) {
	if seen := v.seen.of(agent); seen.Begun() || v.leases.holds(agent) || v.tasks.concerns(agent) {
		return true, nil
	}
	written := false
	err := v.rows.Messages(inboxScope(agent), 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		written = true
		return false
	})
	return written, err
}

// hideTask takes out of a claim's row the task that the viewer may not see.
func (v *views) hideTask(row *hub.HeldRow, sees viewer) error {
	if id := taskOfKey(hub.ClaimKey(row.Key)); id != 0 {
		if known, err := v.knowsTask(sees, id, true); err != nil {
			return err
		} else if !known {
			row.Key = ""
		}
	}
	if row.TaskMessageID == nil {
		return nil
	}
	known, err := v.knows(sees, *row.TaskMessageID)
	if err == nil && !known {
		row.TaskMessageID = nil
	}
	return err
}

func errTaskNotFound(id hub.TaskID) *hub.Error {
	return hub.Errorf(hub.CodeTaskNotFound, "there is no task %d", id).
		WithFix("a task's id is that of the message that opened it; name agent_id if the task was opened by a direct message")
}
