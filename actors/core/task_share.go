package core

import "hubcli/hub"

// taskTally is what live tasks take.
type taskTally struct {
	tasks int
	bytes int // of memory, roughly
}

// Bytes that a live task takes in memory besides its texts, and for each task that it waits
// for. Each text is there twice: in the state of the owner and in the view.
const (
	taskBytes    = 512
	blockerBytes = 64
)

// bytes returns what the task takes in memory, roughly.
func (task *liveTask) bytes() int {
	row := &task.Task
	return taskBytes + 2*(len(row.Title)+len(hub.Value(row.ThreadID))+len(row.Channel)) + blockerBytes*len(row.BlockedBy)
}

// count adds a task to what its creator has, or takes it away.
func (t *Tasks) count(task *liveTask, sign int) {
	made, bytes := t.made[task.Task.CreatedBy], sign*task.bytes()
	made.tasks += sign
	made.bytes += bytes
	t.all.tasks += sign
	t.all.bytes += bytes
	if made.tasks == 0 {
		delete(t.made, task.Task.CreatedBy)
		return
	}
	t.made[task.Task.CreatedBy] = made
}

// place refuses tasks for which their creator, or the hub, has no place. Error:
// limit_reached.
func (t *Tasks) place(creator hub.AgentID, by Standing, opened ...*TaskOpened) error {
	adds := 0
	for _, f := range opened {
		task := liveTask{StoredTask: f.task(Position{})}
		adds += task.bytes()
	}
	return t.placeFor(creator, by, len(opened), adds)
}

// placeFor is place for a number of tasks that take so many bytes.
func (t *Tasks) placeFor(creator hub.AgentID, by Standing, tasks, bytes int) error {
	made := t.made[creator]
	if tasks > 0 {
		err := taskShare.Refuse(by, Holding{
			Creator: creator, Own: made.tasks, All: t.all.tasks, Adds: tasks,
			Holders: func() map[hub.AgentID]int { return t.makers(func(m taskTally) int { return m.tasks }) },
		})
		if err != nil {
			return err
		}
	}
	return taskTextShare.Refuse(by, Holding{
		Creator: creator, Own: made.bytes, All: t.all.bytes, Adds: bytes,
		Holders: func() map[hub.AgentID]int { return t.makers(func(m taskTally) int { return m.bytes }) },
	})
}

func (t *Tasks) makers(of func(taskTally) int) map[hub.AgentID]int {
	makers := make(map[hub.AgentID]int, len(t.made))
	for agent, m := range t.made {
		makers[agent] = of(m)
	}
	return makers
}

// placeForRun refuses a run for which its maker, or the hub, has no place. Error:
// limit_reached.
func (t *Tasks) placeForRun(maker hub.AgentID, by Standing) error {
	return runShare.Refuse(by, holdingOf(maker, func(count func(hub.AgentID)) {
		for _, run := range t.runs {
			count(run.Run.CreatedBy)
		}
	}))
}
