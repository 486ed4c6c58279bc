package core_test

import (
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"hubcli/hub"
)

func drawAgent(rt *rapid.T) hub.AgentID {
	return rapid.SampledFrom([]hub.AgentID{"lead", "dev", "next"}).Draw(rt, "agent")
}

// drawPlan returns tasks that may wait for each other in a circle.
func drawPlan(rt *rapid.T) []hub.PlannedTask {
	tasks := make([]hub.PlannedTask, rapid.IntRange(1, 5).Draw(rt, "planned"))
	for i := range tasks {
		tasks[i].Title = "planned " + strconv.Itoa(i)
		tasks[i].AfterFailed = rapid.SampledFrom([]hub.AfterFailed{"", hub.AfterFailedWait, hub.AfterFailedContinue}).Draw(rt, "after_failed")
		for _, at := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(tasks)-1), 0, 2, rapid.ID[int]).Draw(rt, "after") {
			tasks[i].After = append(tasks[i].After, strconv.Itoa(at+1))
		}
	}
	return tasks
}

// drawRun returns the id of an existing run, of a missing run, or none.
func (r *taskRig) drawRun(rt *rapid.T) hub.RunID {
	choices := []hub.RunID{"", "run_zz"}
	for id := range r.runs {
		choices = append(choices, id)
	}
	slices.Sort(choices)
	return rapid.SampledFrom(choices).Draw(rt, "run")
}

// checkRuns compares the rows of runs with those of their tasks.
func (r *taskRig) checkRuns(rt *rapid.T) {
	running := map[hub.RunID]bool{}
	for _, run := range r.live.Runs() {
		running[run.Run.RunID] = true
	}
	inRun := map[hub.TaskID]hub.RunID{}
	for id, row := range r.runs {
		run := row.Run
		var c hub.RunCounts
		for _, entry := range r.runTasks[id] {
			if was, ok := inRun[entry.Task]; ok || entry.Direct != r.rows[entry.Task].Direct || entry.Seq > row.AsOf {
				rt.Fatalf("entry %+v of run %s does not match its task; other run of the task: %q", entry, id, was)
			}
			inRun[entry.Task] = id
			countTask(&c, r.rows[entry.Task].Task.Status)
		}
		if c != run.Counts || run.Status != statusOfCounts(c) || run.Status.Terminal() != (run.EndedAt != nil) {
			rt.Fatalf("run %+v does not match the counts of its tasks: %+v", run, c)
		}
		if running[id] == run.Status.Terminal() {
			rt.Fatalf("run %+v is among the running ones: %v", run, running[id])
		}
	}
	for id, row := range r.rows {
		if run, ok := inRun[id]; ok != (row.Task.RunID != nil) || ok && run != *row.Task.RunID {
			rt.Fatalf("task %+v is in the index of run %q", row.Task, run)
		}
	}
}

func countTask(c *hub.RunCounts, s hub.TaskStatus) {
	c.Total++
	*map[hub.TaskStatus]*int{
		hub.TaskOpen: &c.Open, hub.TaskWorking: &c.Working, hub.TaskInputRequired: &c.InputRequired,
		hub.TaskDone: &c.Done, hub.TaskFailed: &c.Failed, hub.TaskCancelled: &c.Cancelled,
	}[s]++
}

func statusOfCounts(c hub.RunCounts) hub.RunStatus {
	switch {
	case c.Done == c.Total && c.Total > 0:
		return hub.RunComplete
	case c.Done+c.Failed+c.Cancelled < c.Total || c.Total == 0:
		return hub.RunRunning
	case c.Failed > 0:
		return hub.RunFailed
	}
	return hub.RunCancelled
}

// checkOffers checks that the assignee of a task follows from the commands, and
// that an offer has both sides or neither.
func (r *taskRig) checkOffers(rt *rapid.T, assignee map[hub.TaskID]hub.AgentID) {
	for id, row := range r.rows {
		var is hub.AgentID
		if row.Task.Assignee != nil {
			is = *row.Task.Assignee
		}
		if is != assignee[id] {
			rt.Fatalf("task %d has the assignee %q, want %q", id, is, assignee[id])
		}
		if (row.Task.OfferedTo != nil) != (row.OfferedBy != "") || row.Task.OfferedTo != nil && (row.Task.Status.Terminal() || *row.Task.OfferedTo == is) {
			rt.Fatalf("task %+v is offered by %q", row.Task, row.OfferedBy)
		}
	}
}
