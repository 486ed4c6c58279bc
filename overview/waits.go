package overview

import (
	"cmp"
	"fmt"
	"slices"

	"hubcli/hub"
)

// Human is the name of the human in waits.
const Human = hub.AgentOperator

// graph collects waits.
type graph struct {
	rows []hub.Wait
	seen map[edge]bool
}

// edge is what makes a wait a row of its own.
type edge struct {
	waiter, other hub.AgentID
	reason        hub.WaitReason
	what          string
}

// add notes a wait, each once. No agent waits for itself. The human and the hub do not
// wait: they go on with other things.
func (g *graph) add(w hub.Wait) {
	key := edge{w.Waiter, w.For, w.Reason, w.What}
	if w.Waiter == "" || w.Waiter.Reserved() || w.For == "" || w.Waiter == w.For || g.seen[key] {
		return
	}
	g.seen[key] = true
	g.rows = append(g.rows, w)
}

// waits derives which agent waits for which, those that wait for the human first.
func waits(s *Snapshot) []hub.Wait {
	g := &graph{rows: []hub.Wait{}, seen: map[edge]bool{}}
	for i := range s.Asks {
		a := &s.Asks[i]
		w := hub.Wait{Waiter: a.AgentID, For: Human, Reason: hub.WaitForAnswer, What: a.Question, Since: &a.CreatedAt}
		if a.Blocks != nil {
			w.TaskID = *a.Blocks
		}
		g.add(w)
	}
	for _, l := range s.Leases() {
		for _, waiter := range l.Waiters {
			g.add(hub.Wait{Waiter: waiter.AgentID, For: l.Owner, Reason: hub.WaitForLease, What: l.String(), Since: &waiter.Since})
		}
	}
	tasks := byID(s.Tasks, func(t hub.Task) hub.TaskID { return t.TaskID })
	for i := range s.Tasks {
		g.task(&s.Tasks[i], tasks)
	}
	for i := range s.Agents {
		g.agent(&s.Agents[i], tasks)
	}
	slices.SortStableFunc(g.rows, func(a, b hub.Wait) int {
		return cmp.Or(first(b.For == Human, a.For == Human), cmp.Compare(a.Waiter, b.Waiter), cmp.Compare(a.For, b.For))
	})
	return g.rows
}

// first orders true behind false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// task notes the agents that the task makes wait.
func (g *graph) task(t *hub.Task, tasks map[hub.TaskID]hub.Task) {
	mine := t.CreatedBy
	if t.Assignee != nil {
		mine = *t.Assignee
	}
	if t.OfferedTo != nil {
		g.add(hub.Wait{
			Waiter: mine, For: *t.OfferedTo, Reason: hub.WaitForOffer, What: fmt.Sprintf("offer of task %d", t.TaskID),
			Since: &t.UpdatedAt, TaskID: t.TaskID,
		})
	}
	if t.Assignee == nil {
		return
	}
	for _, id := range t.BlockedBy {
		if blocker, lives := tasks[id]; lives && blocker.Assignee != nil {
			g.add(hub.Wait{
				Waiter: mine, For: *blocker.Assignee, Reason: hub.WaitForBlocker,
				What: fmt.Sprintf("task %d, for task %d", id, t.TaskID), TaskID: t.TaskID,
			})
		}
	}
}

// agent notes for whom the agent waits by what it does and watches.
func (g *graph) agent(a *hub.LiveAgent, tasks map[hub.TaskID]hub.Task) {
	if a.Activity == hub.ActivityAtPrompt {
		tool := "a prompt"
		if a.PromptTool != "" {
			tool = "a prompt for " + a.PromptTool
		}
		g.add(hub.Wait{Waiter: a.AgentID, For: Human, Reason: hub.WaitForPrompt, What: tool, Since: a.ActivitySince})
	}
	if a.Details == nil {
		return
	}
	for _, text := range a.Details.Watching {
		c, err := hub.ParseCondition("until", text)
		if err != nil {
			continue // a later hub has conditions that this program does not know
		}
		g.watch(a, &c, tasks)
	}
}

func (g *graph) watch(a *hub.LiveAgent, c *hub.Condition, tasks map[hub.TaskID]hub.Task) {
	wait := hub.Wait{Waiter: a.AgentID, What: c.Text, Since: a.ActivitySince}
	if a.Activity != hub.ActivityWaiting {
		wait.Since = nil // of something else
	}
	switch c.Kind {
	case hub.UntilMessageFrom:
		wait.For, wait.Reason = c.Agent, hub.WaitForMessage
		g.add(wait)
	case hub.UntilSeatIdle:
		wait.For, wait.Reason = c.Agent, hub.WaitForIdle
		g.add(wait)
	case hub.UntilTasksComplete:
		for _, id := range c.Tasks {
			t := tasks[id]
			g.awaits(wait, &t)
		}
	case hub.UntilRunComplete:
		for _, t := range tasks {
			if t.RunID != nil && *t.RunID == c.Run {
				g.awaits(wait, &t)
			}
		}
	case hub.UntilAnswered:
		t := tasks[c.Message]
		g.awaits(wait, &t)
	case hub.UntilForMe, hub.UntilTaskReady: // they name no agent
	}
}

// awaits notes a watch that ends when the task does.
func (g *graph) awaits(wait hub.Wait, t *hub.Task) {
	if t.Assignee != nil {
		wait.For, wait.Reason = *t.Assignee, hub.WaitForTasks
		g.add(wait)
	}
}
