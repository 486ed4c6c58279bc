package core_test

import (
	"encoding/json"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// checkAnnounced checks that a record announces exactly the tasks that can begin
// because their last blocker ended in it, or because the lead said so while
// another agent has them or is offered them, each once. ready has the tasks that
// were ready before.
func (r *taskRig) checkAnnounced(d core.Draft, ready map[hub.TaskID]bool) {
	r.t.Helper()
	var ended, freed, announced, want []hub.TaskID
	for _, f := range d.Facts {
		switch f, ok := f.(*core.TaskChanged); {
		case !ok:
		case f.Status != nil && f.Status.Terminal():
			ended = append(ended, f.Task)
		case f.Status == nil && f.BlockedBy != nil:
			freed = append(freed, f.Task)
		}
	}
	for _, m := range d.Messages {
		var meta struct {
			Wake struct {
				Reason  string       `json:"reason"`
				Matched []hub.TaskID `json:"matched"`
			} `json:"wake"`
		}
		if json.Unmarshal(m.Metadata, &meta) == nil && meta.Wake.Reason == "task_ready" {
			for _, id := range meta.Wake.Matched {
				if _, known := ready[id]; known { // a fixture restores tasks without rows
					announced = append(announced, id)
				}
			}
		}
	}
	for id, row := range r.rows {
		waited := slices.ContainsFunc(row.Task.BlockedBy, func(b hub.TaskID) bool { return slices.Contains(ended, b) }) && !r.behindFailed(&row)
		of := row.Task.OfferedTo
		if of == nil {
			of = row.Task.Assignee
		}
		told := slices.Contains(freed, id) && of != nil && *of != "lead"
		if was, known := ready[id]; known && !was && row.Task.Ready && (waited || told) {
			want = append(want, id)
		}
	}
	slices.Sort(announced)
	slices.Sort(want)
	if !slices.Equal(announced, want) {
		r.t.Fatalf("tasks %v are announced, tasks %v can begin", announced, want)
	}
}
