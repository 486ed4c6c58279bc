package hub

import (
	"fmt"
	"slices"
	"strconv"
)

// Limits of a plan.
const (
	MaxPlanTasks     = 100 // tasks of one plan
	MaxPlanNameChars = 80  // name of a task within its plan
)

// PlanExample shows how the tasks of a plan are written.
const PlanExample = `write tasks as [{"name":"schema","title":"Write the schema"},{"title":"Write the API","after":["schema"]}]`

// PlannedTask is one task of a plan. A plan is made as a whole, with its run, or
// not at all.
type PlannedTask struct {
	// Its name within the plan; its place in the list, beginning with 1, if left out.
	Name    string   `json:"name,omitempty" bounds:"..MaxPlanNameChars runes"`
	Title   string   `json:"title" bounds:"1..MaxTitleChars runes"` // One line.
	Details string   `json:"details,omitempty" bounds:"..MaxNoteChars runes"`
	After   []string `json:"after,omitempty" bounds:"..100 items"` // Names of the tasks of the plan that must end first.
	// The agent that is to do it. The message that opens the task mentions the agent, unless it is created_by.
	Assignee AgentID `json:"assignee,omitempty"`
	// What holds if one of those fails or is cancelled. wait: its creator or the operator decides, and sets
	// blocked_by anew if it goes on. continue: it can begin all the same.
	AfterFailed AfterFailed `json:"after_failed,omitempty" bounds:"default wait"`
}

// AfterFailed says what becomes of a task when one that it waited for has failed or was cancelled.
type AfterFailed string

// What a plan says of that.
const (
	AfterFailedWait     AfterFailed = "wait"     // its creator or the operator decides; the default
	AfterFailedContinue AfterFailed = "continue" // the task can begin all the same
)

// Body returns the text of the message that opens the task. It mentions the assignee, unless that is
// the agent by, which opens the task.
func (t *PlannedTask) Body(by AgentID) string {
	body := t.Title
	if t.Details != "" {
		body += "\n\n" + t.Details
	}
	if t.Assignee != "" && t.Assignee != by {
		body += "\n\nThis task is for @" + string(t.Assignee) + "."
	}
	return body
}

// PlanOrder says how the tasks of a plan depend on each other. after holds, for
// each task, the places in the list of the tasks that it waits for. order holds
// the places of all tasks so that each stands behind those that it waits for.
// Errors: invalid (two tasks have one name, a name is unknown, a task waits for
// itself).
func PlanOrder(tasks []PlannedTask) (after [][]int, order []int, err error) {
	places := map[string]int{}
	for i := range tasks {
		name := tasks[i].nameAt(i)
		if _, twice := places[name]; twice {
			return nil, nil, badPlan("two tasks have the name %q", name)
		}
		places[name] = i
	}
	after = make([][]int, len(tasks))
	for i := range tasks {
		for _, name := range tasks[i].After {
			at, ok := places[name]
			if !ok {
				return nil, nil, badPlan("task %q waits for %q, and no task of the plan has this name", tasks[i].nameAt(i), name)
			}
			if !slices.Contains(after[i], at) {
				after[i] = append(after[i], at)
			}
		}
	}
	order, err = orderOf(tasks, after)
	return after, order, err
}

// nameAt returns the task's name within its plan. i is its place, counted from 0.
func (t *PlannedTask) nameAt(i int) string {
	if t.Name == "" {
		return strconv.Itoa(i + 1)
	}
	return t.Name
}

func orderOf(tasks []PlannedTask, after [][]int) ([]int, error) {
	order, placed := make([]int, 0, len(tasks)), make([]bool, len(tasks))
	for len(order) < len(tasks) {
		before := len(order)
		for i := range tasks {
			if !placed[i] && !slices.ContainsFunc(after[i], func(at int) bool { return !placed[at] }) {
				placed[i] = true
				order = append(order, i)
			}
		}
		if len(order) == before {
			at := slices.Index(placed, false)
			return nil, badPlan("task %q waits for itself, directly or through others", tasks[at].nameAt(at)).
				WithFix("leave out one of the names in after")
		}
	}
	return order, nil
}

// badPlan refuses the tasks of a plan and shows how to write them.
func badPlan(format string, args ...any) *Error {
	return Invalid("tasks", fmt.Sprintf(format, args...)).
		WithFix(PlanExample)
}
