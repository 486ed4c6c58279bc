package view

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Tasks shows the tasks that have not ended, also by room, by assignee and by the
// agents that they concern. Ended tasks are read from their stored rows.
type Tasks struct {
	mu      sync.RWMutex
	live    map[hub.TaskID]core.StoredTask
	rooms   multimap[hub.RoomID, hub.TaskID]
	agents  multimap[hub.AgentID, hub.TaskID] // assignees
	parties multimap[hub.AgentID, hub.TaskID] // assignees, agents with an offer, and creators
	waiting multimap[hub.TaskID, hub.TaskID]  // by each task of their blocked_by
	left    map[hub.TaskID]struct{}           // those whose assignees have gone
	free    multimap[hub.RoomID, hub.TaskID]  // by room, as core.Free has it
	told    multimap[hub.AgentID, hub.TaskID] // open tasks that nobody has, by the agent told of them
}

func newTasks() *Tasks {
	return &Tasks{
		live: map[hub.TaskID]core.StoredTask{}, rooms: multimap[hub.RoomID, hub.TaskID]{},
		agents: multimap[hub.AgentID, hub.TaskID]{}, parties: multimap[hub.AgentID, hub.TaskID]{},
		waiting: multimap[hub.TaskID, hub.TaskID]{}, left: map[hub.TaskID]struct{}{},
		free: multimap[hub.RoomID, hub.TaskID]{}, told: multimap[hub.AgentID, hub.TaskID]{},
	}
}

// apply takes a committed row of TableTask. It returns the task as it was, if it
// was live, and as it is.
func (v *Tasks) apply(row *core.Row) (was, is core.StoredTask) {
	t, err := DecodeRow[core.StoredTask](row.Table, row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	return v.Put(t), t
}

// Put is apply for a decoded row.
func (v *Tasks) Put(t core.StoredTask) (was core.StoredTask) {
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
		for _, blocker := range was.Task.BlockedBy {
			v.waiting.remove(blocker, id)
		}
		v.free.removeOf(was.Task.RoomID, id)
		v.told.remove(was.Suggested, id)
	}
	if delete(v.left, id); t.Task.AssigneeGoneSince != nil {
		v.left[id] = struct{}{}
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
		for _, blocker := range t.Task.BlockedBy {
			v.waiting.add(blocker, id)
		}
		switch {
		case core.Free(&t):
			v.free.addOf(t.Task.RoomID, id)
		case t.Suggested != "" && t.Task.Assignee == nil:
			v.told.add(t.Suggested, id)
		}
	}
	return was
}

// partiesOf returns the agents that a task concerns: the assignee, the agent with the
// offer, and the creator. nil: there is none.
func partiesOf(t *hub.Task) [3]*hub.AgentID {
	return [...]*hub.AgentID{t.Assignee, t.OfferedTo, &t.CreatedBy}
}

// Concerns reports whether agent is one of them.
func Concerns(t *hub.Task, agent hub.AgentID) bool {
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

// List returns the live tasks that keep keeps, newest first.
func (v *Tasks) List(keep func(*core.StoredTask) bool) []core.StoredTask {
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

// InRoom is list for the tasks of a room.
func (v *Tasks) InRoom(room hub.RoomID, keep func(*core.StoredTask) bool) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.rooms[room], keep)
}

// Page returns the first n live tasks of a room, of all rooms if it is empty, that
// are older than before and that keep keeps, newest first.
func (v *Tasks) Page(room hub.RoomID, before hub.TaskID, n int, keep func(*core.StoredTask) bool) []core.StoredTask {
	found := Firsts[hub.TaskID]{N: n, Compare: func(a, b hub.TaskID) int { return cmp.Compare(b, a) }}
	v.mu.RLock()
	defer v.mu.RUnlock()
	add := func(t *core.StoredTask) {
		if t.Task.TaskID < before && keep(t) {
			found.Add(t.Task.TaskID)
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
	ids := found.Sorted()
	out := make([]core.StoredTask, len(ids))
	for i, id := range ids {
		out[i] = v.live[id]
	}
	return out
}

// Of is list for the tasks that an agent has.
func (v *Tasks) Of(agent hub.AgentID, keep func(*core.StoredTask) bool) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.agents[agent], keep)
}

// Assigned returns the live tasks that have an assignee, by it.
func (v *Tasks) Assigned() map[hub.AgentID][]core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make(map[hub.AgentID][]core.StoredTask, len(v.agents))
	for agent, ids := range v.agents {
		out[agent] = v.those(ids, func(*core.StoredTask) bool { return true })
	}
	return out
}

// FreeRooms returns the rooms with tasks that nobody has and that no agent was told of, see core.Free.
func (v *Tasks) FreeRooms() []hub.RoomID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Collect(maps.Keys(v.free))
}

// OldestFree returns the oldest of these tasks of a room that keep keeps.
func (v *Tasks) OldestFree(room hub.RoomID, keep func(*hub.Task) bool) (oldest hub.TaskID, found bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for id := range v.free[room] {
		if t := v.live[id]; (!found || id < oldest) && keep(&t.Task) {
			oldest, found = id, true
		}
	}
	return oldest, found
}

// Engaged reports whether an agent has a live task, is offered one, or was told since a time of one
// that nobody has taken.
func (v *Tasks) Engaged(agent hub.AgentID, since hub.Time) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if len(v.agents[agent]) > 0 {
		return true
	}
	for id := range v.told[agent] {
		if v.live[id].SuggestedAt >= since {
			return true
		}
	}
	for id := range v.parties[agent] {
		if to := v.live[id].Task.OfferedTo; to != nil && *to == agent {
			return true
		}
	}
	return false
}

// LeftOf returns the live tasks of a run whose assignees have gone and that a viewer may see, the
// oldest first.
func (v *Tasks) LeftOf(run hub.RunID, sees Viewer) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	left := v.those(v.left, func(t *core.StoredTask) bool { return t.Task.RunID != nil && *t.Task.RunID == run && sees.Task(t) })
	slices.Reverse(left)
	return left
}

// Concerning is list for the tasks that an agent has, is offered or has posted.
func (v *Tasks) Concerning(agent hub.AgentID) []core.StoredTask {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.those(v.parties[agent], func(*core.StoredTask) bool { return true })
}

// concerns reports whether an agent has, is offered or has posted a live task.
func (v *Tasks) concerns(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.parties[agent]) > 0
}

// posted reports whether an agent has posted a live task.
func (v *Tasks) posted(agent hub.AgentID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.those(v.parties[agent], func(t *core.StoredTask) bool { return t.Task.CreatedBy == agent })) > 0
}

func (v *Tasks) those(ids map[hub.TaskID]struct{}, keep func(*core.StoredTask) bool) []core.StoredTask {
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

// Links returns the live tasks that a task waits for, and those that wait for
// it.
func (v *Tasks) Links(t *hub.Task) (blockers, blocked []core.StoredTask) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, id := range t.BlockedBy {
		if blocker, live := v.live[id]; live {
			blockers = append(blockers, blocker)
		}
	}
	return blockers, v.those(v.waiting[t.TaskID], func(*core.StoredTask) bool { return true })
}

// Get returns a task that has not ended.
func (v *Tasks) Get(id hub.TaskID) (core.StoredTask, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	t, ok := v.live[id]
	return t, ok
}

// Live reports whether a task has not ended.
func (v *Tasks) Live(id hub.TaskID) bool {
	_, live := v.Get(id)
	return live
}

func (v *Tasks) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.live)
}
