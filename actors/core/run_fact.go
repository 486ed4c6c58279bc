package core

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"hubcli/hub"
)

// The facts of runs: 450 to 499.
const (
	factRunStarted  FactType = 450
	factRunReopened FactType = 451
	factRunJoined   FactType = 452
)

// RunStarted begins a run with live tasks that are in no run.
type RunStarted struct {
	Title     string       `json:"title"`
	Room      hub.RoomID   `json:"room,omitempty"`
	CreatedBy hub.AgentID  `json:"created_by,omitempty"`
	Tasks     []hub.TaskID `json:"tasks,omitempty"`
	// Opened lists messages of the record, by position. The tasks that they
	// opened join too.
	Opened []int `json:"opened,omitempty"`
}

// RunReopened makes an ended run live again; a task joins it in the same
// record. It carries the whole row, because the state does not keep ended runs.
type RunReopened struct {
	Run StoredRun `json:"run"`
}

// RunJoined adds live tasks that are in no run to a run.
type RunJoined struct {
	Run   hub.RunID    `json:"run"`
	Tasks []hub.TaskID `json:"tasks"`
}

// FactType implements Fact.
func (*RunStarted) FactType() FactType { return factRunStarted }

// FactType implements Fact.
func (*RunReopened) FactType() FactType { return factRunReopened }

// FactType implements Fact.
func (*RunJoined) FactType() FactType { return factRunJoined }

func runFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factRunStarted:  func() Fact { return &RunStarted{} },
		factRunReopened: func() Fact { return &RunReopened{} },
		factRunJoined:   func() Fact { return &RunJoined{} },
	}
}

// StoredRun is a run as the state and the store keep it. Its tasks are index
// rows, so that the row stays small however many there are: Run.TaskIDs is empty.
type StoredRun struct {
	Run hub.Run `json:"run"`
	// AsOf is the last record that the row includes. Index entries of later
	// records do not belong to it.
	AsOf hub.Seq `json:"as_of"`
	// Was is the status in which an imported run left its hub, if that is not its own.
	Was hub.RunStatus `json:"was,omitempty"`
}

// RunTask is an entry of the index of a run's tasks.
type RunTask struct {
	Task   hub.TaskID
	Seq    hub.Seq // the record in which the task joined
	Direct bool    // a direct message opened it, so only its parties may see it
}

func (r RunTask) row(run hub.RunID) (key, value []byte) {
	value = append(SeqKey(r.Seq), 0)
	if r.Direct {
		value[8] = 1
	}
	return OwnedKey(run, IDKey(r.Task)), value
}

// DecodeRunTask reads a row of TableTaskByRun.
func DecodeRunTask(key, value []byte) (RunTask, error) {
	if len(key) < 8 || len(value) != 9 {
		return RunTask{}, fmt.Errorf("core: an entry of a run is %d and %d bytes long", len(key), len(value))
	}
	return RunTask{
		Task: hub.TaskID(KeyEnd(key)),
		Seq:  hub.Seq(binary.BigEndian.Uint64(value)), Direct: value[8] != 0,
	}, nil
}

// run returns the run that the fact creates at a position, without its tasks.
func (f *RunStarted) run(at Position) StoredRun {
	return StoredRun{AsOf: at.Seq, Run: hub.Run{
		RunID: hub.RunID(IDAt(PrefixRun, at.Seq)), RoomID: Optional(f.Room), Title: f.Title, CreatedBy: f.CreatedBy,
		Status: hub.RunRunning, TaskIDs: []hub.TaskID{}, StartedAt: at.Now.Wall,
	}}
}

// addCount adds n to the number of tasks in a state.
func addCount(c *hub.RunCounts, s hub.TaskStatus, n int) {
	switch s {
	case hub.TaskOpen:
		c.Open += n
	case hub.TaskWorking:
		c.Working += n
	case hub.TaskInputRequired:
		c.InputRequired += n
	case hub.TaskDone:
		c.Done += n
	case hub.TaskFailed:
		c.Failed += n
	case hub.TaskCancelled:
		c.Cancelled += n
	}
	c.Total += n
}

// statusOf sums up the tasks of a run.
func statusOf(c hub.RunCounts) hub.RunStatus {
	switch {
	case c.Total == 0 || c.Open+c.Working+c.InputRequired > 0:
		return hub.RunRunning
	case c.Failed > 0:
		return hub.RunFailed
	case c.Cancelled > 0:
		return hub.RunCancelled
	}
	return hub.RunComplete
}

// settled returns the row after the record at a position, with these counts.
func (r StoredRun) settled(c hub.RunCounts, at Position) StoredRun {
	r.AsOf, r.Run.Counts, r.Run.Status, r.Run.EndedAt = at.Seq, c, statusOf(c), nil
	if r.Run.Status.Terminal() {
		r.Run.EndedAt = &at.Now.Wall
	}
	return r
}

func (t *Tasks) startRun(f *RunStarted, at Position, rows RowSink) {
	run := f.run(at)
	t.runs[run.Run.RunID] = &run
	if f.Room != "" {
		rows.Put(TableRunByRoom, OwnedKey(f.Room, SeqKey(at.Seq)), nil)
	}
	tasks := slices.Clone(f.Tasks)
	for _, i := range f.Opened {
		tasks = append(tasks, at.Message(i))
	}
	t.joinRun(run.Run.RunID, tasks, at, rows)
}

func (t *Tasks) reopenRun(f *RunReopened) {
	run := f.Run
	run.Run.Status, run.Run.EndedAt = hub.RunRunning, nil
	t.runs[run.Run.RunID] = &run
}

func (t *Tasks) joinRun(id hub.RunID, tasks []hub.TaskID, at Position, rows RowSink) {
	run := t.runs[id]
	if run == nil {
		return
	}
	counts := run.Run.Counts
	for _, taskID := range tasks {
		task := t.live[taskID]
		if task == nil || task.Task.RunID != nil {
			continue
		}
		task.Task.RunID = &id
		task.Task.Version++
		task.Task.UpdatedAt = at.Now.Wall
		addCount(&counts, task.Task.Status, 1)
		task.put(rows)
		task.putRunIndex(rows, at)
	}
	t.settleRun(run, counts, at, rows)
}

// settleRun gives a run its counts after a fact. A run whose tasks have all
// ended leaves the state.
func (t *Tasks) settleRun(run *StoredRun, counts hub.RunCounts, at Position, rows RowSink) {
	*run = run.settled(counts, at)
	if run.Run.Status.Terminal() {
		delete(t.runs, run.Run.RunID)
		t.runEnded = at.Seq
	}
	if rows != nil { // replay does not pay for the encoding
		seq, _ := SeqOf(PrefixRun, string(run.Run.RunID))
		rows.Put(TableRun, SeqKey(seq), mustJSON(run))
	}
}

// countInRun moves a task from one state to another in the counts of its run.
// An empty was means that the task is new in the run.
func (t *Tasks) countInRun(task *liveTask, was hub.TaskStatus, at Position, rows RowSink) {
	run := t.runs[hub.Value(task.Task.RunID)]
	if run == nil || was == task.Task.Status {
		return
	}
	counts := run.Run.Counts
	if was != "" {
		addCount(&counts, was, -1)
	}
	addCount(&counts, task.Task.Status, 1)
	t.settleRun(run, counts, at, rows)
}

// putRunIndex writes the task's entry in the index of its run.
func (task *liveTask) putRunIndex(rows RowSink, at Position) {
	key, value := RunTask{Task: task.Task.TaskID, Seq: at.Seq, Direct: task.Direct}.row(*task.Task.RunID)
	rows.Put(TableTaskByRun, key, value)
}

// Runs returns the runs that have not ended, oldest first.
func (t *Tasks) Runs() []StoredRun {
	out := make([]StoredRun, 0, len(t.runs))
	for _, run := range t.sortedRuns() {
		out = append(out, *run)
	}
	return out
}

func (t *Tasks) sortedRuns() []*StoredRun {
	return slices.SortedFunc(maps.Values(t.runs), func(a, b *StoredRun) int { return CompareRuns(a.Run.RunID, b.Run.RunID) })
}

// CompareRuns orders runs by when they were started.
func CompareRuns(a, b hub.RunID) int {
	x, _ := SeqOf(PrefixRun, string(a))
	y, _ := SeqOf(PrefixRun, string(b))
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// RunOnceEnded returns what a run was like after a record, when these were its tasks and all of
// them had ended.
func RunOnceEnded(run StoredRun, tasks []hub.Task, seq hub.Seq) StoredRun {
	var counts hub.RunCounts
	ended := run.Run.StartedAt
	for i := range tasks {
		addCount(&counts, tasks[i].Status, 1)
		ended = max(ended, hub.Value(tasks[i].CompletedAt))
	}
	return run.settled(counts, Position{Seq: seq, Now: Now{Wall: ended}})
}
