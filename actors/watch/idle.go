package watch

import (
	"fmt"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// seatIdle holds when the agent is gone. It also holds when the agent has been idle or
// waiting for hub.SeatIdleAfter, has no working task, and has no unread request. after
// is the time after which it may begin to hold if nothing happens.
func (w *watch) seatIdle(agent hub.AgentID) (met bool, why string, after time.Duration, err error) {
	v, now := w.view, w.now()
	d := v.Directory.Doing(agent)
	if d.Session == nil {
		return true, fmt.Sprintf("%s is gone: it has no live session", agent), 0, nil
	}
	tasks := v.Tasks.Of(agent, func(t *core.StoredTask) bool { return !t.Task.Status.Terminal() })
	for i := range tasks {
		if tasks[i].Task.Status == hub.TaskWorking {
			return false, fmt.Sprintf("a task of %s is working", agent), 0, nil
		}
	}
	activity, since := d.Activity(tasks, now)
	// An agent that starts a watch and then makes no call sleeps until the watch ends,
	// however short ago its last call was.
	if slept := w.parked(agent); activity == hub.ActivityWorking && slept > 0 && slept >= d.Acted {
		activity, since = hub.ActivityWaiting, max(slept, d.Freed())
	}
	idleAfter := hub.Time(hub.SeatIdleAfter.Milliseconds())
	switch activity {
	case hub.ActivityAtPrompt:
		return false, fmt.Sprintf("%s is at a prompt: its program asks a user whether a tool may run", agent), 0, nil
	case hub.ActivityStuck:
		return false, fmt.Sprintf("%s is stuck: its model failed", agent), 0, nil
	case hub.ActivityBlocked:
		return false, fmt.Sprintf("%s is blocked: a task of it needs input", agent), 0, nil
	case hub.ActivityWorking:
		if until := d.Turning(now); until != 0 {
			return false, fmt.Sprintf("%s is in a turn", agent), view.Span{From: now, To: until}.Length(), nil
		}
		// Its last call keeps it so.
		until := d.Acted + hub.Time(hub.SeatWorkingFor.Milliseconds()) + idleAfter
		return false, fmt.Sprintf("%s is working: it made a call lately", agent), view.Span{From: now, To: until}.Length(), nil
	case hub.ActivityWaiting, hub.ActivityIdle, hub.ActivityNoTerminal:
	}
	if until := since + idleAfter; now < until {
		return false, fmt.Sprintf("%s is %s, but not for %d seconds yet", agent, activity, int(hub.SeatIdleAfter.Seconds())), view.Span{From: now, To: until}.Length(), nil
	}
	if request, err := v.UnreadRequest(agent, tasks); err != nil || request != nil {
		return false, whyUnread(agent, w.sees, request), 0, err
	}
	return true, fmt.Sprintf("%s is %s", agent, activity), 0, nil
}

// whyUnread says that a request is unread. It names the request only to an agent that
// may see it.
func whyUnread(agent hub.AgentID, sees view.Viewer, request *core.StoredMessage) string {
	if request != nil && sees.Message(request) {
		return fmt.Sprintf("%s has not read the request %d", agent, request.ID)
	}
	return fmt.Sprintf("%s has not read a request", agent)
}
