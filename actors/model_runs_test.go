package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hubcli/hub"
)

type modelTask struct {
	status   hub.TaskStatus
	assignee hub.AgentID
	version  int64
	after    hub.TaskID // for which it waits; 0: none
	by       hub.AgentID
	run      hub.RunID
}

// modelRun is what is shown of a run. The model does not keep it: it is the sum of the tasks.
type modelRun struct {
	status hub.RunStatus
	counts hub.RunCounts
	tasks  string
}

// move changes the status of a task as an agent.
func (m *simpleHub) move(id hub.TaskID, a hub.AgentID, to hub.TaskStatus) (want modelTask, code hub.Code) {
	t := m.tasks[id]
	before := t
	switch {
	case t.status.Terminal():
		return t, hub.CodeTaskClosed
	case t.status == to:
	case to == hub.TaskInputRequired && t.status != hub.TaskWorking:
		return t, hub.CodeInvalid
	case (to == hub.TaskWorking || to == hub.TaskDone) && t.after != 0 && !m.tasks[t.after].status.Terminal():
		return t, hub.CodeBlocked
	case (to == hub.TaskWorking || to == hub.TaskDone) && t.status == hub.TaskOpen && t.after != 0 && m.tasks[t.after].status != hub.TaskDone && a != t.by:
		return t, hub.CodeUndecided // its creator decides whether it goes on
	default:
		t.status = to
	}
	if to == hub.TaskWorking && t.assignee == "" {
		t.assignee = a
	}
	if t != before {
		t.version++
	}
	m.tasks[id] = t
	return t, ""
}

// join puts a task into a run. A run that has ended goes on with it.
func (m *simpleHub) join(run hub.RunID, id hub.TaskID) hub.Code {
	t := m.tasks[id]
	switch {
	case t.status.Terminal():
		return hub.CodeTaskClosed
	case t.run == run:
		return ""
	case t.run != "":
		return hub.CodeInvalid
	}
	t.run = run
	t.version++
	m.tasks[id] = t
	return ""
}

// run returns a run as it is shown.
func (m *simpleHub) run(id hub.RunID) modelRun {
	r, all := modelRun{status: hub.RunComplete}, []hub.TaskID{}
	n := map[hub.TaskStatus]int{}
	for _, task := range slices.Sorted(maps.Keys(m.tasks)) {
		if t := m.tasks[task]; t.run == id {
			all = append(all, task)
			n[t.status]++
		}
	}
	r.counts = hub.RunCounts{
		Total: len(all), Open: n[hub.TaskOpen], Working: n[hub.TaskWorking], InputRequired: n[hub.TaskInputRequired],
		Done: n[hub.TaskDone], Failed: n[hub.TaskFailed], Cancelled: n[hub.TaskCancelled],
	}
	switch c := r.counts; {
	case c.Total == 0 || c.Open+c.Working+c.InputRequired > 0:
		r.status = hub.RunRunning
	case c.Failed > 0:
		r.status = hub.RunFailed
	case c.Cancelled > 0:
		r.status = hub.RunCancelled
	}
	r.tasks = fmt.Sprint(all)
	return r
}

func (m *simpleHub) allRuns() (all, active map[hub.RunID]modelRun) {
	all, active = map[hub.RunID]modelRun{}, map[hub.RunID]modelRun{}
	for _, id := range m.runs {
		all[id] = m.run(id)
		if !all[id].status.Terminal() {
			active[id] = all[id]
		}
	}
	return all, active
}

func simpleTask(t *hub.Task) modelTask {
	m := modelTask{status: t.Status, version: t.Version, by: t.CreatedBy}
	if t.Assignee != nil {
		m.assignee = *t.Assignee
	}
	if len(t.BlockedBy) > 0 {
		m.after = t.BlockedBy[0]
	}
	if t.RunID != nil {
		m.run = *t.RunID
	}
	return m
}

func simpleRun(r *hub.Run) modelRun { return modelRun{r.Status, r.Counts, fmt.Sprint(r.TaskIDs)} }

// latest returns one of these things, counted from the latest.
func latest[T any](of []T, which int) (one T, ok bool) {
	if len(of) == 0 {
		return one, false
	}
	return of[len(of)-1-which%len(of)], true
}

func (p *player) pickTask(c call) (hub.TaskID, bool) {
	return latest(slices.Sorted(maps.Keys(p.m.tasks)), c.Which)
}

var modelMoves = map[string]hub.TaskStatus{
	"work": hub.TaskWorking, "ask": hub.TaskInputRequired, "finish": hub.TaskDone, "cancel": hub.TaskCancelled, "fail": hub.TaskFailed,
}

// task changes the status of a task.
func (p *player) task(ctx context.Context, c call) judge {
	id, ok := p.pickTask(c)
	if !ok {
		return nil
	}
	to := modelMoves[c.Kind]
	got, err := p.r.UpdateTask(ctx, id, hub.TaskUpdateInput{AgentID: c.Agent, Status: &to})
	return func(m *simpleHub) error {
		want, code := m.move(id, c.Agent, to)
		if err := answered(err, code); err != nil || code != "" {
			return err
		}
		if is := simpleTask(&got.Row); is != want {
			return fmt.Errorf("task %d is %+v, want %+v", id, is, want)
		}
		return nil
	}
}

// open opens a task, by itself or in a run.
func (p *player) open(ctx context.Context, c call) judge {
	in := hub.PostInput{FromAgent: c.Agent, Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: fmt.Sprint(c.N)}
	var run hub.RunID
	if c.Kind == "start" {
		var ok bool
		if run, ok = latest(p.m.runs, c.Which); !ok {
			return nil
		}
		in.Metadata = json.RawMessage(`{"run_id":"` + string(run) + `"}`)
	}
	row, err := p.r.tryPost(ctx, in)
	return func(m *simpleHub) error {
		if err := answered(err, ""); err != nil {
			return err
		}
		m.tasks[row.ID] = modelTask{status: hub.TaskOpen, version: 1, run: run, by: c.Agent}
		return nil
	}
}

// begin makes a run: in a room or in none, with a task that is there, or with a plan of two
// tasks, one of which waits for the other.
func (p *player) begin(ctx context.Context, c call) judge {
	in := hub.RunInput{Title: fmt.Sprint(c.N), CreatedBy: c.Agent}
	if room, ok := latest(p.m.rooms, c.N/2); ok && c.N%2 == 1 {
		in.RoomID = room.id
	}
	task, ok := p.pickTask(c)
	switch {
	case c.Kind == "plan":
		in.Tasks = []hub.PlannedTask{{Title: "second", After: []string{"2"}}, {Title: "first"}}
	case ok:
		in.TaskIDs = []hub.TaskID{task}
	}
	out, err := p.r.CreateRun(ctx, in)
	return func(m *simpleHub) error { return m.begun(&in, &out.Row, err) }
}

func (m *simpleHub) begun(in *hub.RunInput, got *hub.Run, err error) error {
	code := hub.Code("")
	switch {
	case in.RoomID != "" && m.closed(in.RoomID.Channel()):
		code = hub.CodeArchived
	case len(in.TaskIDs) > 0:
		code = m.join(got.RunID, in.TaskIDs[0])
	}
	if err := answered(err, code); err != nil || code != "" {
		return err
	}
	if len(got.Planned) != len(in.Tasks) {
		return fmt.Errorf("the plan has made %v, want %d tasks", got.Planned, len(in.Tasks))
	}
	if len(in.Tasks) > 0 {
		second, first := got.Planned[0], got.Planned[1]
		m.tasks[first] = modelTask{status: hub.TaskOpen, version: 2, run: got.RunID, by: in.CreatedBy} // it is opened and joins
		m.tasks[second] = modelTask{status: hub.TaskOpen, version: 2, run: got.RunID, after: first, by: in.CreatedBy}
	}
	m.runs = append(m.runs, got.RunID)
	if in.RoomID != "" {
		m.runRooms[got.RunID] = in.RoomID
	}
	if want := m.run(got.RunID); simpleRun(got) != want {
		return fmt.Errorf("the run is %+v, want %+v", simpleRun(got), want)
	}
	return nil
}

// addTo adds a task to a run.
func (p *player) addTo(ctx context.Context, c call) judge {
	task, any := p.pickTask(c)
	run, ok := latest(p.m.runs, c.N)
	if !ok || !any {
		return nil
	}
	out, err := p.r.AddRunTasks(ctx, run, hub.RunTasksInput{AgentID: c.Agent, TaskIDs: []hub.TaskID{task}})
	return func(m *simpleHub) error {
		code := hub.Code("")
		if room := m.runRooms[run]; room != "" {
			code = m.shut(room) // its runs take no task
		}
		if code == "" {
			code = m.join(run, task)
		}
		if err := answered(err, code); err != nil || code != "" {
			return err
		}
		if got, want := simpleRun(&out.Row), m.run(run); got != want {
			return fmt.Errorf("the run is %+v, want %+v", got, want)
		}
		return nil
	}
}

func (p *player) lookAtRuns(ctx context.Context, s *seen) error {
	s.runs, s.active = map[hub.RunID]modelRun{}, map[hub.RunID]modelRun{}
	for _, active := range []bool{false, true} {
		for r, err := range hub.Walk(ctx, p.r.Runs, hub.RunsQuery{Viewer: "ann", Active: active, Limit: hub.MaxPageRows}) {
			if err != nil {
				return err
			}
			if active {
				s.active[r.RunID] = simpleRun(&r)
			} else {
				s.runs[r.RunID] = simpleRun(&r)
			}
		}
	}
	return nil
}
