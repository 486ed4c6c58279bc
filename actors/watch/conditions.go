package watch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// watchMessages is how many unread messages an answer shows.
const watchMessages = 5

// watch is one call that waits for its conditions.
type watch struct {
	view     *view.View
	now      func() hub.Time
	query    hub.WatchQuery
	sees     view.Viewer // what the caller may see
	replaced chan struct{}
	tests    []test // one of each condition
}

// test is one condition and what is known about it.
type test struct {
	hub.Condition
	// ended holds the tasks that are known to have ended: they stay so.
	ended map[hub.TaskID]hub.TaskStatus
	// The room comes first and the inbox second: looked is the last message that was
	// examined, latest the last of them that counts.
	looked, latest [2]hub.MessageID
}

// prepare refuses conditions that name something that does not exist, or that the agent
// may not see: task_not_found, run_not_found, session_not_found.
func (w *watch) prepare() error {
	for _, c := range w.query.Until {
		for _, id := range c.Tasks {
			if _, err := w.view.Task(id, w.sees); err != nil {
				return about(err, c)
			}
		}
		if c.Run != "" {
			if _, err := w.view.Run(c.Run); err != nil {
				return about(err, c)
			}
		}
		t := test{Condition: c, ended: map[hub.TaskID]hub.TaskStatus{}}
		if c.Agent != "" {
			if err := w.knownAgent(&t); err != nil {
				return about(err, c)
			}
		}
		w.tests = append(w.tests, t)
	}
	return nil
}

// about adds to an error the condition that caused it.
func about(err error, c hub.Condition) error {
	var e *hub.Error
	if errors.As(err, &e) {
		e.With("condition", c.Text)
	}
	return err
}

// knownAgent refuses an agent that has never registered. It accepts the operator, the
// system, and an agent with an unread message: an agent may post without registering.
func (w *watch) knownAgent(c *test) error {
	agent := c.Agent
	if agent.Reserved() {
		return nil
	}
	if _, _, live := w.view.Directory.Session(agent); live {
		return nil
	}
	row, err := w.view.AgentRow(agent)
	if err != nil || row != nil {
		return err
	}
	heard := false
	if c.Kind == hub.UntilMessageFrom {
		heard, _, err = w.messageFrom(c)
	}
	if err == nil && !heard {
		err = hub.Errorf(hub.CodeSessionNotFound, "agent %s has never registered", agent).With("agent_id", agent).
			WithFix("name an agent as GET /v1/agents or the status of the room shows it")
	}
	return err
}

// scopes returns the scopes whose news may change a condition.
func (w *watch) scopes(caller *hub.Caller) []core.Scope {
	set := map[core.Scope]struct{}{}
	add := func(all ...core.Scope) {
		for _, s := range all {
			set[s] = struct{}{}
		}
	}
	if caller.Incarnation != 0 {
		add(view.SessionScope(caller.Agent))
	}
	for i := range w.tests {
		switch c := &w.tests[i]; c.Kind {
		case hub.UntilTasksComplete:
			for _, id := range c.Tasks {
				add(view.TaskScope(id))
			}
		case hub.UntilRunComplete:
			add(view.RunScope(c.Run))
		case hub.UntilMessageFrom:
			add(view.ChannelScope(w.query.Room.Channel()), view.InboxScope(w.query.Agent))
		case hub.UntilSeatIdle:
			add(view.PresenceScope(c.Agent), view.SessionScope(c.Agent), view.InboxScope(c.Agent))
		}
	}
	all := make([]core.Scope, 0, len(set))
	for s := range set {
		all = append(all, s)
	}
	return all
}

// evaluate tests all conditions on one state: the views show all records up to a
// certain one. again is the time after which a condition may begin to hold by itself;
// 0 is never.
func (w *watch) evaluate() (got hub.Watched, again time.Duration, err error) {
	// This look reads unread messages from the store, without a lock. The second look
	// reads only newer ones, while the views stand still.
	if got, again, err = w.look(); err != nil || !got.Met {
		return got, again, err
	}
	w.view.Still.RLock()
	defer w.view.Still.RUnlock()
	return w.look()
}

// describe adds the unread messages to an answer.
func (w *watch) describe(got *hub.Watched) (err error) {
	u := w.view.UnreadOf(w.query.Agent)
	if got.Unread, err = w.view.CountUnread(&u, w.query.Room); err != nil {
		return err
	}
	_, since := u.Scopes(w.query.Room)
	got.NextSinceID = min(since[0], since[1])
	got.Messages, err = w.messages(u)
	return err
}

func (w *watch) look() (got hub.Watched, again time.Duration, err error) {
	got = hub.Watched{Met: true, RoomID: w.query.Room, AgentID: w.query.Agent}
	for i := range w.tests {
		state := hub.ConditionState{Condition: w.tests[i].Text}
		var after time.Duration
		switch c := &w.tests[i]; c.Kind {
		case hub.UntilTasksComplete:
			state.Met, state.Why, err = w.tasksComplete(c)
		case hub.UntilRunComplete:
			state.Met, state.Why, err = w.runComplete(c)
		case hub.UntilMessageFrom:
			state.Met, state.Why, err = w.messageFrom(c)
		case hub.UntilSeatIdle:
			state.Met, state.Why, after, err = seatIdle(w.view, c.Agent, w.sees, w.now())
		}
		if err != nil {
			return got, 0, err
		}
		if after > 0 && (again == 0 || after < again) {
			again = after
		}
		got.Met = got.Met && state.Met
		got.Conditions = append(got.Conditions, state)
	}
	return got, again, nil
}

// tasksComplete holds when every task has ended, however.
func (w *watch) tasksComplete(c *test) (bool, string, error) {
	everybody := view.Viewer{All: true} // prepare has checked that the agent may see the tasks
	met, why := true, ""
	for _, id := range c.Tasks {
		status, ended := c.ended[id]
		if !ended {
			t, err := w.view.Task(id, everybody)
			if err != nil {
				return false, "", err
			}
			if status = t.Status; status.Terminal() {
				c.ended[id] = status
			}
		}
		met = met && status.Terminal()
		if why != "" {
			why += ", "
		}
		why += fmt.Sprintf("task %d is %s", id, status)
	}
	return met, why, nil
}

// runComplete holds when all tasks of the run have ended, however.
func (w *watch) runComplete(c *test) (bool, string, error) {
	stored, err := w.view.Run(c.Run)
	if err != nil {
		return false, "", err
	}
	run := &stored.Run
	left := run.Counts.Open + run.Counts.Working + run.Counts.InputRequired
	why := fmt.Sprintf("run %s is %s", run.RunID, run.Status)
	switch {
	case run.Status.Terminal():
	case run.Counts.Total == 0:
		why += ": it has no tasks"
	default:
		why += fmt.Sprintf(": %d of %d tasks have not ended", left, run.Counts.Total)
	}
	return run.Status.Terminal(), why, nil
}

// messageFrom holds while a message of the agent is unread: one in the room, or a
// direct one to the agent that watches.
func (w *watch) messageFrom(c *test) (bool, string, error) {
	u := w.view.UnreadOf(w.query.Agent)
	u.From = c.Agent
	scopes, since := u.Scopes(w.query.Room)
	latest, err := c.newest(w.view, &u, scopes, since)
	switch {
	case err != nil:
		return false, "", err
	case latest == 0:
		return false, fmt.Sprintf("no unread message from %s", c.Agent), nil
	default:
		return true, fmt.Sprintf("message %d from %s is unread", latest, c.Agent), nil
	}
}

// messages returns the first unread messages that ask something of the agent, or come
// from an agent that a condition names, in the order of their ids.
func (w *watch) messages(u view.UnreadIn) ([]hub.UnreadRow, error) {
	rows := []hub.UnreadRow{}
	var from []hub.AgentID
	for i := range w.tests {
		if w.tests[i].Kind == hub.UntilMessageFrom {
			from = append(from, w.tests[i].Agent)
		}
	}
	found, err := w.view.ListUnread(&u, w.query.Room, watchMessages, func(m *core.StoredMessage) bool {
		return slices.Contains(from, m.From) || view.AsksOf(m, u.Agent)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, view.ByID)
	for _, m := range found[:min(len(found), watchMessages)] {
		row, err := view.UnreadRow(m)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// newest returns the last unread message that u keeps, 0 if there is none. It examines
// each row once, however often it is called.
func (c *test) newest(v *view.View, u *view.UnreadIn, scopes [2]core.Scope, since [2]hub.MessageID) (hub.MessageID, error) {
	for i := range scopes {
		from := max(since[i], c.looked[i])
		if from < u.Head {
			latest, err := v.Newest(scopes[i], from, u.Head, u.Keeps)
			if err != nil {
				return 0, err
			}
			c.latest[i], c.looked[i] = max(c.latest[i], latest), u.Head
		}
		if c.latest[i] <= since[i] {
			c.latest[i] = 0
		}
	}
	return max(c.latest[0], c.latest[1]), nil
}
