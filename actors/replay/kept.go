package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// showKept shows what is known of a moment of the history alone.
func (r *Replay) showKept(m *moment, out *hub.RoomMoment) error {
	w, err := r.at(m.seq)
	if err != nil {
		return err
	}
	m.seq, m.ts = w.upto, w.now.Wall // no record may have the number that was asked for
	out.Seq, out.TS, out.LatestID = m.seq, m.ts, min(w.latest, r.view.Ring.Visible())
	seats, err := r.seatsAt(m, out)
	if err != nil {
		return err
	}
	live := r.showTasks(m, w, out)
	r.showLeases(w, seats, live, out)
	for _, err := range []error{r.showEnded(m, w, out), r.showRuns(m, w, out), r.showPauses(m, seats, out)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// seatsAt shows who had a seat. Seats that are there now are read first: a seat that ends
// meanwhile is then found twice, and never missed.
func (r *Replay) seatsAt(m *moment, out *hub.RoomMoment) (map[hub.AgentID]bool, error) {
	now, err := r.view.SeatsOf(m.room.RoomID)
	if err != nil {
		return nil, err
	}
	found := map[hub.SeatID]core.StoredSeat{}
	add := func(s core.StoredSeat) {
		if _, earlier := found[s.SeatID]; !earlier && view.SeqOf(core.PrefixSeat, s.SeatID) <= m.seq {
			found[s.SeatID] = s
		}
	}
	prefix := core.SeatEndedKey(m.room.RoomID, 0, "")
	behind := core.SeatEndedKey(m.room.RoomID, m.seq+1, "")
	err = view.ReadRows(r.rows, core.TableSeatEnded, prefix, behind, false, func(_ []byte, s core.StoredSeat) bool {
		add(s) // of a seat that has had several names, the one of the moment comes first
		return true
	})
	for _, s := range now {
		add(s)
	}
	seats := map[hub.AgentID]bool{}
	out.Seats = []hub.MomentSeat{}
	for _, s := range found {
		seats[s.AgentID] = true
		out.Seats = append(out.Seats, hub.MomentSeat{SeatID: s.SeatID, AgentID: s.AgentID, Role: s.Role, Harness: s.Harness, JoinedAt: s.JoinedAt})
	}
	slices.SortFunc(out.Seats, func(a, b hub.MomentSeat) int { return cmp.Compare(a.AgentID, b.AgentID) })
	return seats, err
}

// showTasks shows the tasks of the room that had not ended, and returns them.
func (r *Replay) showTasks(m *moment, w *walker, out *hub.RoomMoment) []core.StoredTask {
	var live []core.StoredTask
	for _, t := range w.tasks.List() {
		if t.Task.RoomID != nil && *t.Task.RoomID == m.room.RoomID && m.sees.Task(&t) {
			live = append(live, t)
		}
	}
	slices.Reverse(live)
	out.Tasks, out.TaskCount = r.view.TaskRows(live, momentTasks, m.sees), len(live)
	return live
}

// showEnded shows the tasks that had ended. The row of an ended task never changes, and a
// task that was opened before the moment and was not live then had ended.
func (r *Replay) showEnded(m *moment, w *walker, out *hub.RoomMoment) error {
	var ended []core.StoredTask
	var bad error
	prefix := core.OwnedKey(m.room.RoomID, nil)
	behind := core.OwnedKey(m.room.RoomID, core.IDKey(out.LatestID+1))
	err := r.rows.RowsBehind(core.TableTaskByRoom, prefix, behind, true, func(key, _ []byte) bool {
		id := hub.TaskID(core.KeyEnd(key))
		if _, live := w.tasks.Get(id); live {
			return true
		}
		var t core.StoredTask
		if t, bad = r.view.StoredTask(id); bad != nil {
			return false
		}
		if m.sees.Task(&t) {
			ended = append(ended, t)
		}
		return len(ended) < momentEnded
	})
	out.EndedTasks = r.view.TaskRows(ended, momentEnded, m.sees)
	return errors.Join(err, bad)
}

// showLeases shows the leases that the page of the room would have shown: those of agents
// with a seat, and the claims on its tasks.
func (r *Replay) showLeases(w *walker, seats map[hub.AgentID]bool, live []core.StoredTask, out *hub.RoomMoment) {
	tasks := map[hub.MessageID]bool{}
	for i := range live {
		tasks[live[i].Task.TaskID] = true
	}
	filter := view.LeaseFilter{Room: true, Seats: seats, Tasks: tasks}
	of := func(space core.LeaseSpace) (found []core.Lease) {
		for _, leases := range w.leases {
			for _, l := range leases.List(space) {
				if filter.Keep(l.Key, l.Agent, l.Thread, l.Task) {
					found = append(found, l)
				}
			}
		}
		slices.SortFunc(found, func(a, b core.Lease) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Fence, b.Fence))
		})
		return found
	}
	claims, locks := of(core.SpaceClaim), of(core.SpaceLock)
	out.ClaimCount, out.LockCount = len(claims), len(locks)
	out.Claims, out.Locks = []hub.Claim{}, []hub.Lock{}
	for i := range claims[:min(len(claims), momentLeases)] {
		out.Claims = append(out.Claims, claims[i].Claim(w.now))
	}
	for i := range locks[:min(len(locks), momentLeases)] {
		out.Locks = append(out.Locks, locks[i].Lock(w.now))
	}
}

// showRuns shows the runs that had not ended, then those that had.
func (r *Replay) showRuns(m *moment, w *walker, out *hub.RoomMoment) error {
	runs := slices.DeleteFunc(w.tasks.Runs(), func(run core.StoredRun) bool {
		return run.Run.RoomID == nil || *run.Run.RoomID != m.room.RoomID
	})
	slices.Reverse(runs)
	running := map[hub.RunID]bool{}
	for i := range runs {
		running[runs[i].Run.RunID] = true
	}
	runs = runs[:min(len(runs), momentRuns)]
	if left := momentRuns - len(runs); left > 0 {
		ended, err := r.view.StoredRuns(m.room.RoomID, m.seq+1, left, func(run *core.StoredRun) bool { return !running[run.Run.RunID] })
		if err != nil {
			return err
		}
		runs = append(runs, ended...)
	}
	out.Runs = []hub.Run{}
	for _, run := range runs {
		if run.AsOf > m.seq { // it got tasks again after it had ended
			var err error
			if run, err = r.endedRun(run, m.seq); err != nil {
				return err
			}
		}
		row, err := r.view.RunRow(run, m.sees)
		if err != nil {
			return err
		}
		out.Runs = append(out.Runs, row)
	}
	return nil
}

// endedRun returns what a run was like at a moment at which all of its tasks had ended. The
// rows of these tasks say it.
func (r *Replay) endedRun(run core.StoredRun, seq hub.Seq) (core.StoredRun, error) {
	var tasks []hub.Task
	var bad error
	err := r.rows.RowsOf(core.TableTaskByRun, core.OwnedKey(run.Run.RunID, nil), false, func(key, value []byte) bool {
		var entry core.RunTask
		if entry, bad = core.DecodeRunTask(key, value); bad != nil || entry.Seq > seq {
			return bad == nil
		}
		var t core.StoredTask
		t, bad = r.view.StoredTask(entry.Task)
		tasks = append(tasks, t.Task)
		return bad == nil
	})
	return core.RunOnceEnded(run, tasks, seq), errors.Join(err, bad)
}

// showPauses shows the pauses that were in force. For each target that has changed since, a
// row says what its pause was before the first change.
func (r *Replay) showPauses(m *moment, seats map[hub.AgentID]bool, out *hub.RoomMoment) error {
	held := map[string]hub.Pause{}
	for _, p := range r.view.Pauses() {
		held[string(core.PauseKey(p.Target()))] = p
	}
	told := map[string]bool{}
	var bad error
	err := r.rows.RowsBehind(core.TablePauseBefore, nil, core.SeqKey(m.seq+1), false, func(key, value []byte) bool {
		target := string(key[8:])
		if told[target] {
			return true
		}
		told[target] = true
		if delete(held, target); len(value) > 0 {
			var p hub.Pause
			bad = json.Unmarshal(value, &p)
			held[target] = p
		}
		return bad == nil
	})
	out.Pauses = []hub.Pause{}
	for target, p := range held {
		if p.All || p.RoomID != nil && *p.RoomID == m.room.RoomID || p.AgentID != nil && seats[*p.AgentID] {
			continue
		}
		delete(held, target)
	}
	for _, p := range held {
		out.Pauses = append(out.Pauses, p)
	}
	slices.SortFunc(out.Pauses, func(a, b hub.Pause) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), bytes.Compare(core.PauseKey(a.Target()), core.PauseKey(b.Target())))
	})
	return errors.Join(err, bad)
}
