package api

import (
	"strings"

	"hubcli/hub"
)

// ValidateRun checks a new run. Space around its title is dropped.
func ValidateRun(in *hub.RunInput, operator bool) error {
	in.Title = strings.TrimSpace(in.Title)
	return first(
		checkNamedActor("created_by", in.CreatedBy, operator),
		hub.CheckName("title", in.Title, hub.MaxTitleChars),
		checkName("room_id", in.RoomID, hub.MaxNameChars),
		checkTaskIDs("task_ids", in.TaskIDs))
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
		checkText("note", in.Note, hub.MaxNoteChars))
}

// ValidateOffer checks the end of an offer.
func ValidateOffer(in *hub.OfferInput, operator bool) error {
	return first(
		checkNamedActor("agent_id", in.AgentID, operator),
		checkText("note", in.Note, hub.MaxNoteChars))
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
