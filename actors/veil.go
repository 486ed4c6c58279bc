package actors

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// taskRow shows a task as its viewer sees it.
func (h *Hub) taskRow(t *core.StoredTask, sees viewer) hub.Task {
	return h.unveiled(t.Task, t.Veiled, sees)
}

// taskRows shows the first tasks.
func (h *Hub) taskRows(tasks []core.StoredTask, limit int, sees viewer) []hub.Task {
	rows := make([]hub.Task, 0, min(limit, len(tasks)))
	for i := 0; i < len(tasks) && i < limit; i++ {
		rows = append(rows, h.taskRow(&tasks[i], sees))
	}
	return rows
}

// unveiled returns the row without those of doubtful that its viewer may not see
// among the tasks it waits for. Whether it is ready stays as it is.
func (h *Hub) unveiled(row hub.Task, doubtful []hub.TaskID, sees viewer) hub.Task {
	if len(doubtful) == 0 || sees.all {
		return row
	}
	shown := make([]hub.TaskID, 0, len(row.BlockedBy))
	for _, id := range row.BlockedBy {
		if slices.Contains(doubtful, id) {
			if t, err := h.anyTask(id); err != nil || !sees.task(&t) {
				continue
			}
		}
		shown = append(shown, id)
	}
	row.BlockedBy = shown
	return row
}

// knows reports whether the viewer may see a message, or the task that it opened.
func (h *Hub) knows(sees viewer, id hub.MessageID) (bool, error) {
	m, err := h.views.message(id)
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeMessageNotFound}):
		return false, nil
	case err != nil || sees.message(m):
		return err == nil, err
	}
	return h.knowsTask(sees, id, false)
}

// knowsTask reports whether the viewer may see a task, and otherwise what is so if
// there is none.
func (h *Hub) knowsTask(sees viewer, id hub.TaskID, otherwise bool) (bool, error) {
	t, err := h.anyTask(id)
	if errors.Is(err, core.ErrNotFound) {
		return otherwise, nil
	}
	return err == nil && sees.task(&t), err
}

// checkClaimed refuses a claim on a message or task that the claimer does not see:
// it would keep out those who do. A key that reads as the one of a task of others
// counts as that task's.
func (h *Hub) checkClaimed(sees viewer, in *hub.ClaimInput) error {
	id, known := in.TaskMessageID, true
	var err error
	if id != 0 {
		known, err = h.knows(sees, id)
	}
	if named := taskOfKey(in.ClaimKey); known && err == nil && named != 0 {
		id = named
		known, err = h.knowsTask(sees, id, true) // such a key of no task is any other
	}
	if err == nil && !known {
		err = errTaskNotFound(id).With("task_message_id", id)
	}
	return err
}

// taskKey is the key of a claim on a task that names none.
func taskKey(id hub.TaskID) hub.ClaimKey {
	return hub.ClaimKey("task-" + strconv.FormatInt(int64(id), 10))
}

// taskOfKey returns the task whose key this is, or 0.
func taskOfKey(key hub.ClaimKey) hub.TaskID {
	digits, ok := strings.CutPrefix(string(key), "task-")
	id, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || taskKey(hub.TaskID(id)) != key {
		return 0
	}
	return hub.TaskID(id)
}
