package hub

import "context"

// RunStatus sums up the tasks of a run.
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

// RunInput is a run to be; TaskIDs are tasks that have not ended and are in no
// run.
type RunInput struct {
	Title     string   `json:"title"`
	RoomID    RoomID   `json:"room_id,omitempty"`
	TaskIDs   []TaskID `json:"task_ids,omitempty"`
	CreatedBy AgentID  `json:"created_by,omitempty"`
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
	AgentID AgentID `json:"agent_id,omitempty"` // who offers
	ToAgent AgentID `json:"to_agent"`
	Note    string  `json:"note,omitempty"`
}

// OfferInput accepts or declines an offered task.
type OfferInput struct {
	AgentID AgentID `json:"agent_id"`
	Note    string  `json:"note,omitempty"`
}

// Runs batches tasks and hands them over.
type Runs interface {
	// CreateRun makes a run. room_not_found, task_not_found, task_closed, invalid
	// (a task is in another run, or there are too many at once), limit_reached.
	CreateRun(ctx context.Context, in RunInput) (Outcome[Run], error)
	// AddRunTasks adds tasks, which reopens a run that has ended. run_not_found,
	// task_not_found, task_closed, limit_reached, invalid.
	AddRunTasks(ctx context.Context, id RunID, in RunTasksInput) (Outcome[Run], error)
	// Runs lists them. room_not_found.
	Runs(ctx context.Context, q RunsQuery) ([]Run, Cursor, error)
	// Run returns one; it counts all its tasks and lists those viewer may see.
	// run_not_found.
	Run(ctx context.Context, id RunID, viewer AgentID) (Run, error)
	// HandoffTask offers a task to another agent, which a handoff message tells;
	// the assignee stays until it accepts. Who has the task, who gave it and the
	// operator may do so, and anybody while nobody has it. A later offer takes the
	// place of this one. task_not_found, task_closed, task_taken, invalid.
	HandoffTask(ctx context.Context, id TaskID, in HandoffInput) (Outcome[Task], error)
	// AcceptTask makes the agent that the task is offered to its assignee.
	// task_not_found, task_closed, not_offered.
	AcceptTask(ctx context.Context, id TaskID, in OfferInput) (Outcome[Task], error)
	// DeclineTask takes the offer back; so may who made it. task_not_found,
	// task_closed, not_offered.
	DeclineTask(ctx context.Context, id TaskID, in OfferInput) (Outcome[Task], error)
}
