package core

import (
	"fmt"
	"slices"
	"strconv"

	"hubcli/hub"
)

// The facts of tasks: 400 to 499.
const (
	factTaskOpened  FactType = 400
	factTaskChanged FactType = 401
)

// TaskOpened begins a task. A message of the same record opens it.
type TaskOpened struct {
	Message   int             `json:"message"` // position of the message; the task has the same id
	Parent    hub.TaskID      `json:"parent,omitempty"`
	Channel   hub.ChannelName `json:"channel"`
	Thread    hub.ThreadID    `json:"thread,omitempty"`
	Room      hub.RoomID      `json:"room,omitempty"`
	Run       hub.RunID       `json:"run,omitempty"`
	Title     string          `json:"title,omitempty"`
	Assignee  hub.AgentID     `json:"assignee,omitempty"`
	CreatedBy hub.AgentID     `json:"created_by"`
	Direct    bool            `json:"direct,omitempty"`
	// After lists messages of the record, by position. The task waits for the
	// tasks that they opened, which earlier facts of the record open.
	After []int `json:"after,omitempty"`
	// BlockedBy lists the tasks that the task waits for beside those, as in
	// TaskChanged.
	BlockedBy []hub.TaskID `json:"blocked_by,omitempty"`
	Hidden    []hub.TaskID `json:"veiled,omitempty"`
	Lost      bool         `json:"lost,omitempty"`
	GoesOn    bool         `json:"goes_on,omitempty"` // as in StoredTask
}

// TaskChanged changes a task that has not ended; a terminal status ends it. Nil
// fields do not change. An end or a new assignee also ends an offer of the
// task.
type TaskChanged struct {
	Task      hub.TaskID      `json:"task"`
	Status    *hub.TaskStatus `json:"status,omitempty"`
	Assignee  *hub.AgentID    `json:"assignee,omitempty"` // empty: none
	BlockedBy *[]hub.TaskID   `json:"blocked_by,omitempty"`
	Hidden    []hub.TaskID    `json:"veiled,omitempty"` // the tasks in BlockedBy that direct messages opened
	Lost      bool            `json:"lost,omitempty"`   // a task in BlockedBy had failed or was cancelled
	Forced    bool            `json:"forced,omitempty"` // the task was blocked, and the actor forced the change
	Result    *int            `json:"result,omitempty"` // position of the message that ended the task
	Passes    bool            `json:"passes,omitempty"` // the leases of the former assignee pass to the new one
	// Release lists the agents whose leases for the task end, because the task
	// ends.
	Release []hub.AgentID `json:"release,omitempty"`
}

// FactType implements Fact.
func (*TaskOpened) FactType() FactType { return factTaskOpened }

// FactType implements Fact.
func (*TaskChanged) FactType() FactType { return factTaskChanged }

func taskFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factTaskOpened:  func() Fact { return &TaskOpened{} },
		factTaskChanged: func() Fact { return &TaskChanged{} },
		factTaskOffered: func() Fact { return &TaskOffered{} },
		factOfferEnded:  func() Fact { return &OfferEnded{} },
		factTaskLeft:    func() Fact { return &TaskLeft{} },

		factTaskSuggested: func() Fact { return &TaskSuggested{} },
	}
}

// openedBy returns the fact for the task that m opens. m is message 0 of its
// record.
func openedBy(m *MessageDraft) *TaskOpened {
	return &TaskOpened{
		Message: 0, Parent: m.Parent, Channel: m.Channel, Thread: m.Thread, Room: m.Room,
		Title: titleOf(m.Body), Assignee: m.To, CreatedBy: m.From, Direct: m.To != "",
	}
}

// endedWith returns the fact that ends a task. result is the position of the
// message that ends the task, or -1.
func endedWith(id hub.TaskID, status hub.TaskStatus, result int) *TaskChanged {
	f := &TaskChanged{Task: id, Status: &status}
	if result >= 0 {
		f.Result = &result
	}
	return f
}

// task returns the task that the fact creates at a position. Only the state can
// tell whether it is ready if it waits for tasks that ended before.
func (f *TaskOpened) task(at Position) StoredTask {
	t := StoredTask{Direct: f.Direct, GoesOn: f.GoesOn, Task: hub.Task{
		TaskID: at.Message(f.Message), ParentTaskID: Optional(f.Parent), RunID: Optional(f.Run), RoomID: Optional(f.Room),
		Channel: f.Channel, ThreadID: Optional(f.Thread), Title: f.Title, Status: hub.TaskOpen,
		Assignee: Optional(f.Assignee), BlockedBy: []hub.TaskID{}, Ready: true, Version: 1,
		CreatedBy: f.CreatedBy, CreatedAt: at.Now.Wall, UpdatedAt: at.Now.Wall,
	}}
	if f.Direct {
		t.Asked = f.Assignee
	}
	t.Task.BlockedBy, t.Hidden = append(t.Task.BlockedBy, f.BlockedBy...), f.Hidden
	for _, i := range f.After {
		t.Task.BlockedBy = append(t.Task.BlockedBy, at.Message(i))
	}
	t.Task.Ready = len(t.Task.BlockedBy) == 0
	return t
}

// changed returns row as the fact changes it. ready says whether the task can begin, should it
// not have ended.
func (f *TaskChanged) changed(row hub.Task, ready bool, at Position) hub.Task {
	row.Version++
	row.UpdatedAt = at.Now.Wall
	if f.Status != nil {
		row.Status = *f.Status
	}
	if f.Assignee != nil {
		row.Assignee, row.OfferedTo, row.AssigneeGoneSince = Optional(*f.Assignee), nil, nil
	}
	if f.BlockedBy != nil {
		row.BlockedBy = append([]hub.TaskID{}, *f.BlockedBy...)
	}
	if row.Status.Terminal() {
		row.CompletedAt, row.OfferedTo, row.AssigneeGoneSince = &at.Now.Wall, nil, nil
		if f.Result != nil {
			row.ResultMessageID = Optional(at.Message(*f.Result))
		}
	}
	row.Ready = ready && !row.Status.Terminal()
	return row
}

// Apply applies one fact of this owner to the state and writes the row of every
// changed task.
func (t *Tasks) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *TaskOpened:
		t.open(f, at, rows)
	case *TaskChanged:
		t.change(f, at, rows)
	case *TaskOffered:
		t.offer(f, at, rows)
	case *OfferEnded:
		t.endOffer(f, at, rows)
	case *TaskLeft:
		t.leave(f, rows)
	case *TaskSuggested:
		t.suggest(f, at, rows)
	case *RunStarted:
		t.startRun(f, at, rows)
	case *RunReopened:
		t.reopenRun(f)
	case *RunJoined:
		t.joinRun(f.Run, f.Tasks, at, rows)
	default:
		panic(fmt.Sprintf("core: tasks were given the fact %T", f))
	}
}

func (t *Tasks) open(f *TaskOpened, at Position, rows RowSink) {
	task := &liveTask{StoredTask: f.task(at), Depth: 1, Lost: f.Lost}
	task.Task.Ready = t.ready(task)
	id := task.Task.TaskID
	if parent := t.live[f.Parent]; parent != nil {
		task.Depth = parent.Depth + 1
		parent.Children++
		parent.Open++
	}
	t.live[id] = task
	t.count(task, 1)
	t.link(task)
	task.put(rows)
	if f.Parent != 0 {
		rows.Put(TableTaskByParent, slices.Concat(IDKey(f.Parent), IDKey(id)), nil)
	}
	if f.Thread != "" {
		rows.Put(TableTaskByThread, slices.Concat([]byte(f.Thread), []byte{0}, IDKey(id)), nil)
	}
	if f.Room != "" {
		rows.Put(TableTaskByRoom, OwnedKey(f.Room, IDKey(id)), nil)
	}
	if f.Run != "" {
		task.putRunIndex(rows, at)
		t.countInRun(task, "", at, rows)
	}
}

func (t *Tasks) change(f *TaskChanged, at Position, rows RowSink) {
	task, ok := t.live[f.Task]
	if !ok {
		return
	}
	t.unlink(task)
	t.count(task, -1)
	was, had, gone := task.Task.Status, hub.Value(task.Task.Assignee), task.Task.AssigneeGoneSince != nil
	task.Task = f.changed(task.Task, true, at)
	if f.Passes {
		task.passedFrom(had, gone, at)
	}
	for _, agent := range f.Release {
		task.Released = append(task.Released, EarlierHolder{Agent: agent, Fence: at.FirstFence})
	}
	if task.Task.OfferedTo == nil {
		task.OfferedBy = ""
	}
	if f.BlockedBy != nil {
		if task.Hidden = f.Hidden; f.Hidden == nil { // no task is hidden, or the fact is older than the field
			t.hide(task)
		}
		task.Lost, task.Forced = f.Lost, false
	}
	task.Forced = task.Forced || f.Forced
	t.countInRun(task, was, at, rows)
	if !task.Task.Status.Terminal() {
		task.Task.Ready = t.ready(task)
		t.count(task, 1)
		t.link(task)
		task.put(rows)
		return
	}
	delete(t.live, f.Task)
	if parent := t.live[hub.Value(task.Task.ParentTaskID)]; parent != nil {
		parent.Open--
		if task.Task.Status != hub.TaskDone {
			parent.Failed++
		}
	}
	task.put(rows)
	waiters := t.waiting[f.Task]
	delete(t.waiting, f.Task)
	for _, id := range sortedIDs(waiters) {
		waiter := t.live[id]
		waiter.Lost = waiter.Lost || task.Task.Status != hub.TaskDone
		if ready := t.ready(waiter); ready != waiter.Task.Ready {
			waiter.Task.Ready = ready
			waiter.put(rows)
		}
	}
}

// link adds a task to the index of waiting tasks, under each live task that it
// waits for.
func (t *Tasks) link(task *liveTask) {
	for _, id := range task.Task.BlockedBy {
		if t.live[id] == nil {
			continue
		}
		if t.waiting[id] == nil {
			t.waiting[id] = map[hub.TaskID]struct{}{}
		}
		t.waiting[id][task.Task.TaskID] = struct{}{}
	}
}

func (t *Tasks) unlink(task *liveTask) {
	for _, id := range task.Task.BlockedBy {
		delete(t.waiting[id], task.Task.TaskID)
		if len(t.waiting[id]) == 0 {
			delete(t.waiting, id)
		}
	}
}

// taskName is the name of a task in notices.
func taskName(row *hub.Task) string {
	return "Task " + strconv.FormatInt(int64(row.TaskID), 10) + " " + strconv.Quote(row.Title)
}

// put writes the task's row.
func (task *liveTask) put(rows RowSink) {
	if rows != nil { // a replay passes nil and need not encode
		rows.Put(TableTask, IDKey(task.Task.TaskID), mustJSON(task.StoredTask))
	}
}
