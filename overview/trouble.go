package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// When something becomes trouble.
const (
	PromptLong = 2 * time.Minute  // how long an agent is at a prompt before
	ExpiryNear = 30 * time.Second // how long a lease that others wait for still runs
)

var severity = []hub.TroubleKind{hub.TroubleHub, hub.TroubleCircle, hub.TroubleStuck, hub.TroublePrompt, hub.TroubleAsleep, hub.TroubleAway, hub.TroubleExpires}

// finding collects trouble.
type finding struct {
	s    *Snapshot
	rows []hub.Trouble
}

func (f *finding) add(kind hub.TroubleKind, agents []hub.AgentID, task hub.TaskID, format string, args ...any) {
	if agents == nil {
		agents = []hub.AgentID{}
	}
	f.rows = append(f.rows, hub.Trouble{Kind: kind, Agents: agents, TaskID: task, Text: fmt.Sprintf(format, args...)})
}

// trouble derives what is wrong. The waits and circles must be there.
func trouble(s *Snapshot) []hub.Trouble {
	f := &finding{s: s, rows: []hub.Trouble{}}
	f.hub()
	for _, circle := range s.Circles {
		f.add(hub.TroubleCircle, circle, 0, "%s wait for each other: %s", names(circle), around(s.Waits, circle))
	}
	f.stuck()
	f.agents()
	f.away()
	f.leases()
	slices.SortStableFunc(f.rows, func(a, b hub.Trouble) int {
		return cmp.Compare(slices.Index(severity, a.Kind), slices.Index(severity, b.Kind))
	})
	return f.rows
}

func (f *finding) hub() {
	h := &f.s.Hub
	switch h.Journal.State {
	case hub.JournalFull:
		f.add(hub.TroubleHub, nil, 0, "the disk of the hub is full (%d MiB free): it refuses all writes", h.Journal.FreeBytes>>20)
	case hub.JournalFailed:
		f.add(hub.TroubleHub, nil, 0, "a write of the hub to its disk failed: it is about to exit")
	case hub.JournalOK, "":
	default:
		f.add(hub.TroubleHub, nil, 0, "the journal of the hub is %s", h.Journal.State)
	}
	for _, q := range h.Quarantined {
		f.add(hub.TroubleHub, nil, 0, "%s is in quarantine and refuses all calls: %s", q.Owner, q.Reason)
	}
}

// around describes the waits of a circle.
func around(rows []hub.Wait, circle []hub.AgentID) string {
	var parts []string
	for i, waiter := range circle {
		other := circle[(i+1)%len(circle)]
		for j := range rows {
			if w := &rows[j]; w.Waiter == waiter && w.For == other {
				parts = append(parts, fmt.Sprintf("%s for %s (%s)", waiter, other, w.What))
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}

func (f *finding) stuck() {
	for i := range f.s.Tasks {
		t := &f.s.Tasks[i]
		for _, id := range t.BlockedBy {
			if status, ended := f.s.lost[id]; ended && t.Status == hub.TaskOpen && !t.Ready {
				f.add(hub.TroubleStuck, parties(t), t.TaskID, "task %d (%s) waits for task %d, which ended as %s", t.TaskID, t.Title, id, status)
			}
		}
	}
}

// parties are the agent that has the task and the one that gave it.
func parties(t *hub.Task) []hub.AgentID {
	list := []hub.AgentID{}
	if t.Assignee != nil {
		list = append(list, *t.Assignee)
	}
	if t.CreatedBy != "" && !slices.Contains(list, t.CreatedBy) {
		list = append(list, t.CreatedBy)
	}
	return list
}

func (f *finding) agents() {
	for i := range f.s.Agents {
		a := &f.s.Agents[i]
		if a.Activity != hub.ActivityAtPrompt || a.ActivitySince == nil || f.s.At-*a.ActivitySince < ms(PromptLong) {
			continue
		}
		tool := ""
		if a.PromptTool != "" {
			tool = " (" + a.PromptTool + ")"
		}
		f.add(hub.TroublePrompt, []hub.AgentID{a.AgentID}, 0, "%s waits at a prompt of its program for %s%s", a.AgentID, hub.Age(f.s.At-*a.ActivitySince), tool)
	}
	for _, a := range f.s.Hub.Asleep {
		if a.Closed {
			continue // nobody can wake it; its mail is listed as undelivered
		}
		f.add(hub.TroubleAsleep, []hub.AgentID{a.AgentID}, 0, "%s sleeps over %s, for %s", a.AgentID, Count(a.Unread, "direct message"), hub.Age(f.s.At-a.Since))
	}
}

// away finds tasks that are under way with agents that are not there.
func (f *finding) away() {
	present := byID(f.s.Agents, func(a hub.LiveAgent) hub.AgentID { return a.AgentID })
	for i := range f.s.Tasks {
		t := &f.s.Tasks[i]
		if t.Status != hub.TaskWorking || t.Assignee == nil {
			continue
		}
		a, lives := present[*t.Assignee]
		switch {
		case !lives && slices.Contains(f.s.Cut, "agents"): // unknown
		case !lives:
			f.add(hub.TroubleAway, []hub.AgentID{*t.Assignee}, t.TaskID, "%s is gone and has task %d under way (%s)", *t.Assignee, t.TaskID, t.Title)
		case a.Presence == hub.PresenceAway && a.Activity != hub.ActivityAtPrompt:
			f.add(hub.TroubleAway, []hub.AgentID{a.AgentID}, t.TaskID, "%s made no call for %s and has task %d under way (%s)",
				a.AgentID, hub.Age(f.s.At-a.LastSeen), t.TaskID, t.Title)
		}
	}
}

func (f *finding) leases() {
	for _, l := range f.s.Leases() {
		if left := l.Expires - f.s.At; len(l.Waiters) > 0 && left < ms(ExpiryNear) {
			f.add(hub.TroubleExpires, []hub.AgentID{l.Owner}, 0, "%s of %s ends in %s, and %s for it", &l, l.Owner, hub.Age(left), waitFor(len(l.Waiters)))
		}
	}
}

func waitFor(n int) string {
	if n == 1 {
		return "1 agent waits"
	}
	return fmt.Sprintf("%d agents wait", n)
}

// ms is a span as times of the hub count it.
func ms(d time.Duration) hub.Time { return hub.Time(d / time.Millisecond) }

func names(list []hub.AgentID) string {
	parts := make([]string, len(list))
	for i, id := range list {
		parts[i] = string(id)
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}
