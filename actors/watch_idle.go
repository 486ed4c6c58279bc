package actors

import (
	"fmt"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// seatIdle holds when the agent has been idle or waiting for hub.SeatIdleAfter,
// no task of it is worked on and no unread request waits for it; also when it is
// gone. after is in how long it may begin to hold if nothing happens.
func (w *watch) seatIdle(c *test) (met bool, why string, after time.Duration, err error) {
	h := w.hub
	d, now := h.view.Directory.Doing(c.Agent), h.engine.Clock.Now().Wall
	if d.Session == nil {
		return true, fmt.Sprintf("%s is gone: it has no live session", c.Agent), 0, nil
	}
	tasks := h.view.Tasks.Of(c.Agent, func(t *core.StoredTask) bool { return !t.Task.Status.Terminal() })
	for i := range tasks {
		if tasks[i].Task.Status == hub.TaskWorking {
			return false, fmt.Sprintf("a task of %s is working", c.Agent), 0, nil
		}
	}
	activity, since := d.Activity(tasks, now)
	idleAfter := hub.Time(hub.SeatIdleAfter.Milliseconds())
	switch activity {
	case hub.ActivityBlocked:
		return false, fmt.Sprintf("%s is blocked: a task of it needs input", c.Agent), 0, nil
	case hub.ActivityWorking: // its last call keeps it so
		until := d.Acted + hub.Time(hub.SeatWorkingFor.Milliseconds()) + idleAfter
		return false, fmt.Sprintf("%s is working: it made a call lately", c.Agent), view.Span{From: now, To: until}.Length(), nil
	case hub.ActivityWaiting, hub.ActivityIdle:
	}
	if until := since + idleAfter; now < until {
		return false, fmt.Sprintf("%s is %s, but not for %d seconds yet", c.Agent, activity, int(hub.SeatIdleAfter.Seconds())), view.Span{From: now, To: until}.Length(), nil
	}
	if request, err := h.requestWaits(c.Agent, tasks); err != nil || request != nil {
		return false, w.whyUnread(c.Agent, request), 0, err
	}
	return true, fmt.Sprintf("%s is %s", c.Agent, activity), 0, nil
}

// whyUnread says that a request waits. Its id is for those only who may see it.
func (w *watch) whyUnread(agent hub.AgentID, request *core.StoredMessage) string {
	if request != nil && (w.operator || hub.Visible(w.query.Agent, request.From, request.To)) {
		return fmt.Sprintf("%s has not read the request %d", agent, request.ID)
	}
	return fmt.Sprintf("%s has not read a request", agent)
}

// requestWaits returns an unread task_request to an agent that has opened one of
// these, the live tasks that it has; nil if there is none.
func (h *Hub) requestWaits(agent hub.AgentID, tasks []core.StoredTask) (*core.StoredMessage, error) {
	seen := h.view.Seen.Of(agent)
	for i := range tasks {
		t := &tasks[i]
		if !t.Direct || t.Task.CreatedBy == agent || t.Task.TaskID <= seen.InInbox() || seen.HasAnswered(t.Task.TaskID) {
			continue
		}
		m, err := h.view.Message(t.Task.TaskID)
		if err != nil {
			return nil, err
		}
		if m.Kind == hub.KindTaskRequest && m.To == agent {
			return m, nil
		}
	}
	return nil, nil
}
