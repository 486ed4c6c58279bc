package view

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// Doing is what the directory knows of an agent.
type Doing struct {
	Session *hub.Session // live; nil: none
	Parked  bool         // a call of the agent waits
	polls   bool         // one of them for messages
	Watched bool         // a watch of the agent waits
	Streams bool         // all watches of it that wait are streams, and nothing else of it does
	heard   bool         // what waits for messages is a poll or a stream
	waited  Span
	Acted   hub.Time // last call that was no poll; 0: unknown
	busy    hub.Time // since when such calls came without a break of hub.SeatWorkingFor
	woken   hub.Time // last time that a wait of it was answered; 0: unknown
	turn    *turn    // as a hook has noted it; nil: unknown
	freed   hub.Time // last time that a task stopped keeping the agent; 0: unknown
}

// Doing returns what an agent does. Nothing of it is journaled: after a start all
// is unknown but the session.
func (d *Directory) Doing(agent hub.AgentID) (out Doing) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.parkedMu.Lock()
	defer d.parkedMu.Unlock()
	n := d.parked[agent]
	watches := d.parked[agent.Watch()]
	out.Parked, out.polls, out.Watched = n.calls > 0, n.polls > 0, watches.calls > 0
	out.Streams = n.calls == 0 && watches.calls > 0 && watches.calls == watches.streams
	out.heard = n.polls > 0 || watches.streams > 0
	if p := d.live[agent]; p != nil {
		row := p.row()
		out.Session, out.waited, out.turn = &row, p.waited, p.turn.Load()
		out.Acted, out.busy, out.freed = hub.Time(p.acted.Load()), hub.Time(p.busy.Load()), hub.Time(p.freed.Load())
		out.woken = hub.Time(p.woken.Load())
	}
	return out
}

// Freed returns when a task stopped keeping the agent last; 0: unknown.
func (d *Doing) Freed() hub.Time { return d.freed }

// Presence says whether the agent is there. A parked call is presence, and so is
// a watch: what runs it would end with the agent.
func (d *Doing) Presence(now hub.Time) hub.Presence {
	switch {
	case d.Session == nil:
		return hub.PresenceGone
	case d.Parked, d.Watched, now-d.Session.LastSeen < hub.Time(hub.SeatAwayAfter.Milliseconds()):
		return hub.PresenceLive
	}
	return hub.PresenceAway
}

// Listener says whether something would wake the agent.
func (d *Doing) Listener() hub.Listener {
	switch {
	case d.polls, d.Watched:
		return hub.ListenerArmed
	case d.Session == nil:
		return hub.ListenerUnknown
	}
	return hub.ListenerNone
}

// PromptTool returns the tool that the agent's program asks a user about, if it does.
func (d *Doing) PromptTool() string {
	if d.turn == nil {
		return ""
	}
	return d.turn.tool
}

// Turn returns how far the agent is with its turn, and since when. A turn under way of
// which nothing was heard for long is unknown.
func (d *Doing) Turn(now hub.Time) (hub.Turn, *hub.Time) {
	if d.turn == nil || d.turn.state == hub.TurnWorking && d.Turning(now) == 0 {
		return hub.TurnUnknown, nil
	}
	return d.turn.state, &d.turn.since
}

// atPrompt reports whether the agent's program asks its user.
func (d *Doing) atPrompt() bool { return d.turn != nil && d.turn.state == hub.TurnAtPrompt }

// stuck reports whether the agent's last turn ended because its model failed.
func (d *Doing) stuck() bool {
	return d.turn != nil && d.turn.state == hub.TurnStuck && d.Acted <= d.turn.since
}

// Turning returns until when the agent counts as in a turn because a hook has noted
// one; 0: it does not. A turn that a user breaks off ends without a hook in some
// harnesses, so a sign of life is needed now and then.
func (d *Doing) Turning(now hub.Time) hub.Time {
	if d.turn == nil || d.turn.state != hub.TurnWorking {
		return 0
	}
	if until := max(d.turn.since, d.Acted) + hub.Time(hub.TurnTrustedFor.Milliseconds()); now < until {
		return until
	}
	return 0
}

// turnEnded reports whether a hook has noted the end of a turn, and the agent has made no
// call since.
func (d *Doing) turnEnded() bool {
	if d.turn == nil || d.Acted > d.turn.since {
		return false
	}
	switch d.turn.state {
	case hub.TurnIdle, hub.TurnNoTerminal, hub.TurnStuck:
		return true
	case hub.TurnUnknown, hub.TurnWorking, hub.TurnAtPrompt:
	}
	return false
}

// noTerminal reports whether nobody follows the session of the agent.
func (d *Doing) noTerminal() bool { return d.turnEnded() && d.turn.state == hub.TurnNoTerminal }

// Unreachable reports whether the agent is live and nothing would wake it. An agent that
// has just made a call, that waits for a lease or of which a hook knows it is in the
// middle of its turn, and looks by itself or is shown its messages. So does one whose wait
// was answered just now, until it has ended the turn that this begins.
func (d *Doing) Unreachable(now hub.Time) bool {
	if d.Listener() != hub.ListenerNone || d.Parked || d.atPrompt() || d.Turning(now) != 0 {
		return false
	}
	if now-d.woken < hub.Time(hub.WokenFor.Milliseconds()) && !(d.turnEnded() && d.turn.since > d.woken) {
		return false
	}
	return d.turnEnded() || now-d.Acted >= hub.Time(hub.SeatWorkingFor.Milliseconds())
}

// Activity says what the agent does, and since when as far as that is known: 0
// where it is not. tasks are those that it has. A watch is no activity.
func (d *Doing) Activity(tasks []core.StoredTask, now hub.Time) (hub.Activity, hub.Time) {
	blocked, working := hub.Time(0), hub.Time(0)
	for i := range tasks {
		switch row := &tasks[i].Task; row.Status { //nolint:exhaustive // the others keep nobody
		case hub.TaskInputRequired:
			blocked = earlier(blocked, row.UpdatedAt)
		case hub.TaskWorking:
			working = earlier(working, row.UpdatedAt)
		}
	}
	calls := d.Acted + hub.Time(hub.SeatWorkingFor.Milliseconds()) // until when they keep it working
	if d.Acted != 0 && now < calls {
		working = earlier(working, d.busy)
	}
	switch {
	case d.atPrompt():
		return hub.ActivityAtPrompt, d.turn.since
	case d.noTerminal():
		return hub.ActivityNoTerminal, d.turn.since
	case d.stuck():
		return hub.ActivityStuck, d.turn.since
	case blocked != 0:
		return hub.ActivityBlocked, blocked
	case d.Parked:
		return hub.ActivityWaiting, max(d.waited.From, d.freed)
	case d.turnEnded():
		return hub.ActivityIdle, d.turn.since
	case d.Turning(now) != 0:
		return hub.ActivityWorking, max(d.turn.since, d.waited.To)
	case working != 0:
		return hub.ActivityWorking, max(working, d.waited.To)
	}
	since := max(d.waited.To, d.freed)
	if d.Acted != 0 {
		since = max(since, calls)
	}
	if since == 0 && d.Session != nil {
		since = d.Session.CreatedAt
	}
	return hub.ActivityIdle, since
}

// earlier returns the earlier of two times, of which 0 is none.
func earlier(a, b hub.Time) hub.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// CurrentTask returns the newest working task, else the newest that needs input, of
// the tasks that the viewer may see.
func CurrentTask(tasks []core.StoredTask, sees Viewer) *hub.TaskID {
	for _, status := range []hub.TaskStatus{hub.TaskWorking, hub.TaskInputRequired} {
		for i := range tasks {
			if tasks[i].Task.Status == status && sees.Task(&tasks[i]) {
				return &tasks[i].Task.TaskID
			}
		}
	}
	return nil
}
