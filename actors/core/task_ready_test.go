package core_test

import (
	"encoding/json"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// checkAnnounced checks that a record announces exactly the tasks whose last
// blocker ended as done in it, as all others had before, each once. ready has the tasks that were ready
// before.
func (r *taskRig) checkAnnounced(d core.Draft, ready map[hub.TaskID]bool) {
	r.t.Helper()
	var done, announced, want []hub.TaskID
	for _, f := range d.Facts {
		if f, ok := f.(*core.TaskChanged); ok && f.Status != nil && *f.Status == hub.TaskDone {
			done = append(done, f.Task)
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
		waited := slices.ContainsFunc(row.Task.BlockedBy, func(b hub.TaskID) bool { return slices.Contains(done, b) })
		lost := slices.ContainsFunc(row.Task.BlockedBy, func(b hub.TaskID) bool { return r.rows[b].Task.Status != hub.TaskDone })
		if was, known := ready[id]; known && !was && row.Task.Ready && waited && !lost {
			want = append(want, id)
		}
	}
	slices.Sort(announced)
	slices.Sort(want)
	if !slices.Equal(announced, want) {
		r.t.Fatalf("tasks %v are announced, tasks %v can begin", announced, want)
	}
}
