package core_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestTaskProperties plays random commands and then looks at all rows ever
// given: a task that was not ended by a command is done if and only if it has
// children and all of them are done; ready says what blocked_by says; nothing
// waits in a circle; the state is what has not ended; a run says what its tasks
// say, and a task is in one run at most; the assignee of a task is the agent
// that was asked, that an update named, that began to work on it or that
// accepted an offer; no task is begun or completed by a command while it is
// blocked, unless an agent forces it. The rig
// itself checks that replayed facts and restored checkpoints give the live
// state, and that answers are the stored rows.
func TestTaskProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newTaskRig(rt)
		ended := map[hub.TaskID]bool{} // by a command
		assignee := map[hub.TaskID]hub.AgentID{}
		anyTask := func(rt *rapid.T) hub.TaskID {
			return hub.TaskID(rapid.Int64Range(0, int64(r.head.Message)+1).Draw(rt, "task"))
		}
		forced := map[hub.TaskID]bool{} // begun although they were blocked
		note := func(id hub.TaskID, was *core.StoredTask, by hub.AgentID, force bool, err error) {
			r.checkBlocked(rt, id, was, by, force || forced[id], err)
			if now := r.rows[id].Task.Status; err == nil && was != nil && r.blocked(was) && force && (now == hub.TaskWorking || now == hub.TaskDone) {
				forced[id] = true
			}
			if err == nil && was != nil && !was.Task.Status.Terminal() && r.rows[id].Task.Status.Terminal() {
				ended[id] = true
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"post task": func(rt *rapid.T) {
				m := core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x", Parent: anyTask(rt)}
				if rapid.Bool().Draw(rt, "direct") {
					m.To, m.Kind = "dev", hub.KindTaskRequest
				}
				run := r.drawRun(rt)
				a, err := r.postInRun(m, run)
				if (err == nil) != ((m.Parent == 0 || r.isOpen(m.Parent)) && (run == "" || r.runs[run].AsOf > 0)) {
					rt.Fatalf("a child of %d in run %q: %v", m.Parent, run, err)
				}
				if err == nil {
					assignee[a.Task.TaskID] = m.To
					if run != "" && *a.Task.RunID != run {
						rt.Fatalf("task %+v is not in run %s", a.Task, run)
					}
				}
			},
			"start run": func(rt *rapid.T) {
				_, _ = r.startRun("lead", hub.RunInput{Title: "x", TaskIDs: []hub.TaskID{anyTask(rt), anyTask(rt)}[:rapid.IntRange(0, 2).Draw(rt, "tasks")]})
			},
			"plan":     func(rt *rapid.T) { r.plan(drawPlan(rt)) },
			"join run": func(rt *rapid.T) { _, _ = r.joinRun("lead", r.drawRun(rt), anyTask(rt)) },
			"hand off": func(rt *rapid.T) { _, _ = r.handoff(anyTask(rt), drawAgent(rt), drawAgent(rt), "") },
			"accept": func(rt *rapid.T) {
				id, agent := anyTask(rt), drawAgent(rt)
				was := r.stored(id)
				row, err := r.accept(id, agent, "")
				offered := was != nil && was.Task.OfferedTo != nil && *was.Task.OfferedTo == agent
				if (err == nil) != offered {
					rt.Fatalf("%s accepts %+v: %+v, %v", agent, was, row, err)
				}
				if err == nil {
					assignee[id] = agent
				}
			},
			"decline": func(rt *rapid.T) { _, _ = r.decline(anyTask(rt), drawAgent(rt), "") },
			"set assignee": func(rt *rapid.T) {
				id, agent := anyTask(rt), drawAgent(rt)
				if _, err := r.update(id, "lead", hub.TaskUpdateInput{Assignee: &agent}); err == nil {
					assignee[id] = agent
				}
			},
			"post result": func(rt *rapid.T) {
				id := anyTask(rt)
				was := r.stored(id)
				force := rapid.Bool().Draw(rt, "force")
				_, err := r.postTask(core.PostTaskCommand{
					Message: core.MessageDraft{From: "dev", Kind: hub.KindTaskResult, Body: "x", ReplyTo: id}, Force: force,
				})
				note(id, was, "dev", force, err)
			},
			"complete": func(rt *rapid.T) {
				id := anyTask(rt)
				was := r.stored(id)
				_, err := r.complete(id, "lead", rapid.SampledFrom([]string{"", "note"}).Draw(rt, "note"))
				note(id, was, "lead", false, err)
			},
			"set status": func(rt *rapid.T) {
				id := anyTask(rt)
				was := r.stored(id)
				status, force := rapid.SampledFrom(hub.TaskStatuses()).Draw(rt, "status"), rapid.Bool().Draw(rt, "force")
				_, err := r.update(id, "lead", hub.TaskUpdateInput{Status: &status, Force: force})
				note(id, was, "lead", force, err)
				if err == nil && status == hub.TaskWorking && assignee[id] == "" {
					assignee[id] = "lead"
				}
			},
			"set blocked_by": func(rt *rapid.T) {
				ids := rapid.SliceOfN(rapid.Int64Range(1, int64(r.head.Message)+1), 0, 3).Draw(rt, "ids")
				blockedBy := make([]hub.TaskID, len(ids))
				for i, id := range ids {
					blockedBy[i] = hub.TaskID(id)
				}
				id := anyTask(rt)
				was := r.stored(id)
				lost := was != nil && r.lost(was)
				row, err := r.blockedBy(id, blockedBy...)
				if err == nil && was.Task.Version < row.Version-1 {
					rt.Fatalf("version %d follows %d", row.Version, was.Task.Version)
				}
				changed := err == nil && !slices.Equal(was.Task.BlockedBy, row.BlockedBy)
				if changed || err == nil && lost {
					delete(forced, id)
					delete(r.forgiven, id)
				}
				if err == nil && lost { // its creator has decided
					r.forgiven[id] = slices.DeleteFunc(slices.Clone(row.BlockedBy), func(id hub.TaskID) bool { return !r.failed(id) })
				}
			},
			"post waiting task": func(rt *rapid.T) {
				c := core.PostTaskCommand{Message: core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x"}, BlockedBy: []hub.TaskID{anyTask(rt), anyTask(rt)}}
				if a, err := r.postTask(c); err == nil && !slices.Equal(a.Task.BlockedBy, slices.Compact(c.BlockedBy)) {
					rt.Fatalf("%+v waits for %v", a.Task, c.BlockedBy)
				}
			},
			"wait": func(rt *rapid.T) { // ids drawn at random seldom wait for each other
				a, b := r.open(core.MessageDraft{Body: "a"}), r.open(core.MessageDraft{Body: "b"})
				_, err := r.postTask(core.PostTaskCommand{Message: core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "c"}, BlockedBy: []hub.TaskID{a, b}})
				require.NoError(rt, err)
				for _, id := range []hub.TaskID{a, b}[:rapid.IntRange(0, 2).Draw(rt, "done")] {
					was := r.stored(id)
					_, err := r.complete(id, "lead", "")
					note(id, was, "lead", false, err)
				}
			},
			"restart": func(*rapid.T) { r.restart() },
			"": func(rt *rapid.T) {
				r.checkTasks(rt, ended)
				r.checkRuns(rt)
				r.checkOffers(rt, assignee)
			},
		})
	})
}

// blocked reports whether a task that the task waits for has not ended.
func (r *taskRig) blocked(t *core.StoredTask) bool {
	return !t.Task.Status.Terminal() && slices.ContainsFunc(t.Task.BlockedBy, r.isOpen)
}

// undecided reports whether a task has not begun since one that it waited for failed or was cancelled,
// and the agent may not say that it goes on.
func (r *taskRig) undecided(t *core.StoredTask, by hub.AgentID) bool {
	return by != t.Task.CreatedBy && r.lost(t)
}

func (r *taskRig) lost(t *core.StoredTask) bool {
	return t.Task.Status == hub.TaskOpen && r.behindFailed(t)
}

// behindFailed reports whether a task waited for one that has failed or was cancelled, and nobody
// has said that it goes on.
func (r *taskRig) behindFailed(t *core.StoredTask) bool {
	return !t.GoesOn && slices.ContainsFunc(t.Task.BlockedBy, func(id hub.TaskID) bool {
		return r.failed(id) && !slices.Contains(r.forgiven[t.Task.TaskID], id)
	})
}

func (r *taskRig) failed(id hub.TaskID) bool {
	row, ok := r.rows[id]
	return ok && row.Task.Status.Terminal() && row.Task.Status != hub.TaskDone
}

func begins(is, was hub.TaskStatus) bool {
	return is != was && (is == hub.TaskWorking || is == hub.TaskDone)
}

// checkBlocked checks a command of an agent about a task that was in the given
// state: it begins or completes a blocked task only with force,
// and no other command is refused as blocked. What another agent decides about, not
// even force begins.
func (r *taskRig) checkBlocked(rt *rapid.T, id hub.TaskID, was *core.StoredTask, by hub.AgentID, force bool, err error) {
	refused := errors.Is(err, &hub.Error{Code: hub.CodeBlocked})
	held := was != nil && r.blocked(was) && !force
	if undecided := errors.Is(err, &hub.Error{Code: hub.CodeUndecided}); undecided && !r.undecided(was, by) || !undecided && !refused && err == nil && was != nil && r.undecided(was, by) && begins(r.rows[id].Task.Status, was.Task.Status) {
		rt.Fatalf("task %+v, undecided for %s: %v", was, by, err)
	}
	if refused && !held {
		rt.Fatalf("task %+v was refused: %v", was, err)
	}
	if status := r.rows[id].Task.Status; held && err == nil && begins(status, was.Task.Status) {
		rt.Fatalf("task %+v became %s while it was blocked", was, status)
	}
}

// isOpen reports whether id is a task that has not ended.
func (r *taskRig) isOpen(id hub.TaskID) bool {
	row, ok := r.rows[id]
	return ok && !row.Task.Status.Terminal()
}

func (r *taskRig) checkTasks(rt *rapid.T, ended map[hub.TaskID]bool) {
	children := map[hub.TaskID][]hub.TaskStatus{}
	live := 0
	for _, row := range r.rows {
		if p := row.Task.ParentTaskID; p != nil {
			children[*p] = append(children[*p], row.Task.Status)
		}
		if !row.Task.Status.Terminal() {
			live++
		}
	}
	for id, row := range r.rows {
		task := row.Task
		of := children[id]
		allDone := len(of) > 0 && !slices.ContainsFunc(of, func(s hub.TaskStatus) bool { return s != hub.TaskDone })
		if !ended[id] && (task.Status == hub.TaskDone) != allDone {
			rt.Fatalf("task %d is %s, its children are %v", id, task.Status, of)
		}
		if !ended[id] && task.Status.Terminal() && task.Status != hub.TaskDone {
			rt.Fatalf("task %d became %s by itself", id, task.Status)
		}
		waits := slices.ContainsFunc(task.BlockedBy, r.isOpen) || r.lost(&row)
		if task.Ready != (!task.Status.Terminal() && !waits) {
			rt.Fatalf("task %d: %+v", id, task)
		}
		if task.Status.Terminal() != (task.CompletedAt != nil) {
			rt.Fatalf("task %d: %+v", id, task)
		}
		if r.waitsFor(id, id, map[hub.TaskID]bool{}) {
			rt.Fatalf("task %d waits for itself", id)
		}
		if got, isLive := r.live.Get(id); isLive == task.Status.Terminal() || isLive && taskLine(got.Task) != taskLine(task) {
			rt.Fatalf("task %d: row %+v, state %+v", id, task, got.Task)
		}
	}
	if r.live.Len() != live || len(r.live.List()) != live {
		rt.Fatalf("%d tasks are in the state, %d have not ended", r.live.Len(), live)
	}
	if r.lastRows > hub.MaxRecordRows {
		rt.Fatalf("a record of %d rows", r.lastRows)
	}
}

// waitsFor reports whether target is reached from id over tasks that have not
// ended.
func (r *taskRig) waitsFor(id, target hub.TaskID, seen map[hub.TaskID]bool) bool {
	if seen[id] || !r.isOpen(id) {
		return false
	}
	seen[id] = true
	for _, next := range r.rows[id].Task.BlockedBy {
		if next == target && r.isOpen(next) || r.waitsFor(next, target, seen) {
			return true
		}
	}
	for next, row := range r.rows { // a parent waits for its children
		if p := row.Task.ParentTaskID; p != nil && *p == id && (next == target && r.isOpen(next) || r.waitsFor(next, target, seen)) {
			return true
		}
	}
	return false
}
