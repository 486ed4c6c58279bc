package core

import (
	"fmt"
	"maps"
	"slices"

	"hubcli/hub"
)

// maxRunJoin bounds the tasks that one command adds to a run: each takes two
// rows of the record.
const maxRunJoin = 400

// RunNotLive says that no run with this id is live. The stored rows say whether
// it has ended or never existed. The caller waits until everything that this
// refusal rests on is durable, reads the row, and decides the command again
// with it.
type RunNotLive struct {
	Run   hub.RunID
	Known hub.Seq // the last record in which a run ended
}

func (e *RunNotLive) Error() string { return fmt.Sprintf("core: run %s is not live", e.Run) }

// EndedRun is the stored row of a run that was not live. It is valid only while
// no run has ended since, because the run may have been reopened and have ended
// again.
type EndedRun struct {
	Row   *StoredRun // nil: there is none
	Known hub.Seq    // of the RunNotLive
}

// StartRunCommand begins a run.
type StartRunCommand struct {
	By TaskActor
	In hub.RunInput // that its room exists has been checked
	// Messages open the tasks of In.Tasks, in their order.
	Messages []MessageDraft
	Standing Standing // of the agent that makes it
}

// JoinRunCommand adds tasks to a run. It reopens a run that has ended.
type JoinRunCommand struct {
	By    TaskActor
	Run   hub.RunID
	Tasks []hub.TaskID
	Ended *EndedRun // nil at first; see RunNotLive
}

// StartRun decides a run with these tasks, and opens the tasks of its plan.
// Errors: task_not_found (also if the actor may not see the task), task_closed,
// limit_reached, invalid.
func (t *Tasks) StartRun(c StartRunCommand, _ Now, w TaskWorld) (Decision[StoredRun], error) {
	if err := t.placeForRun(c.In.CreatedBy, c.Standing); err != nil {
		return Decision[StoredRun]{}, err
	}
	join, err := t.checkJoin(c.In.TaskIDs, "", hub.RunCounts{}, c.By, w)
	if err != nil {
		return Decision[StoredRun]{}, err
	}
	opened, err := t.openPlan(&c)
	if err != nil {
		return Decision[StoredRun]{}, err
	}
	f := &RunStarted{Title: c.In.Title, Room: c.In.RoomID, CreatedBy: c.In.CreatedBy, Tasks: join}
	for i := range c.Messages {
		f.Opened = append(f.Opened, i)
	}
	counts := t.countsWith(hub.RunCounts{}, join)
	addCount(&counts, hub.TaskOpen, len(opened))
	return Decision[StoredRun]{
		Draft:  Draft{Facts: append(opened, f), Messages: c.Messages},
		Answer: func(at Position) StoredRun { return f.run(at).settled(counts, at) },
	}, nil
}

// openPlan returns the facts that open the tasks of a run's plan, each behind
// those that it waits for.
func (t *Tasks) openPlan(c *StartRunCommand) ([]Fact, error) {
	if len(c.In.Tasks) == 0 {
		return nil, nil
	}
	after, order, err := hub.PlanOrder(c.In.Tasks)
	if err != nil {
		return nil, err
	}
	facts := make([]Fact, 0, len(order)+1)
	opened := make([]*TaskOpened, 0, len(order))
	for _, i := range order {
		f := openedBy(&c.Messages[i])
		f.Message, f.After = i, after[i]
		f.Assignee = c.In.Tasks[i].Assignee
		f.GoesOn = c.In.Tasks[i].AfterFailed == hub.AfterFailedContinue
		facts, opened = append(facts, f), append(opened, f)
	}
	return facts, t.place(c.In.CreatedBy, c.Standing, opened...)
}

// JoinRun decides that tasks are in a run. If all of them are already in it,
// nothing changes. Errors: RunNotLive, run_not_found, task_not_found (also if
// the actor may not see the task), task_closed, invalid.
func (t *Tasks) JoinRun(c JoinRunCommand, _ Now, w TaskWorld) (Decision[StoredRun], error) {
	run, reopened, err := t.findRun(c.Run, c.Ended)
	if err != nil {
		return Decision[StoredRun]{}, err
	}
	join, err := t.checkJoin(c.Tasks, c.Run, run.Run.Counts, c.By, w)
	if err != nil {
		return Decision[StoredRun]{}, err
	}
	if len(join) == 0 {
		return answering(run), nil
	}
	counts := t.countsWith(run.Run.Counts, join)
	return Decision[StoredRun]{
		Draft:  Draft{Facts: append(reopened, &RunJoined{Run: c.Run, Tasks: join})},
		Answer: func(at Position) StoredRun { return run.settled(counts, at) },
	}, nil
}

// findRun returns a run and, if it has ended, the fact that reopens it. Errors:
// RunNotLive, run_not_found, limit_reached.
func (t *Tasks) findRun(id hub.RunID, ended *EndedRun) (StoredRun, []Fact, error) {
	if run := t.runs[id]; run != nil {
		return *run, nil, nil
	}
	switch {
	case ended == nil || ended.Known != t.runEnded:
		return StoredRun{}, nil, &RunNotLive{Run: id, Known: t.runEnded}
	case ended.Row == nil:
		return StoredRun{}, nil, hub.Errorf(hub.CodeRunNotFound, "there is no run %s", id).With("run_id", id).
			WithFix("name a run that there is, or make one")
	}
	return *ended.Row, []Fact{&RunReopened{Run: *ended.Row}}, t.checkLiveRuns()
}

// checkLiveRuns refuses another run if the limit of live runs is reached.
func (t *Tasks) checkLiveRuns() error {
	if len(t.runs) < hub.MaxLiveRuns {
		return nil
	}
	return hub.NewError(hub.CodeLimitReached, "the hub has as many runs that have not ended as it may have").
		With("limit", hub.MaxLiveRuns).
		WithFix("end the tasks of some runs; a run without tasks ends when you add one and end it; the list of runs shows those that are active")
}

// checkJoin returns the tasks that are in no run yet, each once.
func (t *Tasks) checkJoin(ids []hub.TaskID, run hub.RunID, counts hub.RunCounts, by TaskActor, w TaskWorld) ([]hub.TaskID, error) {
	if len(ids) > maxRunJoin {
		return nil, hub.Invalid("task_ids", "so many tasks cannot join a run at once").
			With("limit", maxRunJoin).With("size", len(ids)).WithFix("add the others to the run afterwards")
	}
	var join []hub.TaskID
	for _, id := range ids {
		if slices.Contains(join, id) {
			continue
		}
		task, live := t.live[id]
		switch {
		case !t.known(id, by, w):
			return nil, taskNotFound(id).With("field", "task_ids").With("task_id", id)
		case !live:
			return nil, taskClosed(id).With("field", "task_ids").WithFix("leave it out: only tasks that have not ended join a run")
		case task.Task.RunID == nil:
			join = append(join, id)
		case run == "" || *task.Task.RunID != run:
			return nil, hub.Invalid("task_ids", fmt.Sprintf("task %d is in another run", id)).
				With("task_id", id).With("run_id", *task.Task.RunID).WithFix("leave it out: a task is in one run at most")
		}
	}
	return join, checkRoomInRun(run, counts, len(join))
}

// checkRoomInRun refuses tasks beyond the limit of a run.
func checkRoomInRun(run hub.RunID, counts hub.RunCounts, more int) error {
	if counts.Total+more <= hub.MaxRunTasks {
		return nil
	}
	return hub.NewError(hub.CodeLimitReached, "a run cannot have so many tasks").With("run_id", run).
		With("limit", hub.MaxRunTasks).With("size", counts.Total+more).WithFix("start another run")
}

func (t *Tasks) countsWith(c hub.RunCounts, join []hub.TaskID) hub.RunCounts {
	for _, id := range join {
		addCount(&c, t.live[id].Task.Status, 1)
	}
	return c
}

// runOfPost returns the run of a task that is about to be opened: the run that
// the post names, else its parent's. If that run has ended, it also returns the
// fact that reopens it.
func (t *Tasks) runOfPost(c *PostTaskCommand) (hub.RunID, []Fact, error) {
	id := c.Run
	if parent := t.live[c.Message.Parent]; id == "" && parent != nil {
		id = hub.Value(parent.Task.RunID)
	}
	if id == "" {
		return "", nil, nil
	}
	run, reopened, err := t.findRun(id, c.Ended)
	if err != nil {
		return "", nil, err
	}
	return id, reopened, checkRoomInRun(id, run.Run.Counts, 1)
}

// runsEnding returns the notices of the runs that end when these tasks end, and
// the number of runs that the tasks touch.
func (t *Tasks) runsEnding(ended []Fact) (notices []MessageDraft, touched int) {
	counts := map[hub.RunID]hub.RunCounts{}
	for _, f := range ended {
		f, ok := f.(*TaskChanged)
		if !ok {
			continue
		}
		task := t.live[f.Task]
		run := t.runs[hub.Value(task.Task.RunID)]
		if run == nil {
			continue
		}
		c, seen := counts[run.Run.RunID]
		if !seen {
			c = run.Run.Counts
		}
		addCount(&c, task.Task.Status, -1)
		addCount(&c, *f.Status, 1)
		counts[run.Run.RunID] = c
	}
	for _, id := range slices.SortedFunc(maps.Keys(counts), CompareRuns) {
		if c := counts[id]; statusOf(c).Terminal() {
			notices = append(notices, runNotice(&t.runs[id].Run, c)...)
		}
	}
	return notices, len(counts)
}

// runNotice says that a run has ended: in its room, else to the agent that
// started it.
func runNotice(run *hub.Run, c hub.RunCounts) []MessageDraft {
	status := statusOf(c)
	n := systemNotice(fmt.Sprintf("Run %s %q has ended: %s (%d done, %d failed, %d cancelled).",
		run.RunID, run.Title, status, c.Done, c.Failed, c.Cancelled), map[string]any{
		"run": struct {
			RunID  hub.RunID     `json:"run_id"`
			Status hub.RunStatus `json:"status"`
			Counts hub.RunCounts `json:"counts"`
		}{run.RunID, status, c},
	})
	switch {
	case run.RoomID != nil:
		n.Channel, n.Room = run.RoomID.Channel(), *run.RoomID
	case run.CreatedBy != "":
		n.Channel, n.To = hub.DirectChannel, run.CreatedBy
	default:
		return nil
	}
	return []MessageDraft{n}
}
