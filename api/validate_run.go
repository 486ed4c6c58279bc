package api

import (
	"strconv"
	"strings"

	"hubcli/hub"
)

// ValidateRun checks a new run and the tasks of its plan. Space around its title
// is dropped.
func ValidateRun(in *hub.RunInput, lim hub.Limits, operator bool) error {
	in.Title = strings.TrimSpace(in.Title)
	if len(in.Tasks) > 0 && in.CreatedBy == "" && operator {
		in.CreatedBy = hub.AgentOperator
	}
	if err := checkPlan(in, lim); err != nil {
		return err
	}
	return first(
		checkNamedActor("created_by", in.CreatedBy, operator),
		checkBounds(in),
		checkTaskIDs("task_ids", in.TaskIDs))
}

// checkPlan checks the tasks of a plan before any of them is opened.
func checkPlan(in *hub.RunInput, lim hub.Limits) error {
	switch n := len(in.Tasks); {
	case n == 0:
		return nil
	case n > hub.MaxPlanTasks:
		return hub.Invalid("tasks", "a plan cannot have so many tasks").
			With("limit", hub.MaxPlanTasks).With("size", n).WithFix("make a run with the first tasks, and post the others with metadata.run_id")
	case in.CreatedBy == "":
		return hub.Invalid("created_by", "the tasks of a plan need to say who opens them").WithFix("send created_by")
	}
	for i := range in.Tasks {
		if err := checkPlanned(&in.Tasks[i], lim); err != nil {
			return within(err, "tasks["+strconv.Itoa(i)+"]")
		}
	}
	_, _, err := hub.PlanOrder(in.Tasks)
	return err
}

func checkPlanned(t *hub.PlannedTask, lim hub.Limits) error {
	t.Title = strings.TrimSpace(t.Title)
	if strings.ContainsAny(t.Title, "\r\n") {
		return hub.Invalid("title", "the title of a task is one line").WithFix("write the rest into details")
	}
	switch t.AfterFailed {
	case "", hub.AfterFailedWait, hub.AfterFailedContinue:
	default:
		return hub.Invalid("after_failed", "a task waits or continues after one that failed").
			With("allowed", []hub.AfterFailed{hub.AfterFailedWait, hub.AfterFailedContinue})
	}
	return first(
		checkName("name", t.Name, hub.MaxPlanNameChars),
		hub.CheckName("title", t.Title, hub.MaxTitleChars),
		checkText("details", t.Details, hub.MaxNoteChars),
		given(hub.CheckAssignee, "assignee", t.Assignee),
		checkBody(t.Body(""), lim.MaxBodyChars))
}

// ValidateRunTasks checks tasks that are to join a run.
func ValidateRunTasks(in *hub.RunTasksInput, operator bool) error {
	if len(in.TaskIDs) == 0 {
		return hub.Invalid("task_ids", "task_ids is missing").WithFix("name the tasks that are to join the run")
	}
	return first(checkNamedActor("agent_id", in.AgentID, operator), checkTaskIDs("task_ids", in.TaskIDs))
}

// ValidateHandoff checks the offer of a task.
func ValidateHandoff(in *hub.HandoffInput, operator bool) error {
	return first(
		checkNamedActor("agent_id", in.AgentID, operator),
		hub.CheckRecipient("to_agent", in.ToAgent),
		checkBounds(in))
}

// ValidateOffer checks the end of an offer.
func ValidateOffer(in *hub.OfferInput, operator bool) error {
	return first(
		checkNamedActor("agent_id", in.AgentID, operator),
		checkBounds(in))
}

// checkTaskIDs refuses a list with an impossible task id.
func checkTaskIDs(field string, ids []hub.TaskID) error {
	for _, id := range ids {
		if id == 0 {
			return hub.Invalid(field, field+" holds an id that is no task id")
		}
		if err := checkID(field, id); err != nil {
			return err
		}
	}
	return nil
}
