package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// keepRun keeps the rows of runs as the store does; false for other rows.
func (r *taskRig) keepRun(row core.Row) bool {
	switch row.Table { //nolint:exhaustive // others are no rows of runs
	case core.TableRun:
		run, err := decoded[core.StoredRun](row.Value)
		seq, ok := core.SeqOf(core.PrefixRun, string(run.Run.RunID))
		if err != nil || !ok || !bytes.Equal(row.Key, core.SeqKey(seq)) {
			r.t.Fatalf("row %q: %+v, %v", row.Key, run, err)
		}
		r.runs[run.Run.RunID] = run
		return true
	case core.TableTaskByRun:
		run, _, _ := strings.Cut(string(row.Key), "\x00")
		entry, err := core.DecodeRunTask(row.Key, row.Value)
		if err != nil {
			r.t.Fatalf("row %q: %v", row.Key, err)
		}
		r.runTasks[hub.RunID(run)] = append(r.runTasks[hub.RunID(run)], entry)
		return true
	}
	return false
}

// ended returns what the store says of a run that is not live, or nil for other
// errors.
func (r *taskRig) ended(err error) *core.EndedRun {
	var gone *core.RunNotLive
	if !errors.As(err, &gone) {
		return nil
	}
	e := &core.EndedRun{Known: gone.Known}
	if row, ok := r.runs[gone.Run]; ok {
		e.Row = &row
	}
	return e
}

func (r *taskRig) startRun(agent hub.AgentID, in hub.RunInput) (hub.Run, error) {
	r.t.Helper()
	in.CreatedBy = agent
	c := core.StartRunCommand{By: by(agent), In: in, Standing: core.StandingProved}
	for i := range in.Tasks {
		c.Messages = append(c.Messages, core.MessageDraft{
			From: agent, Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: in.Tasks[i].Body(agent), Authority: hub.AuthorityAgent,
		})
	}
	return r.runAnswer(r.live.StartRun(c, r.now, r))
}

// plan makes a run with a plan of tasks that wait for each other, and checks
// what it opened.
func (r *taskRig) plan(tasks []hub.PlannedTask) {
	r.t.Helper()
	first := r.head.Message + 1
	after, order, bad := hub.PlanOrder(tasks)
	run, err := r.startRun("lead", hub.RunInput{Title: "x", Tasks: tasks})
	if bad != nil || err != nil {
		if bad == nil || err == nil || r.head.Message != first-1 {
			r.t.Fatalf("the plan %+v: %v, and with order %v: %v", tasks, err, order, bad)
		}
		return
	}
	for i := range tasks {
		task := r.rows[first+hub.MessageID(i)].Task
		var blockers []hub.TaskID
		for _, at := range after[i] {
			blockers = append(blockers, first+hub.MessageID(at))
		}
		if !slices.Equal(task.BlockedBy, blockers) || task.Ready != (len(blockers) == 0) || task.RunID == nil || *task.RunID != run.RunID || task.Title != tasks[i].Title {
			r.t.Fatalf("task %d of the plan %+v is %+v", i, tasks, task)
		}
	}
}

func (r *taskRig) joinRun(agent hub.AgentID, run hub.RunID, ids ...hub.TaskID) (hub.Run, error) {
	r.t.Helper()
	c := core.JoinRunCommand{By: by(agent), Run: run, Tasks: ids}
	d, err := r.live.JoinRun(c, r.now, r)
	if c.Ended = r.ended(err); c.Ended != nil {
		d, err = r.live.JoinRun(c, r.now, r)
	}
	return r.runAnswer(d, err)
}

// runAnswer checks that an answer is the row that Apply gave.
func (r *taskRig) runAnswer(d core.Decision[core.StoredRun], err error) (hub.Run, error) {
	r.t.Helper()
	if err != nil {
		return hub.Run{}, err
	}
	row := d.Answer(r.commit(d.Draft))
	answered, err := json.Marshal(row)
	require.NoError(r.t, err)
	stored, err := json.Marshal(r.runs[row.Run.RunID])
	if err != nil || !bytes.Equal(answered, stored) {
		r.t.Fatalf("the answer is not the stored row:\n%s\n%s", answered, stored)
	}
	return row.Run, nil
}

func (r *taskRig) handoff(id hub.TaskID, agent, to hub.AgentID, note string) (hub.Task, error) {
	r.t.Helper()
	d, err := r.live.Handoff(id, core.HandoffCommand{By: by(agent), In: hub.HandoffInput{ToAgent: to, Note: note}}, r.now)
	return r.offerAnswer(id, agent, d, err)
}

func (r *taskRig) accept(id hub.TaskID, agent hub.AgentID, note string) (hub.Task, error) {
	r.t.Helper()
	d, err := r.live.Accept(id, core.OfferCommand{By: by(agent), Note: note}, r.now)
	return r.offerAnswer(id, agent, d, err)
}

func (r *taskRig) decline(id hub.TaskID, agent hub.AgentID, note string) (hub.Task, error) {
	r.t.Helper()
	d, err := r.live.Decline(id, core.OfferCommand{By: by(agent), Note: note}, r.now)
	return r.offerAnswer(id, agent, d, err)
}

func (r *taskRig) offerAnswer(id hub.TaskID, agent hub.AgentID, d core.Decision[hub.Task], err error) (hub.Task, error) {
	r.t.Helper()
	if errors.Is(err, core.ErrNotLive) {
		return hub.Task{}, core.RefuseEndedUpdate(id, r.stored(id), by(agent))
	}
	return r.taskAnswer(d, err)
}

// playRun plays the commands about runs and hand-offs.
func (r *taskRig) playRun(args []string) string {
	agent, ids := hub.AgentID(named(args, "by")), idsOf(named(args, "tasks"))
	var task hub.Task
	var run hub.Run
	var err error
	switch args[0] {
	case "handoff":
		task, err = r.handoff(hub.TaskID(number(args[1])), agent, hub.AgentID(named(args, "to")), named(args, "note"))
	case "accept":
		task, err = r.accept(hub.TaskID(number(args[1])), agent, named(args, "note"))
	case "decline":
		task, err = r.decline(hub.TaskID(number(args[1])), agent, named(args, "note"))
	case "run":
		run, err = r.startRun(agent, hub.RunInput{Title: args[1], RoomID: hub.RoomID(named(args, "room")), TaskIDs: ids})
	case "join":
		run, err = r.joinRun(agent, hub.RunID(args[1]), ids...)
	case "runs":
		var out strings.Builder
		for seq := range r.head.Seq + 1 {
			if row, ok := r.runs[hub.RunID(core.IDAt(core.PrefixRun, seq))]; ok {
				out.WriteString("  " + r.runLine(row.Run))
			}
		}
		return out.String()
	default:
		return "no such command\n"
	}
	switch {
	case err != nil:
		return showError(err)
	case run.RunID != "":
		return "  " + r.runLine(run)
	}
	return "  " + taskLine(task)
}

// runLine is a run's row in short, with its tasks.
func (r *taskRig) runLine(row hub.Run) string {
	var out strings.Builder
	fmt.Fprintf(&out, "run %s %q %s", row.RunID, row.Title, row.Status)
	var ids []hub.TaskID
	for _, entry := range r.runTasks[row.RunID] {
		ids = append(ids, entry.Task)
	}
	slices.Sort(ids)
	fmt.Fprintf(&out, " tasks %v", ids)
	c := row.Counts
	fmt.Fprintf(&out, " of %d: %d open, %d working, %d input required, %d done, %d failed, %d cancelled",
		c.Total, c.Open, c.Working, c.InputRequired, c.Done, c.Failed, c.Cancelled)
	if row.EndedAt != nil {
		fmt.Fprintf(&out, ", ended %d ms after its start", int64(*row.EndedAt-row.StartedAt))
	}
	return out.String() + "\n"
}

func idsOf(list string) []hub.TaskID {
	var ids []hub.TaskID
	for _, id := range strings.Split(list, ",") {
		if id != "" {
			ids = append(ids, hub.TaskID(number(id)))
		}
	}
	return ids
}
