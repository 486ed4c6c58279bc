package capsules

import (
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

// tasks stages tasks and runs. All of them are history: one that had not ended is cancelled
// here, and remembers what it was.
func (s *staging) tasks() error {
	direct := map[capsule.Number]bool{}
	if err := s.src.Tasks(func(t *capsule.Task) error {
		if t.Direct {
			direct[t.ID] = true
		}
		return nil
	}); err != nil {
		return err
	}
	counts := map[hub.RunID]hub.RunCounts{}
	err := s.src.Tasks(func(t *capsule.Task) error {
		row, run, err := s.task(t, direct)
		if err != nil {
			return err
		}
		core.ImportedTask(row, run, s.put)
		if row.Task.RunID != nil {
			c := counts[*row.Task.RunID]
			core.CountImported(&c, row.Task.Status)
			counts[*row.Task.RunID] = c
		}
		return s.step()
	})
	if err != nil {
		return err
	}
	return s.src.Runs(func(r *capsule.Run) error {
		room, err := s.room(r.Room)
		seq, _, ok := s.seq(r.ID)
		if err != nil || !ok {
			return errChanged("a run names what is not in it")
		}
		row := hub.Run{
			RunID: hub.RunID(core.IDAt(core.PrefixRun, seq)), RoomID: &room, Title: s.texts.text(r.Title),
			CreatedBy: s.agent(r.CreatedBy), Status: r.Status, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		}
		was := hub.RunStatus("")
		if !r.Status.Terminal() {
			was, row.Status = r.Status, hub.RunCancelled
			row.EndedAt = core.Optional(r.StartedAt)
		}
		core.ImportedRun(seq, row, counts[row.RunID], was, s.put)
		return s.step()
	})
}

// task returns the row of a task and the number of its run.
func (s *staging) task(t *capsule.Task, direct map[capsule.Number]bool) (row *core.StoredTask, run hub.Seq, err error) {
	room, err := s.room(t.Room)
	id, ok := s.message(t.ID)
	if err != nil || !ok {
		return nil, 0, errChanged("a task names what is not in it")
	}
	row = &core.StoredTask{
		Direct: t.Direct, Asked: s.agent(t.Asked), Outcome: s.texts.text(t.Outcome),
		Task: hub.Task{
			TaskID: id, RoomID: &room, Channel: room.Channel(), ThreadID: core.Optional(s.thread(t.Thread)), Title: s.texts.text(t.Title),
			Status: t.Status, Assignee: core.Optional(s.agent(t.Assignee)), BlockedBy: []hub.TaskID{}, Version: t.Version,
			CreatedBy: s.agent(t.CreatedBy), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, CompletedAt: t.CompletedAt,
			ParentTaskID: s.optional(t.Parent), ResultMessageID: s.optional(t.Result),
		},
	}
	if t.Direct {
		row.Task.Channel = hub.DirectChannel
	}
	for _, n := range t.BlockedBy {
		blocker, ok := s.message(n)
		if !ok {
			return nil, 0, errChanged("a task waits for one that is not in it")
		}
		row.Task.BlockedBy = append(row.Task.BlockedBy, blocker)
		if direct[n] {
			row.Hidden = append(row.Hidden, blocker)
		}
	}
	if t.Run != "" {
		var prefix string
		if run, prefix, ok = s.seq(t.Run); !ok || prefix != core.PrefixRun {
			return nil, 0, errChanged("a task is in a run that is not in it")
		}
		row.Task.RunID = core.Optional(hub.RunID(core.IDAt(prefix, run)))
	}
	if !t.Status.Terminal() {
		row.Was, row.Task.Status = t.Status, hub.TaskCancelled
		row.Task.CompletedAt = core.Optional(t.UpdatedAt)
	}
	return row, run, nil
}

// optional returns the id of a message or task, or nil for 0.
func (s *staging) optional(n capsule.Number) *hub.MessageID {
	if id, ok := s.message(n); ok {
		return &id
	}
	return nil
}
