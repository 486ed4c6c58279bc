package api

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// The functions Validate… check one input each, put it into canonical form and
// fill in its defaults. The owners refuse what depends on the state of the hub.

// Limits that the contract leaves open.
const (
	maxLanguageChars    = 64   // language of a code attachment
	maxDescriptionChars = 4096 // description of a reference
	maxRevisionChars    = 200  // base and head of a reference
)

// ValidateMetadata refuses metadata that is no object, too large or too deep.
// Absent metadata stays absent.
func ValidateMetadata(raw json.RawMessage) error {
	const field = "metadata"
	switch {
	case len(raw) == 0:
		return nil
	case raw[0] != '{':
		return hub.Invalid(field, "metadata must be an object")
	case len(raw) > hub.MaxMetadataBytes:
		return hub.NewError(hub.CodeMetadataTooLarge, "metadata is too large").
			With("field", field).With("limit", hub.MaxMetadataBytes).With("size", len(raw)).
			WithFix("put large data into an attachment")
	}
	if d := strictjson.Depth(raw); d > hub.MaxMetadataDepth {
		return hub.NewError(hub.CodeMetadataTooDeep, "metadata nests too deep").
			With("field", field).With("limit", hub.MaxMetadataDepth).With("size", d)
	}
	return nil
}

// given is check for a value that may be absent.
func given[T ~string](check func(string, T) error, field string, value T) error {
	if value == "" {
		return nil
	}
	return check(field, value)
}

// checkName is hub.CheckName for a name that may be absent.
func checkName[T ~string](field string, name T, limit int) error {
	if name == "" {
		return nil
	}
	return hub.CheckName(field, string(name), limit)
}

// checkThread is hub.CheckThread for a thread that may be absent.
func checkThread(id hub.ThreadID) error {
	if id == "" {
		return nil
	}
	return hub.CheckThread("thread_id", id)
}

// checkNames refuses a list of more than most names, or with a name that hub.CheckName
// refuses.
func checkNames(field string, list []string, most, limit int) error {
	if n := len(list); n > most {
		return hub.Invalid(field, "there are too many "+field).With("limit", most).With("size", n)
	}
	for _, name := range list {
		if err := hub.CheckName(field, name, limit); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses a text that is longer than limit characters.
func checkText(field, text string, limit int) error {
	if len(text) <= limit {
		return nil
	}
	if n := utf8.RuneCountInString(text); n > limit {
		return hub.Invalid(field, field+" is too long").With("limit", limit).With("size", n)
	}
	return nil
}

// checkID refuses an impossible message id. 0 is an absent id.
func checkID(field string, id hub.MessageID) error {
	if id < 0 || id > hub.MaxMessageID {
		return hub.Invalid(field, field+" is not a message id").With("limit", int64(hub.MaxMessageID))
	}
	return nil
}

// checkActor is hub.CheckSender; the operator may act as the operator.
func checkActor(field string, id hub.AgentID, operator bool) error {
	if operator && id == hub.AgentOperator {
		return nil
	}
	return hub.CheckSender(field, id)
}

// checkNamedActor is checkActor for an agent that may be left out.
func checkNamedActor(field string, id hub.AgentID, operator bool) error {
	if id == "" {
		return nil
	}
	return checkActor(field, id, operator)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ValidateRegister checks a registration.
func ValidateRegister(in *hub.RegisterInput) error {
	return first(
		hub.CheckSender("agent_id", in.AgentID),
		checkBounds(in),
		ValidateMetadata(in.Metadata))
}

// ValidateResume checks that both secrets are present. The agent's owner checks
// their values.
func ValidateResume(in *hub.ResumeInput) error {
	return first(
		checkBounds(in))
}

// ValidateRename checks a new display name.
func ValidateRename(in *hub.RenameInput) error {
	return checkBounds(in)
}

// ValidateChannelArchive checks the name of a channel.
func ValidateChannelArchive(in *hub.ChannelArchiveInput) error {
	return checkBounds(in)
}

// ValidateChannel checks the name of a new channel.
func ValidateChannel(in *hub.ChannelInput, operator bool) error {
	if err := checkBounds(in); err != nil {
		return err
	}
	if strings.HasPrefix(string(in.Name), hub.RoomChannelPrefix) {
		return hub.NewError(hub.CodeReservedName, "names that begin with "+hub.RoomChannelPrefix+" belong to rooms").
			With("field", "name").WithFix("choose a name that begins otherwise")
	}
	return first(checkNamedActor("created_by", in.CreatedBy, operator), ValidateMetadata(in.Metadata))
}

// ValidateComplete checks the completion of a task.
func ValidateComplete(in *hub.CompleteInput, lim hub.Limits, operator bool) error {
	return first(checkNamedActor("agent_id", in.AgentID, operator), checkText("note", in.Note, lim.MaxBodyChars))
}

// ValidateTaskUpdate checks a change of a task. An empty assignee means nobody.
func ValidateTaskUpdate(in *hub.TaskUpdateInput, operator bool) error {
	if err := checkNamedActor("agent_id", in.AgentID, operator); err != nil {
		return err
	}
	if in.Status == nil && in.Assignee == nil && in.BlockedBy == nil {
		return hub.Invalid("status", "the update changes nothing").
			WithFix("send status, assignee or blocked_by")
	}
	if in.Status != nil {
		status, ok := hub.ParseTaskStatus(*in.Status)
		if !ok {
			return hub.Invalid("status", "there is no such task status").With("statuses", hub.TaskStatuses())
		}
		in.Status = &status
	}
	if in.Release && (in.Status == nil || !in.Status.Terminal()) {
		return hub.Invalid("release", "claims and locks are released only when the task ends").
			WithFix("send release with the status done, failed or cancelled")
	}
	if in.Assignee != nil {
		if err := given(hub.CheckAgentID, "assignee", *in.Assignee); err != nil {
			return err
		}
	}
	if err := checkTaskNote(in); err != nil {
		return err
	}
	if in.ExpectedVersion < 0 {
		return hub.Invalid("expected_version", "expected_version must be at least 1")
	}
	if in.BlockedBy == nil {
		return nil
	}
	return checkBlockedBy(*in.BlockedBy)
}

// checkTaskNote checks the words to the agent that an update gives a task to.
func checkTaskNote(in *hub.TaskUpdateInput) error {
	switch {
	case in.Note == "":
		return nil
	case in.Assignee == nil || *in.Assignee == "":
		return hub.Invalid("note", "a note goes to the agent that gets the task").WithFix("send assignee with the note, or complete the task with it")
	case in.AgentID == "":
		return hub.Invalid("agent_id", "a note needs to say whose it is").WithFix("send agent_id with the note")
	}
	return checkText("note", in.Note, hub.MaxNoteChars)
}

// checkBlockedBy refuses too many tasks to wait for, and impossible ids.
func checkBlockedBy(ids []hub.TaskID) error {
	if n := len(ids); n > hub.MaxBlockedBy {
		return hub.Invalid("blocked_by", "a task cannot wait for so many others").
			With("limit", hub.MaxBlockedBy).With("size", n)
	}
	return checkTaskIDs("blocked_by", ids)
}

// ValidateShutdown checks the delay and fills in one minute.
func ValidateShutdown(in *hub.ShutdownInput) error {
	limit := hub.MaxShutdownDelay.Seconds()
	if in.DelaySec == nil {
		minute := 60.0
		in.DelaySec = &minute
		return nil
	}
	if d := *in.DelaySec; math.IsNaN(d) || d < 0 || d > limit {
		return hub.Invalid("delay_sec", "delay_sec must be from 0 to 3600").With("limit", limit)
	}
	return nil
}
