package core_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func TestTaskRowOfAPost(t *testing.T) {
	r := newTaskRig(t)
	parent := r.open(core.MessageDraft{Body: "parent"})
	a, err := r.post(core.MessageDraft{
		From: "lead", To: "dev", Kind: hub.KindTaskRequest, Channel: hub.DirectChannel, Thread: "th", Room: "room-1",
		Parent: parent, Body: "\n  Fix it \r\nwith care",
	})
	require.NoError(t, err)
	got, err := json.Marshal(a.Task)
	require.NoError(t, err)
	const want = `{"task_id":2,"parent_task_id":1,"run_id":null,"room_id":"room-1","channel":"direct","thread_id":"th",` +
		`"title":"Fix it","status":"open","assignee":"dev","offered_to":null,"blocked_by":[],"ready":true,"version":1,` +
		`"created_by":"lead","created_at":"2030-01-01T00:00:02.000Z","updated_at":"2030-01-01T00:00:02.000Z",` +
		`"completed_at":null,"result_message_id":null}`
	if string(got) != want {
		t.Errorf("row\n%s, want\n%s", got, want)
	}
	if !r.rows[2].Direct || r.rows[1].Direct {
		t.Error("a task is direct when a direct message opened it")
	}
	wantIndex := []string{
		`4 "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02"`, `5 "th\x00\x00\x00\x00\x00\x00\x00\x00\x02"`,
		`29 "room-1\x00\x00\x00\x00\x00\x00\x00\x00\x02"`,
	}
	if !slices.Equal(r.index, wantIndex) {
		t.Errorf("index rows %q", r.index)
	}
}

func TestTaskTitle(t *testing.T) {
	for body, want := range map[string]string{
		"":                        "",
		"one":                     "one",
		"one\ntwo":                "one",
		"\n\n  one  \ntwo":        "one",
		strings.Repeat("é", 300):  strings.Repeat("é", 300),
		strings.Repeat("é", 301):  strings.Repeat("é", 300),
		"\"q\" <b> \u2028 & more": "\"q\" <b> \u2028 & more",
	} {
		r := newTaskRig(t)
		if got := r.rows[r.open(core.MessageDraft{Body: body})].Task.Title; got != want {
			t.Errorf("title of %q is %q", body, got)
		}
	}
}

func TestKindsThatOpenOrCompleteATask(t *testing.T) {
	for _, kind := range hub.Kinds() {
		r := newTaskRig(t)
		parent := r.open(core.MessageDraft{Body: "parent"})
		a, err := r.post(core.MessageDraft{From: "dev", Kind: kind, Body: "x", Parent: parent, ReplyTo: parent})
		opened := a.Task != nil && a.Task.TaskID == a.Message
		if err != nil || opened != kind.OpensTask() || a.Message != 2 {
			t.Errorf("%s: %+v, %v", kind, a, err)
		}
		if done := r.rows[parent].Task.Status == hub.TaskDone; done != (kind == hub.KindTaskResult) {
			t.Errorf("a reply of kind %s: the task is %s", kind, r.rows[parent].Task.Status)
		}
	}
}

func TestCompletingKeepsTheMessagesMetadata(t *testing.T) {
	for given, want := range map[string]string{
		"": `{"task_completed":1}`, "{}": `{"task_completed":1}`, `{"a":{"b":1}}`: `{"a":{"b":1},"task_completed":1}`,
	} {
		r := newTaskRig(t)
		r.open(core.MessageDraft{Body: "x"})
		metadata := json.RawMessage(given)
		d, err := r.live.Post(core.PostTaskCommand{Message: core.MessageDraft{
			From: "dev", Kind: hub.KindTaskResult, ReplyTo: 1, Metadata: metadata, Body: "done",
		}}, r.now, r)
		if err != nil || string(d.Messages[0].Metadata) != want || string(metadata) != given {
			t.Errorf("metadata %s becomes %s, given is now %s, %v", given, d.Messages[0].Metadata, metadata, err)
		}
	}
}

func TestTaskTreeIsLimitedInDepth(t *testing.T) {
	r := newTaskRig(t)
	var parent hub.TaskID
	for range hub.MaxTaskDepth {
		parent = r.open(core.MessageDraft{Body: "level", Parent: parent})
	}
	if _, err := r.post(core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x", Parent: parent}); !errors.Is(err, &hub.Error{Code: hub.CodeTaskTooDeep}) {
		t.Errorf("one level more: %v", err)
	}
	if _, err := r.post(core.MessageDraft{From: "lead", Kind: hub.KindChat, Body: "x", Parent: parent}); err != nil {
		t.Errorf("a plain message to the deepest task: %v", err)
	}
	// The deepest one ends them all in one record.
	seq := r.head.Seq
	if _, err := r.complete(parent, "lead", "all done"); err != nil || r.live.Len() != 0 || r.head.Seq != seq+1 {
		t.Errorf("%d tasks are left after %d records, %v", r.live.Len(), r.head.Seq-seq, err)
	}
	if r.lastRows != hub.MaxTaskDepth+hub.MaxTaskDepth { // one message per level
		t.Errorf("the record has %d rows", r.lastRows)
	}
}

func TestWakeNoticesAreSmallAndWhole(t *testing.T) {
	r := newTaskRig(t)
	r.head.Message = hub.MaxMessageID - 10 // the longest ids
	parent := r.open(core.MessageDraft{Body: strings.Repeat("\u0001", 400), Thread: "th", Room: "room-1", Channel: "c"})
	child := r.open(core.MessageDraft{Body: "x", Parent: parent})
	for _, status := range []hub.TaskStatus{hub.TaskDone, hub.TaskFailed, hub.TaskCancelled} {
		d, err := r.live.Update(child, core.UpdateCommand{By: by("dev"), In: hub.TaskUpdateInput{Status: &status}}, r.now, r)
		if err != nil || len(d.Messages) != 1 {
			t.Fatalf("%s: %d messages, %v", status, len(d.Messages), err)
		}
		n := d.Messages[0]
		var metadata struct {
			Wake json.RawMessage `json:"wake"`
		}
		if err := json.Unmarshal(n.Metadata, &metadata); err != nil || len(metadata.Wake) == 0 || len(metadata.Wake) > 512 {
			t.Errorf("%s: wake %s, %v", status, metadata.Wake, err)
		}
		if !n.Whole || n.From != hub.AgentSystem || n.Authority != hub.AuthoritySystem || n.Kind != hub.KindNotice ||
			n.Channel != "c" || n.Thread != "th" || n.Room != "room-1" || n.To != "" || n.ReplyTo != parent {
			t.Errorf("%s: notice %+v", status, n)
		}
	}
}

// A parent's end may let many tasks go on; it is refused where that is more than
// a record may hold, and possible again once some wait no longer.
func TestRecordRowsAreBounded(t *testing.T) {
	r := newTaskRig(t)
	top := r.open(core.MessageDraft{Body: "top"})
	middle := r.open(core.MessageDraft{Body: "middle", Parent: top})
	leaf := r.open(core.MessageDraft{Body: "leaf", Parent: middle})
	var last hub.TaskID
	for _, blocker := range []hub.TaskID{top, middle} {
		for range 500 {
			last = r.open(core.MessageDraft{Body: "waits"})
			if _, err := r.blockedBy(last, blocker); err != nil {
				t.Fatal(err)
			}
		}
		more := r.open(core.MessageDraft{Body: "one too many"})
		if _, err := r.blockedBy(more, blocker); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			t.Errorf("one more task waits for %d: %v", blocker, err)
		}
	}
	before := string(r.live.Snapshot())
	if _, err := r.complete(leaf, "dev", ""); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Fatalf("1,000 waiting tasks, two parents and three notices in one record: %v", err)
	}
	if string(r.live.Snapshot()) != before {
		t.Error("a refusal changed the state")
	}
	for id := last; id > last-6; id-- {
		if _, err := r.complete(leaf, "dev", ""); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			t.Fatalf("before task %d stops waiting: %v", id, err)
		}
		if _, err := r.blockedBy(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.complete(leaf, "dev", ""); err != nil || r.lastRows != hub.MaxRecordRows {
		t.Errorf("%d rows, %v", r.lastRows, err)
	}
}

func TestBlockedByIsLimited(t *testing.T) {
	r := newTaskRig(t)
	var ids []hub.TaskID
	for range hub.MaxBlockedBy + 1 {
		ids = append(ids, r.open(core.MessageDraft{Body: "x"}))
	}
	id := r.open(core.MessageDraft{Body: "waits"})
	if _, err := r.blockedBy(id, ids...); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Errorf("%d tasks to wait for: %v", len(ids), err)
	}
	if row, err := r.blockedBy(id, ids[1:]...); err != nil || row.Ready {
		t.Errorf("%d tasks to wait for: %+v, %v", len(ids)-1, row, err)
	}
	for _, blocker := range ids[1:] {
		if r.rows[id].Task.Ready {
			t.Fatalf("ready before task %d has ended", blocker)
		}
		if _, err := r.complete(blocker, "dev", ""); err != nil {
			t.Fatal(err)
		}
	}
	if row := r.rows[id].Task; !row.Ready || row.Version != 2 {
		t.Errorf("row %+v: what it waits for ending makes it ready, and is no change of the task", row)
	}
}

func TestUpdateRefusesBadNames(t *testing.T) {
	r := newTaskRig(t)
	id := r.open(core.MessageDraft{Body: "x"})
	for _, bad := range []hub.AgentID{"a/b", " ", hub.AgentID(strings.Repeat("a", 65))} {
		if _, err := r.update(id, "dev", hub.TaskUpdateInput{Assignee: &bad}); !errors.Is(err, &hub.Error{Code: hub.CodeInvalidAgentID}) {
			t.Errorf("assignee %q: %v", bad, err)
		}
	}
	if _, err := r.complete(id, "", "a note by nobody"); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Errorf("a note without an agent: %v", err)
	}
	if row, err := r.complete(id, "", ""); err != nil || row.Status != hub.TaskDone {
		t.Errorf("completion without an agent: %+v, %v", row, err)
	}
}

func TestTaskVisible(t *testing.T) {
	lead, dev, next := hub.AgentID("lead"), hub.AgentID("dev"), hub.AgentID("next")
	direct := core.StoredTask{Direct: true, Asked: "first", Task: hub.Task{CreatedBy: lead, Assignee: &dev, OfferedTo: &next}}
	public := direct
	public.Direct = false
	for viewer, sees := range map[hub.AgentID]bool{lead: true, dev: true, next: true, "first": true, "other": false, "": false} {
		if core.TaskVisible(viewer, &direct) != sees || !core.TaskVisible(viewer, &public) {
			t.Errorf("viewer %q", viewer)
		}
	}
	nobody := core.StoredTask{Direct: true}
	if core.TaskVisible("", &nobody) {
		t.Error("nobody in particular sees a task without parties")
	}
}

func TestTheOperatorActsOnEveryTask(t *testing.T) {
	r := newTaskRig(t)
	id := r.open(core.MessageDraft{Body: "x", To: "dev", Kind: hub.KindTaskRequest, Channel: hub.DirectChannel})
	operator := core.TaskActor{Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator}
	if _, err := r.live.Complete(id, core.CompleteCommand{By: operator}, r.now); err != nil {
		t.Errorf("completion: %v", err)
	}
	if _, err := r.complete(id, "dev", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := core.AnswerEndedCompletion(id, r.stored(id), operator); err != nil {
		t.Errorf("completion again: %v", err)
	}
}

func TestDecidingTasksChangesNothing(t *testing.T) {
	r := newTaskRig(t)
	parent := r.open(core.MessageDraft{Body: "parent"})
	child := r.open(core.MessageDraft{Body: "child", Parent: parent})
	before := string(r.live.Snapshot())
	blocked, status := []hub.TaskID{child}, hub.TaskWorking
	_, errs := r.live.Update(parent, core.UpdateCommand{By: by("dev"), In: hub.TaskUpdateInput{Status: &status, BlockedBy: &blocked, Force: true}}, r.now, r)
	_, errc := r.live.Complete(child, core.CompleteCommand{By: by("dev"), Note: "n"}, r.now)
	_, errp := r.live.Post(core.PostTaskCommand{Message: core.MessageDraft{From: "a", Kind: hub.KindTask, Parent: parent}, BlockedBy: blocked}, r.now, r)
	require.NoError(t, errors.Join(errs, errc, errp))
	if after := string(r.live.Snapshot()); after != before {
		t.Errorf("state changed:\n%s\n%s", before, after)
	}
}

func TestRestoreTasksRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		version uint16
		data    string
	}{
		"a newer version": {core.TasksVersion + 1, `{"tasks":[]}`},
		"no JSON":         {core.TasksVersion, `{"tasks":`},
		"a task twice":    {core.TasksVersion, `{"tasks":[{"task":{"task_id":1}},{"task":{"task_id":1}}]}`},
		"a null":          {core.TasksVersion, `{"tasks":[null]}`},
		"a run twice":     {core.TasksVersion, `{"tasks":[],"runs":[{"run":{"run_id":"run_1"}},{"run":{"run_id":"run_1"}}]}`},
		"version 0":       {0, `{"tasks":[]}`},
	} {
		if _, err := core.RestoreTasks(tt.version, []byte(tt.data)); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
}
