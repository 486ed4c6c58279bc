package actors

import (
	"encoding/json"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// taskView shows the tasks that have not ended. Ended ones are read from their
// stored rows.
type taskView struct {
	mu   sync.RWMutex
	live map[hub.TaskID]core.StoredTask
}

func newTaskView() *taskView { return &taskView{live: map[hub.TaskID]core.StoredTask{}} }

// apply takes a committed row of TableTask.
func (v *taskView) apply(row *core.Row) {
	t, err := decodeTask(row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	v.put(t)
}

func (v *taskView) put(t core.StoredTask) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.Task.Status.Terminal() {
		delete(v.live, t.Task.TaskID)
	} else {
		v.live[t.Task.TaskID] = t
	}
}

// list returns the live tasks that keep keeps, newest first.
func (v *taskView) list(keep func(*core.StoredTask) bool) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []core.StoredTask
	for _, t := range v.live {
		if keep(&t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b core.StoredTask) int { return int(b.Task.TaskID - a.Task.TaskID) })
	return out
}

func (v *taskView) get(id hub.TaskID) (core.StoredTask, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	t, ok := v.live[id]
	return t, ok
}

func (v *taskView) len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.live)
}

func decodeTask(value []byte) (t core.StoredTask, err error) {
	if err := json.Unmarshal(value, &t); err != nil {
		return t, hub.NewError(hub.CodeCorruptRecord, "a stored task cannot be read")
	}
	return t, nil
}
