package capsules

import (
	"encoding/json"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

func (e *exporter) runLines() error {
	if err := e.out.Section("runs.ndjson"); err != nil {
		return err
	}
	return eachOf(e.survey, core.TableRun, e.runs, func(n int64, r core.StoredRun) error {
		line := &capsule.Run{
			ID: refOf("u", n), Room: e.ref(string(hub.Value(r.Run.RoomID))), Title: e.texts.text(r.Run.Title, hub.MaxTitleChars),
			CreatedBy: e.texts.agentName(r.Run.CreatedBy), Status: r.Run.Status, StartedAt: r.Run.StartedAt, EndedAt: r.Run.EndedAt,
		}
		if r.Was != "" { // it was imported while it ran
			line.Status, line.EndedAt = r.Was, nil
		}
		return e.line(line)
	})
}

func (e *exporter) taskLines() error {
	if err := e.out.Section("tasks.ndjson"); err != nil {
		return err
	}
	return e.eachTask(func(t *core.StoredTask) error {
		line, err := e.task(t)
		if err != nil {
			return err
		}
		return e.line(line)
	})
}

// task returns the line of a task.
func (e *exporter) task(t *core.StoredTask) (*capsule.Task, error) {
	row := &t.Task
	number, _ := e.number(row.TaskID)
	thread, err := e.threads.of(hub.Value(row.ThreadID))
	if err != nil {
		return nil, err
	}
	line := &capsule.Task{
		ID: number, Room: e.ref(string(hub.Value(row.RoomID))), Parent: e.namedTask(row.ParentTaskID), Thread: thread,
		Title: e.texts.text(row.Title, hub.MaxTitleChars), Status: row.Status, Assignee: e.texts.agentName(hub.Value(row.Assignee)),
		BlockedBy: []capsule.Number{}, Version: row.Version, CreatedBy: e.texts.agentName(row.CreatedBy),
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, CompletedAt: row.CompletedAt,
		Direct: t.Direct, Asked: e.texts.agentName(t.Asked),
	}
	if t.Was != "" { // it was imported before it had ended
		line.Status, line.CompletedAt = t.Was, nil
	}
	for i := range row.BlockedBy {
		if n := e.namedTask(&row.BlockedBy[i]); n != 0 {
			line.BlockedBy = append(line.BlockedBy, n)
		}
	}
	slices.Sort(line.BlockedBy)
	if row.RunID != nil {
		if line.Run = e.ref(string(*row.RunID)); line.Run == "" {
			e.left(leftRuns, 1)
		}
	}
	if e.req.messages() {
		line.Result = e.optional(row.ResultMessageID)
		return line, nil
	}
	line.Outcome, err = e.outcome(t)
	return line, err
}

// namedTask returns the number of a task that another one names, or 0 if it is not in the
// capsule.
func (e *exporter) namedTask(id *hub.TaskID) capsule.Number {
	if id == nil {
		return 0
	}
	if at, ok := e.tasks.of(*id); ok && at > 0 {
		return e.optional(id)
	}
	if !e.hidden[*id] {
		e.left(leftNamed, 1)
	}
	return 0
}

// outcome returns the text of a task's result. That of a direct message is for those who
// get direct messages.
func (e *exporter) outcome(t *core.StoredTask) (string, error) {
	text := t.Outcome // of a capsule without messages
	if id := t.Task.ResultMessageID; id != nil {
		m, err := e.rows.Message(*id)
		if errors.Is(err, core.ErrNotFound) {
			return "", hub.NewError(hub.CodeCorruptRecord, "the result of a task is missing").With("task_id", t.Task.TaskID)
		}
		if err != nil {
			return "", err
		}
		if m.To != "" && !e.req.direct() {
			e.left(leftDirect, 1)
			return "", nil
		}
		var row struct {
			Body string `json:"body"`
		}
		if json.Unmarshal(m.JSON, &row) != nil {
			return "", hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read").With("message_id", *id)
		}
		text = row.Body
	}
	return e.texts.text(text, hub.DefaultLimits().MaxBodyChars), nil
}
