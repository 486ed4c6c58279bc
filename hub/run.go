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
	RunID     RunID     `json:"run_id"`
	RoomID    *RoomID   `json:"room_id"`
	Title     string    `json:"title"`
	CreatedBy AgentID   `json:"created_by"` // may be empty
	Status    RunStatus `json:"status"`
	TaskIDs   []TaskID  `json:"task_ids"` // rising
	Counts    RunCounts `json:"counts"`
	StartedAt Time      `json:"started_at"`
	EndedAt   *Time     `json:"ended_at"`
	// Planned lists the tasks that the call made, in the order of its list. Only
	// the answer to CreateRun has it.
	Planned []TaskID `json:"planned,omitempty"`
}

// RunCounts counts the tasks of a run by status.
type RunCounts struct {
	Total         int `json:"total"`
	Open          int `json:"open"`
	Working       int `json:"working"`
	InputRequired int `json:"input_required"`
	Done          int `json:"done"`
	Failed        int `json:"failed"`
	Cancelled     int `json:"cancelled"`
}

// RunInput describes a new run. TaskIDs are tasks that have not ended and are
// in no run. Tasks are opened together with the run, in the room's channel or
// else in the default channel.
type RunInput struct {
	Title     string        `json:"title"`
	RoomID    RoomID        `json:"room_id,omitempty"`
	TaskIDs   []TaskID      `json:"task_ids,omitempty"`
	Tasks     []PlannedTask `json:"tasks,omitempty"`
	CreatedBy AgentID       `json:"created_by,omitempty"` // needed with Tasks
	// UnlessNear is of the assignees of Tasks; see PostInput.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// RunTasksInput adds tasks to a run.
type RunTasksInput struct {
	TaskIDs []TaskID `json:"task_ids"`
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
	AgentID AgentID `json:"agent_id,omitempty"` // the agent that offers
	ToAgent AgentID `json:"to_agent"`
	Note    string  `json:"note,omitempty"`
	// UnlessNear: see PostInput.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// OfferInput accepts or declines an offered task.
type OfferInput struct {
	AgentID AgentID `json:"agent_id"`
	Note    string  `json:"note,omitempty"`
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
