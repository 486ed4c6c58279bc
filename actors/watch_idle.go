package actors

import (
	"fmt"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// seatIdle holds when the agent has been idle or waiting for hub.SeatIdleAfter,
// no task of it is worked on and no unread request waits for it; also when it is
// gone. after is in how long it may begin to hold if nothing happens.
func (w *watch) seatIdle(c *test) (met bool, why string, after time.Duration, err error) {
	h := w.hub
	d, now := h.views.directory.doing(c.Agent), h.clock.now().Wall
	if d.session == nil {
		return true, fmt.Sprintf("%s is gone: it has no live session", c.Agent), 0, nil
	}
	tasks := h.views.tasks.of(c.Agent, func(t *core.StoredTask) bool { return !t.Task.Status.Terminal() })
	for i := range tasks {
		if tasks[i].Task.Status == hub.TaskWorking {
			return false, fmt.Sprintf("a task of %s is working", c.Agent), 0, nil
		}
	}
	activity, since := d.activity(tasks, now)
	idleAfter := hub.Time(hub.SeatIdleAfter.Milliseconds())
	switch activity {
	case hub.ActivityBlocked:
		return false, fmt.Sprintf("%s is blocked: a task of it needs input", c.Agent), 0, nil
	case hub.ActivityWorking: // its last call keeps it so
		until := d.acted + hub.Time(hub.SeatWorkingFor.Milliseconds()) + idleAfter
		return false, fmt.Sprintf("%s is working: it made a call lately", c.Agent), span{now, until}.length(), nil
	case hub.ActivityWaiting, hub.ActivityIdle:
	}
	if until := since + idleAfter; now < until {
		return false, fmt.Sprintf("%s is %s, but not for %d seconds yet", c.Agent, activity, int(hub.SeatIdleAfter.Seconds())), span{now, until}.length(), nil
	}
	waits, err := h.requestWaits(c.Agent)
	if err != nil || waits != 0 {
		return false, fmt.Sprintf("%s has not read the request %d", c.Agent, waits), 0, err
	}
	return true, fmt.Sprintf("%s is %s", c.Agent, activity), 0, nil
}

// length returns how long a span is, at least one millisecond.
func (s span) length() time.Duration {
	return time.Duration(max(s.to-s.from, 1)) * time.Millisecond
}

// requestWaits returns the last unread task_request to the agent whose task has
// not ended, or 0.
func (h *Hub) requestWaits(agent hub.AgentID) (hub.MessageID, error) {
	u := h.unreadOf(agent)
	return h.views.newest(inboxScope(agent), u.seen.InInbox(), u.head, func(m *core.StoredMessage) bool {
		if m.Kind != hub.KindTaskRequest || !u.keeps(m) {
			return false
		}
		_, live := h.views.tasks.get(m.ID)
		return live
	})
}
