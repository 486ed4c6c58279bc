package core

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// ErrNotLive says that the task, invite, seat or spawn is not live. Its stored
// row says whether it has ended or never existed: for tasks see
// AnswerEndedCompletion and RefuseEndedUpdate. The record that ended it may not
// be durable yet, so the row is read only after the owner's last record is
// durable.
var ErrNotLive = errors.New("core: the thing is not live")

// StoredTask is a task's row with the fields that decide which agents may see
// it. The store keeps it in this form.
type StoredTask struct {
	Task      hub.Task    `json:"task"`
	Direct    bool        `json:"direct"`               // opened by a direct message
	Asked     hub.AgentID `json:"asked,omitempty"`      // the addressee of that message
	OfferedBy hub.AgentID `json:"offered_by,omitempty"` // the agent that made the offer, if there is an offer
	// Hidden lists the tasks in blocked_by that direct messages opened. An
	// agent may see this task without being allowed to see these.
	Hidden []hub.TaskID `json:"veiled,omitempty"`
	// GoesOn says that the task can begin although one that it waited for has
	// failed or was cancelled.
	GoesOn bool `json:"goes_on,omitempty"`
	// Former lists the agents that had the task before its assignee, the latest
	// last.
	Former []EarlierHolder `json:"former,omitempty"`
	// Released lists the agents whose leases for the task ended with it.
	Released []EarlierHolder `json:"released,omitempty"`
	// Suggested is the idle agent that was told of the task while nobody had it; empty: none.
	Suggested   hub.AgentID `json:"suggested,omitempty"`
	SuggestedAt hub.Time    `json:"suggested_at,omitempty"`
	// Was is the status in which an imported task left its hub, if that is not its own: an
	// imported task obliges nobody, so one that had not ended is cancelled here.
	Was hub.TaskStatus `json:"was,omitempty"`
	// Outcome is the text of the result of an imported task whose messages were not in the
	// capsule.
	Outcome string `json:"outcome,omitempty"`
}

// TaskVisible is the one rule about which agents may see a task. Every agent
// may, unless a direct message opened it. Then only these may: its creator, the
// agent asked first, its assignee, and the agent that it is offered to.
func TaskVisible(viewer hub.AgentID, t *StoredTask) bool {
	is := func(p *hub.AgentID) bool { return p != nil && *p == viewer }
	return !t.Direct || viewer != "" && (viewer == t.Task.CreatedBy || viewer == t.Asked || is(t.Task.Assignee) || is(t.Task.OfferedTo))
}

// TaskActor is the agent or operator that acts on a task. The operator sees
// every task.
type TaskActor struct {
	Agent     hub.AgentID // empty: the call names no agent
	Authority hub.Authority
	Assurance hub.Assurance
}

func (a TaskActor) sees(t *StoredTask) bool {
	return a.Authority == hub.AuthorityOperator || TaskVisible(a.Agent, t)
}

// TaskWorld knows the tasks that have left the state.
type TaskWorld interface {
	// Ended returns the ended task with this id. sees is false if there is none
	// or by may not see it.
	Ended(by TaskActor, id hub.TaskID) (task StoredTask, sees bool)
}

// PostTaskCommand is a checked message that may open, complete or parent a
// task. The caller has checked that its reply_to exists and may be seen.
type PostTaskCommand struct {
	Message   MessageDraft
	Run       hub.RunID    // the run of the new task; empty: that of its parent
	BlockedBy []hub.TaskID // the tasks that the new task waits for
	Force     bool         // complete the task although it is blocked
	Ended     *EndedRun    // nil at first; see RunNotLive
	By        Standing     // of the sender
}

// TaskPosted answers a post: the id of its message, and the task that it opened
// or completed, if any.
type TaskPosted struct {
	Message hub.MessageID
	Task    *hub.Task
}

// CompleteCommand ends a task as done. A Note is posted as the agent's
// task_result.
type CompleteCommand struct {
	By    TaskActor
	Note  string
	Force bool // although the task is blocked
	// Release ends the leases for the task of the actor and of the assignee.
	Release bool
}

// UpdateCommand changes a task.
type UpdateCommand struct {
	By TaskActor
	In hub.TaskUpdateInput // its AgentID is not used
	// Asks carries the task's request if the new assignee cannot read it
	// itself; see HandoffCommand.
	Asks [][]hub.Attachment
	// Standing is that of the actor.
	Standing Standing
	// Gone says that the task's assignee is not there.
	Gone bool
}

// Tasks is the state of the tasks owner: every task that has not ended. Ended
// tasks are rows in the store. A live parent keeps only counts of its children.
type Tasks struct {
	live map[hub.TaskID]*liveTask
	// waiting maps a live task to the live tasks that have it in blocked_by.
	waiting map[hub.TaskID]map[hub.TaskID]struct{}
	// runs holds the runs that have not ended.
	runs     map[hub.RunID]*StoredRun
	runEnded hub.Seq // the last record in which a run ended
	// made holds what the live tasks of each creator take, and all what all take. Both
	// follow from live.
	made map[hub.AgentID]taskTally
	all  taskTally
}

// liveTask is a task that has not ended. Values that its row points to are
// replaced, never changed in place, because rows are handed out as shallow
// copies.
type liveTask struct {
	StoredTask
	Depth    int `json:"depth"`    // 1 for a task without parent
	Children int `json:"children"` // ever opened
	Open     int `json:"open"`     // children that have not ended
	Failed   int `json:"failed"`   // children that failed or were cancelled

	// These two are about the current blocked_by: one of its tasks has failed or
	// was cancelled; an agent began the task although it was blocked.
	Lost   bool `json:"lost,omitempty"`
	Forced bool `json:"forced,omitempty"`
}

// NewTasks returns the state of an owner that has decided nothing yet.
func NewTasks() *Tasks {
	return &Tasks{
		live: map[hub.TaskID]*liveTask{}, waiting: map[hub.TaskID]map[hub.TaskID]struct{}{},
		runs: map[hub.RunID]*StoredRun{}, made: map[hub.AgentID]taskTally{},
	}
}

// Len returns how many tasks have not ended.
func (t *Tasks) Len() int { return len(t.live) }

// Get returns a task that has not ended.
func (t *Tasks) Get(id hub.TaskID) (StoredTask, bool) {
	if task, ok := t.live[id]; ok {
		return task.StoredTask, true
	}
	return StoredTask{}, false
}

// List returns the tasks that have not ended, by id.
func (t *Tasks) List() []StoredTask {
	out := make([]StoredTask, 0, len(t.live))
	for _, id := range sortedIDs(t.live) {
		out = append(out, t.live[id].StoredTask)
	}
	return out
}

// Post decides a message and its effect on tasks. The message is number 0 of
// the record; notices follow. A task_result that replies to a live task
// completes it; as a reply to any other message it is a plain message. Errors:
// parent_not_found, task_closed, task_too_deep, reply_not_found, RunNotLive,
// run_not_found, limit_reached, blocked, invalid.
func (t *Tasks) Post(c PostTaskCommand, _ Now, w TaskWorld) (Decision[TaskPosted], error) {
	m := c.Message
	by := TaskActor{Agent: m.From, Authority: m.Authority, Assurance: m.Assurance}
	if err := t.checkParent(&m, by, w); err != nil {
		return Decision[TaskPosted]{}, err
	}
	if m.Kind.OpensTask() {
		return t.openTask(&c, by, w)
	}
	task := t.live[m.ReplyTo]
	if m.Kind != hub.KindTaskResult || task == nil {
		return Decision[TaskPosted]{
			Draft:  Draft{Messages: []MessageDraft{m}},
			Answer: func(at Position) TaskPosted { return TaskPosted{Message: at.Message(0)} },
		}, nil
	}
	if !by.sees(&task.StoredTask) {
		return Decision[TaskPosted]{}, hub.Errorf(hub.CodeReplyNotFound, "there is no message %d to reply to", m.ReplyTo).
			With("field", "reply_to")
	}
	if err := task.replaced(by); err != nil {
		return Decision[TaskPosted]{}, err
	}
	f := endedWith(m.ReplyTo, hub.TaskDone, 0)
	if err := t.checkBlocked(task, f, by, c.Force); err != nil {
		return Decision[TaskPosted]{}, err
	}
	m.Metadata = withTaskCompleted(m.Metadata, m.ReplyTo)
	draft, err := t.end(f, []MessageDraft{m})
	if err != nil {
		return Decision[TaskPosted]{}, err
	}
	before := task.Task
	return Decision[TaskPosted]{Draft: draft, Answer: func(at Position) TaskPosted {
		row := f.changed(before, false, at)
		return TaskPosted{Message: at.Message(0), Task: &row}
	}}, nil
}

// openTask decides a message that opens a task.
func (t *Tasks) openTask(c *PostTaskCommand, by TaskActor, w TaskWorld) (Decision[TaskPosted], error) {
	run, facts, err := t.runOfPost(c)
	if err != nil {
		return Decision[TaskPosted]{}, err
	}
	f := openedBy(&c.Message)
	f.Run = run
	if len(c.BlockedBy) > 0 {
		wait, err := t.checkBlockedBy(&liveTask{StoredTask: f.task(Position{})}, c.BlockedBy, by, w)
		if err != nil {
			return Decision[TaskPosted]{}, err
		}
		f.BlockedBy, f.Hidden, f.Lost = wait.ids, wait.hidden, wait.lost
	}
	if err := t.place(by.Agent, c.By, f); err != nil {
		return Decision[TaskPosted]{}, err
	}
	ready := t.unblocked(f.BlockedBy) && !f.Lost
	return Decision[TaskPosted]{
		Draft: Draft{Facts: append(facts, f), Messages: []MessageDraft{c.Message}},
		Answer: func(at Position) TaskPosted {
			task := f.task(at)
			task.Task.Ready = ready
			return TaskPosted{Message: at.Message(0), Task: &task.Task}
		},
	}, nil
}

// checkParent refuses a parent_task_id that names no task visible to the sender
// and, for a message that opens a task, a parent that cannot have another
// child.
func (t *Tasks) checkParent(m *MessageDraft, by TaskActor, w TaskWorld) error {
	if m.Parent == 0 {
		return nil
	}
	parent, live := t.live[m.Parent]
	switch {
	case !t.known(m.Parent, by, w):
		return hub.Errorf(hub.CodeParentNotFound, "there is no task %d to be the parent", m.Parent).
			With("field", "parent_task_id").WithFix("name the id of the message that opened the parent task")
	case !m.Kind.OpensTask():
		return nil
	case !live:
		return taskClosed(m.Parent).WithFix("open the task without parent_task_id, or under a task that has not ended")
	case parent.Depth >= hub.MaxTaskDepth:
		return hub.Errorf(hub.CodeTaskTooDeep, "task %d is %d levels deep and can have no subtasks", m.Parent, parent.Depth).
			With("limit", hub.MaxTaskDepth).WithFix("open the task under one of the upper levels")
	}
	return nil
}

// known reports whether id is a task, live or ended, that by may see.
func (t *Tasks) known(id hub.TaskID, by TaskActor, w TaskWorld) bool {
	if task, live := t.live[id]; live {
		return by.sees(&task.StoredTask)
	}
	_, sees := w.Ended(by, id)
	return sees
}

// Complete ends a live task as done, and the parents that are done with it.
// Errors: ErrNotLive, task_not_found (also if the actor may not see it),
// blocked, invalid.
func (t *Tasks) Complete(id hub.TaskID, c CompleteCommand, _ Now) (Decision[hub.Task], error) {
	task, err := t.find(id, c.By)
	if err != nil {
		return Decision[hub.Task]{}, err
	}
	if err := task.replaced(c.By); err != nil {
		return Decision[hub.Task]{}, err
	}
	f := endedWith(id, hub.TaskDone, -1)
	var messages []MessageDraft
	if c.Note != "" {
		if c.By.Agent == "" {
			return Decision[hub.Task]{}, hub.Invalid("agent_id", "a note needs to say whose it is").
				WithFix("send agent_id with the note")
		}
		f = endedWith(id, hub.TaskDone, 0)
		messages = []MessageDraft{task.note(c)}
	}
	if c.Release {
		task.releases(f, c.By.Agent)
	}
	if err := t.checkBlocked(task, f, c.By, c.Force); err != nil {
		return Decision[hub.Task]{}, err
	}
	return t.decide(task, f, messages, false)
}

// note is the message with the note of a completion. It goes to the other party
// of a direct task, else to the task's channel.
func (task *liveTask) note(c CompleteCommand) MessageDraft {
	m := MessageDraft{
		From: c.By.Agent, Kind: hub.KindTaskResult, Body: c.Note, ReplyTo: task.Task.TaskID,
		Metadata:  withTaskCompleted(nil, task.Task.TaskID),
		Authority: c.By.Authority, Assurance: c.By.Assurance,
	}
	task.place(&m)
	if task.Direct && m.From == task.Task.CreatedBy && task.Task.Assignee != nil {
		m.To = *task.Task.Assignee
	}
	return m
}

// place addresses a message to the task's place: for a direct task the inbox of
// its creator, else the task's channel.
func (task *liveTask) place(m *MessageDraft) {
	m.Channel, m.Thread, m.Room = task.Task.Channel, hub.Value(task.Task.ThreadID), hub.Value(task.Task.RoomID)
	if task.Direct {
		m.To = task.Task.CreatedBy
	}
}

// decide makes a decision of a change to one task and its consequences.
func (t *Tasks) decide(task *liveTask, f *TaskChanged, messages []MessageDraft, ready bool) (Decision[hub.Task], error) {
	draft := Draft{Facts: []Fact{f}, Messages: messages}
	if f.Status != nil && f.Status.Terminal() {
		var err error
		if draft, err = t.end(f, messages); err != nil {
			return Decision[hub.Task]{}, err
		}
	}
	before := task.Task
	return Decision[hub.Task]{
		Draft:  draft,
		Answer: func(at Position) hub.Task { return f.changed(before, ready, at) },
	}, nil
}

// find returns a live task that by may see.
func (t *Tasks) find(id hub.TaskID, by TaskActor) (*liveTask, error) {
	task, ok := t.live[id]
	if !ok {
		return nil, ErrNotLive
	}
	if !by.sees(&task.StoredTask) {
		return nil, taskNotFound(id)
	}
	return task, nil
}

// AnswerEndedCompletion answers the completion of a task that is not live.
// stored is its row, or nil if there is none. A done task answers its row
// again. Errors: task_not_found, task_closed.
func AnswerEndedCompletion(id hub.TaskID, stored *StoredTask, by TaskActor) (hub.Task, error) {
	switch {
	case stored == nil || !by.sees(stored):
		return hub.Task{}, taskNotFound(id)
	case stored.Task.Status != hub.TaskDone:
		return hub.Task{}, taskClosed(id).With("status", stored.Task.Status).WithFix("open a new task")
	}
	return stored.Task, nil
}

// RefuseEndedUpdate is the error for the update of a task that is not live.
func RefuseEndedUpdate(id hub.TaskID, stored *StoredTask, by TaskActor) error {
	if stored == nil || !by.sees(stored) {
		return taskNotFound(id)
	}
	return taskClosed(id).With("status", stored.Task.Status).WithFix("open a new task")
}

func taskNotFound(id hub.TaskID) *hub.Error {
	return hub.Errorf(hub.CodeTaskNotFound, "there is no task %d", id).
		WithFix("a task's id is that of the message that opened it")
}

func taskClosed(id hub.TaskID) *hub.Error {
	return hub.Errorf(hub.CodeTaskClosed, "task %d has ended", id).With("task_id", id)
}

// titleOf returns the first line of a message's body, shortened.
func titleOf(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= hub.MaxTitleChars {
		return line
	}
	return string([]rune(line)[:hub.MaxTitleChars])
}

func sortedIDs[V any](m map[hub.TaskID]V) []hub.TaskID {
	ids := make([]hub.TaskID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
