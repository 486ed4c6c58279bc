package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// taskRig acts as the owner and the sequencer of a task state. A replica gets
// the facts that the journal gives back. Like the store, the rig keeps every
// row.
type taskRig struct {
	t             failer
	live, replica *core.Tasks
	now           core.Now
	head          core.Head
	rows          map[hub.TaskID]core.StoredTask
	forgiven      map[hub.TaskID][]hub.TaskID // the failed tasks after which the creator of each has said that it goes on
	runs          map[hub.RunID]core.StoredRun
	runTasks      map[hub.RunID][]core.RunTask
	index         []string // keys of the index rows
	lastRows      int      // rows and messages of the last record
	log           strings.Builder
}

func newTaskRig(t failer) *taskRig {
	return &taskRig{
		t: t, live: core.NewTasks(), replica: core.NewTasks(), rows: map[hub.TaskID]core.StoredTask{}, forgiven: map[hub.TaskID][]hub.TaskID{},
		runs: map[hub.RunID]core.StoredRun{}, runTasks: map[hub.RunID][]core.RunTask{},
		now: core.Now{HubMS: 1000, Wall: hub.TimeOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))},
	}
}

// Ended implements core.TaskWorld from the stored rows.
func (r *taskRig) Ended(by core.TaskActor, id hub.TaskID) (core.StoredTask, bool) {
	row, ok := r.rows[id]
	return row, ok && (by.Authority == hub.AuthorityOperator || core.TaskVisible(by.Agent, &row))
}

func (r *taskRig) commit(d core.Draft) core.Position {
	r.t.Helper()
	if d.Empty() {
		return core.Position{}
	}
	r.now.HubMS += 1000
	r.now.Wall += 1000
	r.head.Seq++
	at := core.Position{Seq: r.head.Seq, Now: r.now, FirstMessage: r.head.Message + 1, FirstFence: 1}
	r.head.Message += hub.MessageID(len(d.Messages))
	changed, ready := map[hub.TaskID]bool{}, map[hub.TaskID]bool{}
	for id, row := range r.rows {
		ready[id] = row.Task.Ready
	}
	for _, f := range d.Facts {
		r.live.Apply(f, at, func(row core.Row) {
			if r.keepRun(row) {
				return
			}
			if row.Table != core.TableTask {
				r.index = append(r.index, fmt.Sprintf("%d %q", row.Table, row.Key))
				return
			}
			stored, err := decoded[core.StoredTask](row.Value)
			if err != nil || !bytes.Equal(row.Key, core.IDKey(stored.Task.TaskID)) {
				r.t.Fatalf("row %q: %+v, %v", row.Key, stored, err)
			}
			r.rows[stored.Task.TaskID] = stored
			changed[stored.Task.TaskID] = true
		})
		r.replica.Apply(throughJournal(r.t, f), at, nil)
	}
	r.lastRows = len(changed) + len(d.Messages)
	r.checkAnnounced(d, ready)
	// Large states are compared only now and then, because a comparison reads
	// the whole state.
	if r.live.Len() < 100 || r.head.Seq%64 == 0 {
		if live, replayed := r.live.Snapshot(), r.replica.Snapshot(); !bytes.Equal(live, replayed) {
			r.t.Fatalf("live and replayed state differ:\n%s\n%s", live, replayed)
		}
	}
	r.log.WriteString(show(d, at))
	return at
}

// restart restores the state from a checkpoint. The state from before becomes
// the replica, so that later steps compare the two.
func (r *taskRig) restart() {
	r.t.Helper()
	restored, err := core.RestoreTasks(core.TasksVersion, r.live.Snapshot())
	if err != nil {
		r.t.Fatalf("restore: %v", err)
	}
	if was, is := r.live.Snapshot(), restored.Snapshot(); !bytes.Equal(was, is) {
		r.t.Fatalf("restored state differs:\n%s\n%s", was, is)
	}
	r.replica, r.live = r.live, restored
}

func (r *taskRig) post(m core.MessageDraft) (core.TaskPosted, error) {
	r.t.Helper()
	if m.Channel == "" {
		m.Channel = hub.DefaultChannel
	}
	if m.Authority == "" {
		m.Authority = hub.AuthorityAgent
	}
	return r.postInRun(m, "")
}

func (r *taskRig) postInRun(m core.MessageDraft, run hub.RunID) (core.TaskPosted, error) {
	r.t.Helper()
	return r.postTask(core.PostTaskCommand{Message: m, Run: run})
}

func (r *taskRig) postTask(c core.PostTaskCommand) (core.TaskPosted, error) {
	r.t.Helper()
	d, err := r.live.Post(c, r.now, r)
	if c.Ended = r.ended(err); c.Ended != nil {
		d, err = r.live.Post(c, r.now, r)
	}
	if err != nil {
		return core.TaskPosted{}, err
	}
	a := d.Answer(r.commit(d.Draft))
	if a.Task != nil {
		r.sameAsStored(*a.Task)
	}
	return a, nil
}

// open posts a task that must be accepted.
func (r *taskRig) open(m core.MessageDraft) hub.TaskID {
	r.t.Helper()
	if m.Kind == "" {
		m.Kind = hub.KindTask
	}
	if m.From == "" {
		m.From = "lead"
	}
	a, err := r.post(m)
	if err != nil || a.Task == nil || a.Task.TaskID != a.Message {
		r.t.Fatalf("opening a task: %+v, %v", a, err)
	}
	return a.Message
}

func by(agent hub.AgentID) core.TaskActor {
	return core.TaskActor{Agent: agent, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession}
}

func (r *taskRig) complete(id hub.TaskID, agent hub.AgentID, note string) (hub.Task, error) {
	r.t.Helper()
	return r.completeWith(id, core.CompleteCommand{By: by(agent), Note: note})
}

func (r *taskRig) completeWith(id hub.TaskID, c core.CompleteCommand) (hub.Task, error) {
	r.t.Helper()
	agent := c.By.Agent
	d, err := r.live.Complete(id, c, r.now)
	if errors.Is(err, core.ErrNotLive) {
		return core.AnswerEndedCompletion(id, r.stored(id), by(agent))
	}
	return r.taskAnswer(d, err)
}

func (r *taskRig) update(id hub.TaskID, agent hub.AgentID, in hub.TaskUpdateInput) (hub.Task, error) {
	r.t.Helper()
	d, err := r.live.Update(id, core.UpdateCommand{By: by(agent), In: in}, r.now, r)
	if errors.Is(err, core.ErrNotLive) {
		return hub.Task{}, core.RefuseEndedUpdate(id, r.stored(id), by(agent))
	}
	return r.taskAnswer(d, err)
}

func (r *taskRig) setStatus(id hub.TaskID, s hub.TaskStatus) (hub.Task, error) {
	r.t.Helper()
	return r.update(id, "lead", hub.TaskUpdateInput{Status: &s})
}

func (r *taskRig) blockedBy(id hub.TaskID, ids ...hub.TaskID) (hub.Task, error) {
	r.t.Helper()
	return r.update(id, "lead", hub.TaskUpdateInput{BlockedBy: &ids})
}

func (r *taskRig) taskAnswer(d core.Decision[hub.Task], err error) (hub.Task, error) {
	r.t.Helper()
	if err != nil {
		return hub.Task{}, err
	}
	row := d.Answer(r.commit(d.Draft))
	r.sameAsStored(row)
	return row, nil
}

// sameAsStored checks that an answer is the row that Apply gave.
func (r *taskRig) sameAsStored(row hub.Task) {
	r.t.Helper()
	answered, err := json.Marshal(row)
	require.NoError(r.t, err)
	stored, err := json.Marshal(r.rows[row.TaskID].Task)
	if err != nil || !bytes.Equal(answered, stored) {
		r.t.Fatalf("the answer is not the stored row:\n%s\n%s", answered, stored)
	}
}

func (r *taskRig) stored(id hub.TaskID) *core.StoredTask {
	if row, ok := r.rows[id]; ok {
		return &row
	}
	return nil
}

// TestTaskTranscripts plays testdata/tasks_*.txt. Commands:
//
//	post AGENT KIND "BODY" [to=A] [in=CHANNEL] [thread=T] [parent=ID] [reply=ID] [metadata=JSON] [run=R] [blocked=ID,ID] [force=yes]
//	complete ID [by=AGENT] [note="…"] [release=yes]
//	update ID by=AGENT [status=S] [assignee=A] [blocked=ID,ID] [version=N] [force=yes]
//	handoff ID by=AGENT to=AGENT [note="…"]
//	accept|decline ID by=AGENT [note="…"]
//	run "TITLE" by=AGENT [room=R] [tasks=ID,ID]
//	join R by=AGENT tasks=ID,ID
//	tasks
//	runs
func TestTaskTranscripts(t *testing.T) {
	runTranscripts(t, "tasks_*.txt", func(t *testing.T) func([]string) string {
		r := newTaskRig(t)
		return func(args []string) string {
			out := r.play(args)
			log := r.log.String()
			r.log.Reset()
			return log + out
		}
	})
}

func (r *taskRig) play(args []string) string {
	switch args[0] {
	case "post":
		m := core.MessageDraft{
			From: hub.AgentID(args[1]), Kind: hub.Kind(args[2]), Body: args[3], To: hub.AgentID(named(args, "to")),
			Channel: hub.ChannelName(named(args, "in")), Thread: hub.ThreadID(named(args, "thread")),
			Parent: hub.TaskID(number(named(args, "parent"))), ReplyTo: hub.MessageID(number(named(args, "reply"))),
			Metadata: json.RawMessage(named(args, "metadata")),
		}
		if m.To != "" {
			m.Channel = hub.DirectChannel
		}
		a, err := r.postTask(core.PostTaskCommand{
			Message: m, Run: hub.RunID(named(args, "run")), BlockedBy: idsOf(named(args, "blocked")), Force: named(args, "force") != "",
		})
		if err != nil {
			return showError(err)
		}
		if a.Task == nil {
			return "  posted\n"
		}
		return "  " + taskLine(*a.Task)
	case "complete":
		row, err := r.completeWith(hub.TaskID(number(args[1])), core.CompleteCommand{
			By: by(hub.AgentID(named(args, "by"))), Note: named(args, "note"), Release: named(args, "release") != "",
		})
		if err != nil {
			return showError(err)
		}
		return "  " + taskLine(row)
	case "update":
		row, err := r.update(hub.TaskID(number(args[1])), hub.AgentID(named(args, "by")), updateOf(args))
		if err != nil {
			return showError(err)
		}
		return "  " + taskLine(row)
	case "tasks":
		var out strings.Builder
		for id := range r.head.Message + 1 {
			if row, ok := r.rows[id]; ok {
				out.WriteString("  " + taskLine(row.Task))
			}
		}
		return out.String()
	}
	return r.playRun(args)
}

func updateOf(args []string) hub.TaskUpdateInput {
	in := hub.TaskUpdateInput{ExpectedVersion: number(named(args, "version")), Force: named(args, "force") != ""}
	for _, a := range args {
		name, v, _ := strings.Cut(a, "=")
		switch name {
		case "status":
			s := hub.TaskStatus(v)
			in.Status = &s
		case "assignee":
			agent := hub.AgentID(v)
			in.Assignee = &agent
		case "blocked":
			ids := []hub.TaskID{}
			ids = append(ids, idsOf(v)...)
			in.BlockedBy = &ids
		}
	}
	return in
}

// taskLine returns a short form of a task's row.
func taskLine(row hub.Task) string {
	var out strings.Builder
	fmt.Fprintf(&out, "task %d %q %s v%d", row.TaskID, row.Title, row.Status, row.Version)
	if row.ParentTaskID != nil {
		fmt.Fprintf(&out, " of %d", *row.ParentTaskID)
	}
	if row.Assignee != nil {
		fmt.Fprintf(&out, " for %s", *row.Assignee)
	}
	if row.OfferedTo != nil {
		fmt.Fprintf(&out, " offered to %s", *row.OfferedTo)
	}
	if row.RunID != nil {
		fmt.Fprintf(&out, " in %s", *row.RunID)
	}
	if len(row.BlockedBy) > 0 {
		fmt.Fprintf(&out, " waits for %v", row.BlockedBy)
	}
	if row.Ready {
		out.WriteString(" ready")
	}
	if row.ResultMessageID != nil {
		fmt.Fprintf(&out, " result %d", *row.ResultMessageID)
	}
	return out.String() + "\n"
}

// decoded reads the value of a row.
func decoded[T any](value []byte) (row T, err error) {
	err = json.Unmarshal(value, &row)
	return row, err
}
