package watch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// watchMessages is how many unread messages an answer shows, and watchCounted how many
// it counts.
const (
	watchMessages = 5
	watchCounted  = 100
)

// mostLeft is how many tasks that were left an answer names.
const mostLeft = 5

// watch is one call that waits for its conditions.
type watch struct {
	view     *view.View
	now      func() hub.Time
	query    hub.WatchQuery
	sees     view.Viewer // what the caller may see
	since    hub.Time    // since when the agent reads; 0: not known
	replaced chan struct{}
	tests    []test // one of each condition
	// parked returns since when an agent has slept in a watch; 0: it does not.
	parked func(hub.AgentID) hub.Time
}

// test is one condition and what is known about it.
type test struct {
	hub.Condition
	// ended holds the tasks that are known to have ended: they stay so.
	ended map[hub.TaskID]hub.TaskStatus
	feeds []feed // where messages may fulfill the condition
}

// prepare refuses conditions that name something that does not exist, or that the agent
// may not see: task_not_found, run_not_found, message_not_found, room_not_found,
// session_not_found.
func (w *watch) prepare() error {
	w.since, _ = w.view.Begins(w.query.Agent)
	for _, c := range w.query.Until {
		t := test{Condition: c, ended: map[hub.TaskID]hub.TaskStatus{}}
		if err := w.prepareTest(&t); err != nil {
			return about(err, c)
		}
		w.tests = append(w.tests, t)
	}
	return nil
}

func (w *watch) prepareTest(t *test) error {
	for _, id := range t.Tasks {
		if _, err := w.view.Task(id, w.sees); err != nil {
			return err
		}
	}
	switch t.Kind {
	case hub.UntilRunComplete:
		_, err := w.view.Run(t.Run)
		return err
	case hub.UntilTaskReady:
		if t.Room == "" {
			t.Room = w.query.Room
		}
		room, err := w.view.Room(t.Room)
		t.Room = room.RoomID
		return err
	case hub.UntilAnswered:
		return w.prepareAnswered(t)
	case hub.UntilForMe:
		t.feeds = w.unreadFeeds()
	case hub.UntilMessageFrom:
		t.feeds = w.unreadFeeds()
		return w.knownAgent(t)
	case hub.UntilSeatIdle:
		return w.knownAgent(t)
	case hub.UntilTasksComplete:
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
		err = hub.Errorf(hub.CodeSessionNotFound, "agent %s has never registered", agent).With("agent_id", agent)
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
	add(view.PauseScope())
	if w.query.Stream {
		add(view.SessionScope(w.query.Agent)) // it may go on under another id
	}
	for i := range w.tests {
		switch c := &w.tests[i]; c.Kind {
		case hub.UntilTasksComplete:
			for _, id := range c.Tasks {
				add(view.TaskScope(id))
			}
		case hub.UntilRunComplete:
			add(view.RunScope(c.Run))
		case hub.UntilMessageFrom, hub.UntilForMe:
			add(c.scopes()...)
		case hub.UntilAnswered:
			add(c.scopes()...)
			add(view.TaskScope(c.Message))
		case hub.UntilTaskReady:
			add(view.ReadyScope(c.Room))
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
	got.NextSinceID, got.HeadID = min(since[0], since[1]), u.Head
	u.After = w.query.After
	got.Messages, got.More, err = w.messages(u)
	return err
}

// held is the answer while a pause stops the agent: nothing wakes it.
func (w *watch) held(got hub.Watched, paused *hub.Pause) hub.Watched {
	got.Met = false
	for i := range w.tests {
		if paused != nil {
			got.Conditions = append(got.Conditions, hub.ConditionState{Condition: w.tests[i].Text, Why: paused.String()})
		}
	}
	return got
}

func (w *watch) look() (got hub.Watched, again time.Duration, err error) {
	got = hub.Watched{Met: !w.query.Stream, RoomID: w.query.Room, AgentID: w.query.Agent}
	paused, err := w.view.Paused(w.query.Agent, w.query.Room)
	if err != nil || paused != nil {
		return w.held(got, paused), 0, err
	}
	for i := range w.tests {
		state := hub.ConditionState{Condition: w.tests[i].Text}
		var after time.Duration
		switch c := &w.tests[i]; c.Kind {
		case hub.UntilTasksComplete:
			state, err = w.tasksComplete(c)
		case hub.UntilRunComplete:
			state, err = w.runComplete(c)
		case hub.UntilMessageFrom:
			state.Met, state.Why, err = w.messageFrom(c)
		case hub.UntilForMe:
			state.Met, state.Why, err = w.forMe(c)
		case hub.UntilAnswered:
			state, err = w.answered(c)
		case hub.UntilTaskReady:
			state.Met, state.Why, err = w.taskReady(c)
		case hub.UntilSeatIdle:
			state.Met, state.Why, after, err = w.seatIdle(c.Agent)
		}
		if err != nil {
			return got, 0, err
		}
		if after > 0 && (again == 0 || after < again) {
			again = after
		}
		if w.query.Stream {
			got.Met = got.Met || state.Met
		} else {
			got.Met, got.Stuck = got.Met && state.Met, got.Stuck || state.Stuck
		}
		got.Conditions = append(got.Conditions, state)
	}
	return got, again, nil
}

// tasksComplete holds when every task has ended, however. It is stuck while one of them is left.
func (w *watch) tasksComplete(c *test) (hub.ConditionState, error) {
	everybody := view.Viewer{All: true} // prepare has checked that the agent may see the tasks
	state := hub.ConditionState{Condition: c.Text, Met: true}
	whys := make([]string, 0, len(c.Tasks))
	for _, id := range c.Tasks {
		status, ended := c.ended[id]
		why := ""
		if !ended {
			t, err := w.view.Task(id, everybody)
			if err != nil {
				return state, err
			}
			if status, why = t.Status, w.left(&t); status.Terminal() {
				c.ended[id] = status
			}
		}
		state.Met, state.Stuck = state.Met && status.Terminal(), state.Stuck || why != ""
		whys = append(whys, fmt.Sprintf("task %d is %s%s", id, status, why))
	}
	state.Why = strings.Join(whys, ", ")
	return state, nil
}

// closesCircle reports whether agents would wait for each other because this watch waits. The answer says so
// then, and ends as stuck.
func (w *watch) closesCircle(got *hub.Watched) bool {
	if got.Met || got.Stuck || w.query.Stream {
		return false
	}
	awaited := make([][]hub.AgentID, len(w.tests))
	for i := range w.tests {
		if !got.Conditions[i].Met {
			awaited[i] = w.view.Awaited(&w.tests[i].Condition)
		}
	}
	circle := w.view.CircleOf(w.query.Agent, slices.Concat(awaited...), w.now())
	if circle == nil {
		return false
	}
	got.Stuck, got.Circle = true, circle
	for i := range got.Conditions {
		if c := &got.Conditions[i]; slices.Contains(awaited[i], circle[1]) {
			c.Stuck, c.Why = true, c.Why+"; to wait for it would close a circle of agents that wait for each other"
		}
	}
	return true
}

// left says that the assignee of a task has gone; empty: it has not.
func (w *watch) left(t *hub.Task) string {
	if t.AssigneeGoneSince == nil || t.Status.Terminal() {
		return ""
	}
	return fmt.Sprintf(", and its assignee is gone (%s, for %s)", *t.Assignee, hub.Age(w.now()-*t.AssigneeGoneSince))
}

// runComplete holds when all tasks of the run have ended, however. It is stuck while one of them is
// left.
func (w *watch) runComplete(c *test) (hub.ConditionState, error) {
	state := hub.ConditionState{Condition: c.Text}
	stored, err := w.view.Run(c.Run)
	if err != nil {
		return state, err
	}
	run := &stored.Run
	left := run.Counts.Open + run.Counts.Working + run.Counts.InputRequired
	state.Met, state.Why = run.Status.Terminal(), fmt.Sprintf("run %s is %s", run.RunID, run.Status)
	switch {
	case state.Met:
	case run.Counts.Total == 0:
		state.Why += ": it has no tasks"
	default:
		state.Why += fmt.Sprintf(": %d of %d tasks have not ended", left, run.Counts.Total)
		for i, t := range w.view.Tasks.LeftOf(c.Run, w.sees) {
			if state.Stuck = true; i == mostLeft {
				state.Why += "; and more"
				break
			}
			state.Why += fmt.Sprintf("; task %d is %s%s", t.Task.TaskID, t.Task.Status, w.left(&t.Task))
		}
	}
	return state, nil
}
