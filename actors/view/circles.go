package view

import (
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/circle"
)

// wait leads to an agent that another one waits for. asked: with a call for its answer to a message.
type wait struct {
	agent hub.AgentID
	asked bool
}

// waits returns waits for agents with what they have, or for what they do.
func waits(agents []hub.AgentID, asked bool) []wait {
	all := make([]wait, len(agents))
	for i, a := range agents {
		all[i] = wait{a, asked}
	}
	return all
}

// CircleOf returns the agents that would wait for each other because a call or a watch of first, which has
// arrived and is noted in Waiters, waits for all of next: first, one of next, an agent that this one waits
// for, and so on, the shortest way around; the last one waits for first. nil: there is none. Of calls that
// arrive at once, the one that looks last sees all.
func (v *View) CircleOf(first hub.AgentID, next []hub.AgentID, now hub.Time) []hub.AgentID {
	return v.circle(first, waits(next, false), now)
}

// CircleOfAnswer is CircleOf for a call that waits for the answer to a message.
func (v *View) CircleOfAnswer(first hub.AgentID, to hub.MessageID, now hub.Time) []hub.AgentID {
	return v.circle(first, waits([]hub.AgentID{v.Answers(to)}, true), now)
}

func (v *View) circle(first hub.AgentID, next []wait, now hub.Time) []hub.AgentID {
	from := wait{agent: first}
	next = slices.DeleteFunc(next, func(w wait) bool { return w.agent == "" || w.agent == first })
	if len(next) == 0 {
		return nil
	}
	around := circle.Around(from, func(at wait) []wait {
		if at == from {
			return next // only the call that has arrived counts
		}
		all := v.waitsFor(at, now)
		for i := range all {
			if all[i].agent == first {
				all[i] = from
			}
		}
		return all
	})
	var agents []hub.AgentID
	for _, at := range around {
		agents = append(agents, at.agent)
	}
	return agents
}

// Waits reports whether an agent waits for others; see waitsFor.
func (v *View) Waits(agent hub.AgentID, now hub.Time) bool {
	return len(v.waitsFor(wait{agent: agent}, now)) > 0
}

// waitsFor returns the agents that an agent waits for: those that have what its calls wait for and, while
// it sleeps, those that its watches and its tasks wait for. An agent that works goes on whatever it watches,
// and so does one that is asked something and woken by it.
func (v *View) waitsFor(at wait, now hub.Time) (all []wait) {
	leases, answers, watches := v.Waiters.of(at.agent)
	for _, k := range leases {
		all = append(all, waits(v.Leases.Blockers(k, at.agent), false)...)
	}
	for _, id := range answers {
		all = append(all, wait{v.Answers(id), true})
	}
	tasks := v.Tasks.Of(at.agent, func(*core.StoredTask) bool { return true })
	if d := v.Directory.Doing(at.agent); sleeps(&d, tasks, watches, now) && !(at.asked && hears(&d, watches)) {
		for _, w := range watches {
			for i := range w.until {
				all = append(all, waits(v.Awaited(&w.until[i]), false)...)
			}
		}
		all = append(all, waits(v.blockers(tasks), false)...)
	}
	return slices.DeleteFunc(all, func(w wait) bool { return w.agent == "" || w.agent == at.agent })
}

// hears reports whether a message that asks something of a sleeping agent would wake it.
func hears(d *Doing, watches []*expectation) bool {
	return d.heard || slices.ContainsFunc(watches, func(w *expectation) bool {
		return !slices.ContainsFunc(w.until, func(c hub.Condition) bool { return c.Kind != hub.UntilForMe })
	})
}

// sleeps reports whether an agent does nothing until something that concerns it happens. One that has
// made no call since its watch began does not work, however short ago that is.
func sleeps(d *Doing, tasks []core.StoredTask, watches []*expectation, now hub.Time) bool {
	if d.Session == nil && !d.Watched {
		return false // it has gone
	}
	if d.Turning(now) != 0 {
		return false
	}
	switch activity, _ := d.Activity(tasks, now); activity {
	case hub.ActivityIdle, hub.ActivityWaiting, hub.ActivityNoTerminal:
		return true
	case hub.ActivityWorking:
		return slices.ContainsFunc(watches, func(w *expectation) bool { return w.since >= d.Acted })
	case hub.ActivityBlocked, hub.ActivityAtPrompt, hub.ActivityStuck: // its user has to help
	}
	return false
}

// Awaited returns the agents that have to act before a condition of a watch holds. The condition that an
// agent is idle names none: one that waits is idle.
func (v *View) Awaited(c *hub.Condition) (all []hub.AgentID) {
	has := func(t *core.StoredTask) {
		if !t.Task.Status.Terminal() && t.Task.Assignee != nil {
			all = append(all, *t.Task.Assignee)
		}
	}
	switch c.Kind {
	case hub.UntilTasksComplete:
		for _, id := range c.Tasks {
			if t, live := v.Tasks.Get(id); live {
				has(&t)
			}
		}
	case hub.UntilRunComplete:
		for _, t := range v.Tasks.List(func(t *core.StoredTask) bool { return t.Task.RunID != nil && *t.Task.RunID == c.Run }) {
			has(&t)
		}
	case hub.UntilAnswered:
		all = append(all, v.Answers(c.Message))
	case hub.UntilMessageFrom:
		all = append(all, c.Agent)
	case hub.UntilForMe, hub.UntilTaskReady, hub.UntilSeatIdle:
	}
	return all
}

// blockers returns the agents whose tasks an agent with these tasks waits for; none if it can go on with
// one of them.
func (v *View) blockers(tasks []core.StoredTask) (all []hub.AgentID) {
	for i := range tasks {
		if tasks[i].Task.Ready {
			return nil
		}
		open, _ := v.Tasks.Links(&tasks[i].Task)
		for _, t := range open {
			if t.Task.Assignee != nil {
				all = append(all, *t.Task.Assignee)
			}
		}
	}
	return all
}

// Answers returns the agent that has to answer a message: the assignee of the task that it opened,
// else the agent that it is addressed to; "": there is none, or the task has ended.
func (v *View) Answers(id hub.MessageID) hub.AgentID {
	if t, err := v.AnyTask(id); err == nil {
		if t.Task.Status.Terminal() || t.Task.Assignee == nil {
			return ""
		}
		return *t.Task.Assignee
	}
	m, err := v.Message(id)
	if err != nil {
		return ""
	}
	return m.To
}
