package actors

import (
	"cmp"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// taskView shows the tasks that have not ended, also by room, by who has them and
// by whom they concern. Ended ones are read from their stored rows.
type taskView struct {
	mu      sync.RWMutex
	live    map[hub.TaskID]core.StoredTask
	rooms   multimap[hub.RoomID, hub.TaskID]
	agents  multimap[hub.AgentID, hub.TaskID] // assignees
	parties multimap[hub.AgentID, hub.TaskID] // assignees, those it is offered to, and who has made it
}

func newTaskView() *taskView {
	return &taskView{
		live: map[hub.TaskID]core.StoredTask{}, rooms: multimap[hub.RoomID, hub.TaskID]{},
		agents: multimap[hub.AgentID, hub.TaskID]{}, parties: multimap[hub.AgentID, hub.TaskID]{},
	}
}

// apply takes a committed row of TableTask. It returns the task as it was, if it
// was live, and as it is.
func (v *taskView) apply(row *core.Row) (was, is core.StoredTask) {
	t, err := decodeRow[core.StoredTask](row.Table, row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	return v.put(t), t
}

// put is apply for a decoded row.
func (v *taskView) put(t core.StoredTask) (was core.StoredTask) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := t.Task.TaskID
	if old, ok := v.live[id]; ok {
		was = old
		v.rooms.removeOf(was.Task.RoomID, id)
		v.agents.removeOf(was.Task.Assignee, id)
		for _, agent := range partiesOf(&was.Task) {
			v.parties.removeOf(agent, id)
		}
	}
	if t.Task.Status.Terminal() {
		delete(v.live, id)
	} else {
		v.live[id] = t
		v.rooms.addOf(t.Task.RoomID, id)
		v.agents.addOf(t.Task.Assignee, id)
		for _, agent := range partiesOf(&t.Task) {
			v.parties.addOf(agent, id)
		}
	}
	return was
}

// partiesOf returns whom a task concerns: whose it is to do, whom it is offered to
// and who posted it.
func partiesOf(t *hub.Task) [3]*hub.AgentID {
	return [...]*hub.AgentID{t.Assignee, t.OfferedTo, &t.CreatedBy}
}

// concerns reports whether agent is one of them.
func concerns(t *hub.Task, agent hub.AgentID) bool {
	for _, party := range partiesOf(t) {
		if party != nil && *party == agent {
			return true
		}
	}
	return false
}

// engages returns the agent that a task keeps at work or waiting for input, or "".
func engages(t *hub.Task) hub.AgentID {
	if t.Assignee != nil && (t.Status == hub.TaskWorking || t.Status == hub.TaskInputRequired) {
		return *t.Assignee
	}
	return ""
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
	newestFirst(out)
	return out
}

// inRoom is list for the tasks of a room.
func (v *taskView) inRoom(room hub.RoomID, keep func(*core.StoredTask) bool) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.rooms[room], keep)
}

// page returns the first n live tasks of a room, of all rooms if it is empty, that
// are older than before and that keep keeps, newest first.
func (v *taskView) page(room hub.RoomID, before hub.TaskID, n int, keep func(*core.StoredTask) bool) []core.StoredTask {
	found := firsts[hub.TaskID]{n: n, compare: func(a, b hub.TaskID) int { return cmp.Compare(b, a) }}
	v.mu.RLock()
	defer v.mu.RUnlock()
	add := func(t *core.StoredTask) {
		if t.Task.TaskID < before && keep(t) {
			found.add(t.Task.TaskID)
		}
	}
	if room != "" {
		for id := range v.rooms[room] {
			t := v.live[id]
			add(&t)
		}
	} else {
		for _, t := range v.live {
			add(&t)
		}
	}
	ids := found.sorted()
	out := make([]core.StoredTask, len(ids))
	for i, id := range ids {
		out[i] = v.live[id]
	}
	return out
}

// of is list for the tasks that an agent has.
func (v *taskView) of(agent hub.AgentID, keep func(*core.StoredTask) bool) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.agents[agent], keep)
}

// concerning is list for the tasks that an agent has, is offered or has posted.
func (v *taskView) concerning(agent hub.AgentID) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.parties[agent], func(*core.StoredTask) bool { return true })
}

// concerns reports whether an agent has, is offered or has posted a live task.
func (v *taskView) concerns(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.parties[agent]) > 0
}

// posted reports whether an agent has posted a live task.
func (v *taskView) posted(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.those(v.parties[agent], func(t *core.StoredTask) bool { return t.Task.CreatedBy == agent })) > 0
}

func (v *taskView) those(ids map[hub.TaskID]struct{}, keep func(*core.StoredTask) bool) []core.StoredTask {
	var out []core.StoredTask
	for id := range ids {
		if t := v.live[id]; keep(&t) {
			out = append(out, t)
		}
	}
	newestFirst(out)
	return out
}

func newestFirst(tasks []core.StoredTask) {
	slices.SortFunc(tasks, func(a, b core.StoredTask) int { return int(b.Task.TaskID - a.Task.TaskID) })
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
