package hub

import "context"

// RunStatus summarizes the tasks of a run.
type RunStatus string

// The states of a run. It is running while it has no task or one that has not
// ended; then failed if one failed, else cancelled if one was cancelled, else
// complete. A new task makes it running again.
const (
	RunRunning   RunStatus = "running"
	RunComplete  RunStatus = "complete"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
)

// RunStatuses lists them all.
func RunStatuses() []RunStatus {
	return []RunStatus{RunRunning, RunComplete, RunFailed, RunCancelled}
}

// Terminal reports whether all tasks of a run in this state have ended.
func (s RunStatus) Terminal() bool { return s != RunRunning }

// Run is a named batch of tasks.
type Run struct {
	RunID     RunID     `json:"run_id" bounds:"like ^run_[0-9a-z]+$"`
	RoomID    *RoomID   `json:"room_id"`
	Title     string    `json:"title" bounds:"..300 runes"`
	CreatedBy AgentID   `json:"created_by" bounds:"or empty"` // Empty if the call named nobody.
	Status    RunStatus `json:"status"`                       // Running while there is no task or one that has not ended.
	TaskIDs   []TaskID  `json:"task_ids"`                     // Those that the caller may see, rising.
	Counts    RunCounts `json:"counts"`                       // Of all tasks of the run.
	StartedAt Time      `json:"started_at"`
	EndedAt   *Time     `json:"ended_at"`
	// The tasks that the call opened, in the order of its plan; only in the answer to the call that made the run.
	Planned []TaskID `json:"planned,omitempty"`
}

// RunCounts counts the tasks of a run by status.
//
// API: The tasks of a run by status.
type RunCounts struct {
	Total         int `json:"total" bounds:"0..1000"`
	Open          int `json:"open" bounds:"0.."`
	Working       int `json:"working" bounds:"0.."`
	InputRequired int `json:"input_required" bounds:"0.."`
	Done          int `json:"done" bounds:"0.."`
	Failed        int `json:"failed" bounds:"0.."`
	Cancelled     int `json:"cancelled" bounds:"0.."`
}

// RunInput describes a new run. TaskIDs are tasks that have not ended and are
// in no run. Tasks are opened together with the run, in the room's channel or
// else in the default channel.
type RunInput struct {
	Title   string   `json:"title" bounds:"name 1..MaxTitleChars"` // Space around it is dropped.
	RoomID  RoomID   `json:"room_id,omitempty" bounds:"name ..MaxNameChars"`
	TaskIDs []TaskID `json:"task_ids,omitempty" bounds:"..400 items"` // Tasks that have not ended and are in no run.
	// A plan. Its tasks are opened together with the run, by created_by, in the channel of the room or in general;
	// all or none.
	Tasks     []PlannedTask `json:"tasks,omitempty" bounds:"..MaxPlanTasks items"`
	CreatedBy AgentID       `json:"created_by,omitempty"` // Needed with tasks.
	// Refuses an assignee that never registered while ids like it are known (agent_unclear). For ids that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// RunTasksInput adds tasks to a run.
type RunTasksInput struct {
	TaskIDs []TaskID `json:"task_ids" bounds:"1..400 items"` // Tasks that have not ended and are in no other run.
	AgentID AgentID  `json:"agent_id,omitempty"`
}

// RunsQuery selects runs, newest first; zero fields do not select.
type RunsQuery struct {
	RoomID RoomID
	Status RunStatus
	Active bool // not terminal
	Viewer AgentID
	Cursor Cursor
	Limit  int
}

// HandoffInput offers a task to ToAgent.
type HandoffInput struct {
	AgentID AgentID `json:"agent_id,omitempty"` // The agent that offers it; needed unless a session or the operator token says it.
	ToAgent AgentID `json:"to_agent"`
	Note    string  `json:"note,omitempty" bounds:"text ..MaxNoteChars"` // What the other needs to know.
	// Refuses an agent that never registered while ids like it are known (agent_unclear). For an id that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// OfferInput accepts or declines an offered task.
type OfferInput struct {
	AgentID AgentID `json:"agent_id" bounds:"from session"` // The agent that accepts or declines; that of the session or the spool if left out.
	Note    string  `json:"note,omitempty" bounds:"text ..MaxNoteChars"`
}

// Runs batches tasks and hands them over.
type Runs interface {
	// CreateRun makes a run, and the tasks of its plan if it has one. All of it
	// is one record. Errors: room_not_found, task_not_found, task_closed, invalid
	// (a task is in another run, there are too many at once, or the plan cannot
	// be carried out), limit_reached.
	CreateRun(ctx context.Context, in RunInput) (Outcome[Run], error)
	// AddRunTasks adds tasks. This reopens a run that has ended. Errors:
	// run_not_found, task_not_found, task_closed, limit_reached, invalid.
	AddRunTasks(ctx context.Context, id RunID, in RunTasksInput) (Outcome[Run], error)
	// Runs lists runs. Errors: room_not_found.
	Runs(ctx context.Context, q RunsQuery) ([]Run, Cursor, error)
	// Run returns one run. It counts all tasks of the run and lists those that
	// viewer may see. Errors: run_not_found.
	Run(ctx context.Context, id RunID, viewer AgentID) (Run, error)
	// HandoffTask offers a task to another agent and sends that agent a handoff
	// message. The assignee stays until the other agent accepts. The assignee,
	// the agent that gave the task and the operator may offer it; any agent may
	// while it has no assignee. A later offer replaces this one. Errors:
	// task_not_found, task_closed, task_taken, invalid.
	HandoffTask(ctx context.Context, id TaskID, in HandoffInput) (Outcome[Task], error)
	// AcceptTask makes the agent that the task is offered to its assignee. The
	// claims and locks for the task pass to it.
	// Errors: task_not_found, task_closed, not_offered.
	AcceptTask(ctx context.Context, id TaskID, in OfferInput) (Outcome[Task], error)
	// DeclineTask ends the offer. The agent that made the offer may call it
	// too. Errors: task_not_found, task_closed, not_offered.
	DeclineTask(ctx context.Context, id TaskID, in OfferInput) (Outcome[Task], error)
}
