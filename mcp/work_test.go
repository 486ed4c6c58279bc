package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// team is a room with two bridges and tasks in it.
func team(t *testing.T, tasks int) (lead, dev *rig, ids []hub.TaskID) {
	t.Helper()
	h, dir := testhub.Start(t), t.TempDir()
	lead = bridgeTo(t, h, in(dir, "lead"))
	bound(t, lead, dir)
	dev = bridgeTo(t, h, in(dir, "dev"))
	dev.must("hub_start", nil, nil)
	for i := range tasks {
		var p posted
		lead.must("hub_post_message", args{"body": fmt.Sprintf("task %d", i), "kind": "task"}, &p)
		ids = append(ids, p.TaskID)
	}
	return lead, dev, ids
}

// held counts the leases of an agent.
func (r *rig) held(t *testing.T, agent hub.AgentID) int {
	t.Helper()
	claims, _, err := r.hub.Claims(t.Context(), hub.LeasesQuery{Owner: agent, ActiveOnly: true})
	locks, _, err2 := r.hub.Locks(t.Context(), hub.LeasesQuery{Owner: agent, ActiveOnly: true})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return len(claims) + len(locks)
}

// TestTakeAndDone: one call takes a task with its claim and the locks on its
// files, and one call ends it and gives back these and no others.
func TestTakeAndDone(t *testing.T) {
	lead, dev, ids := team(t, 2)
	dev.must("hub_lock", args{"file_path": "mine.go"}, nil)
	var got taken
	if dev.must("hub_take", args{"task_id": ids[1], "files": []string{"a.go", "b.go"}}, &got); !got.Taken || got.Task.Assignee != "dev" || got.Task.Status != hub.TaskWorking || len(got.Files) != 2 {
		t.Fatalf("taken is %+v", got)
	}
	if n := dev.held(t, "dev"); n != 4 {
		t.Errorf("dev holds %d leases, want a claim and three locks", n)
	}
	var lease granted
	if lead.must("hub_lock", args{"file_path": "a.go"}, &lease); lease.Acquired || lease.Holder != "dev" {
		t.Errorf("lead's lock is %+v", lease)
	}
	lead.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	dev.must("hub_done", args{"task_id": ids[1], "note": "it works"}, nil)
	if n := dev.held(t, "dev"); n != 1 {
		t.Errorf("dev holds %d leases after the task, want the lock that it took itself", n)
	}
	var heard polled
	if lead.must("hub_poll_messages", nil, &heard); len(heard.Messages) != 1 || heard.Messages[0].Body != "it works" {
		t.Errorf("lead hears %+v", heard.Messages)
	}
	// Without a task the next ready one is taken, and then there is none.
	if dev.must("hub_take", nil, &got); !got.Taken || got.Task.TaskID != ids[0] {
		t.Errorf("the next task is %+v", got)
	}
	if lead.must("hub_take", nil, &got); got.Taken {
		t.Errorf("a task of another is taken: %+v", got)
	}
	dev.must("hub_done", args{"task_id": ids[0], "failed": true, "note": "no compiler"}, nil)
	if task, err := lead.hub.Task(t.Context(), ids[0], "lead"); err != nil || task.Status != hub.TaskFailed {
		t.Errorf("the failed task is %+v, %v", task, err)
	}
}

// TestTakeIsAllOrNothing: where one file is another agent's, the answer says
// which and whose, and nothing that the call had got is kept; what the agent
// held before stays.
func TestTakeIsAllOrNothing(t *testing.T) {
	lead, dev, ids := team(t, 1)
	lead.must("hub_lock", args{"file_path": "b.go"}, nil)
	dev.must("hub_lock", args{"file_path": "a.go"}, nil)
	for range 2 {
		var got taken
		dev.must("hub_take", args{"task_id": ids[0], "files": []string{"a.go", "b.go", "c.go"}}, &got)
		if got.Taken || len(got.Missing) != 1 || got.Missing[0].Holder != "lead" || !strings.HasSuffix(got.Missing[0].Key, "b.go") {
			t.Fatalf("taken is %+v", got)
		}
		if said := text(dev.try("hub_take", args{"task_id": ids[0], "files": []string{"b.go"}})); !strings.Contains(said, "lead has") || !strings.Contains(said, "Nothing was taken") {
			t.Errorf("it says %q", said)
		}
		if n := dev.held(t, "dev"); n != 1 {
			t.Errorf("dev holds %d leases, want the lock of before", n)
		}
		if task, err := lead.hub.Task(t.Context(), ids[0], "lead"); err != nil || task.Assignee != nil {
			t.Errorf("the task is %+v, %v", task, err)
		}
	}
	// The task is another's: the locks are given back too.
	lead.must("hub_update_task", args{"task_id": ids[0], "status": "working", "assignee": "rev"}, nil)
	if said := dev.refused("hub_take", args{"task_id": ids[0], "files": []string{"c.go"}}); !strings.Contains(said, "task_taken") {
		t.Errorf("a task of another: %q", said)
	}
	if n := dev.held(t, "dev"); n != 1 {
		t.Errorf("dev holds %d leases after a task that it cannot have", n)
	}
}

// TestDoneAnswersARequest: who asked by a task_request hears the answer.
func TestDoneAnswersARequest(t *testing.T) {
	lead, dev, _ := team(t, 0)
	var first, second reply
	lead.must("hub_rpc_call", args{"to_agent": "dev", "body": "sum it up", "timeout_seconds": 0}, &first)
	dev.must("hub_done", args{"task_id": first.RequestID, "note": "42"}, nil)
	if lead.must("hub_rpc_call", args{"request_id": first.RequestID, "timeout_seconds": 0}, &second); !second.Answered || second.Result.Body != "42" {
		t.Errorf("the answer is %+v", second)
	}
}

// TestStart: one call says who the agent is, reads what is new and shows what
// there is to do; what it has shown is read.
func TestStart(t *testing.T) {
	lead, dev, ids := team(t, 2)
	lead.must("hub_take", args{"task_id": ids[0]}, nil)
	lead.must("hub_dm", args{"to_agent": "dev", "body": "begin with the parser"}, nil)
	var s started
	dev.must("hub_start", nil, &s)
	if s.AgentID != "dev" || s.Room != "Check out" || len(s.Ready) != 1 || s.Ready[0].TaskID != ids[1] || len(s.Team) != 1 || s.Team[0].AgentID != "lead" {
		t.Errorf("dev starts with %+v", s)
	}
	if n := len(s.Messages); n == 0 || s.Messages[n-1].Body != "begin with the parser" {
		t.Errorf("dev reads %+v", s.Messages)
	}
	if dev.must("hub_start", nil, &s); len(s.Messages) != 0 {
		t.Errorf("what was read comes again: %+v", s.Messages)
	}
	var me aboutMe
	if dev.must("hub_whoami", nil, &me); me.Unread != 0 {
		t.Errorf("after hub_start %d messages are unread", me.Unread)
	}
}

// TestTakeUnderOneKey: a call that is repeated under its key takes the task that
// it took, and no second one.
func TestTakeUnderOneKey(t *testing.T) {
	_, dev, ids := team(t, 3)
	for range 3 {
		var got taken
		dev.must("hub_take", args{"idempotency_key": "k", "files": []string{"a.go", "./a.go"}}, &got)
		if !got.Taken || got.Task.TaskID != ids[0] || len(got.Files) != 1 {
			t.Errorf("taken is %+v", got)
		}
	}
	if n := dev.held(t, "dev"); n != 2 {
		t.Errorf("dev holds %d leases, want a claim and a lock", n)
	}
	dev.must("hub_done", args{"task_id": ids[0]}, nil)
	if said := text(dev.try("hub_take", args{"idempotency_key": "k"})); !strings.Contains(said, "an earlier call with this idempotency_key") {
		t.Errorf("after the task has ended, it says %q", said)
	}
	if n := dev.held(t, "dev"); n != 0 {
		t.Errorf("dev holds %d leases", n)
	}
}

// TestTakeWaitsForBlockers: a task whose blockers have not ended is not taken,
// unless it need not wait for them any more.
func TestTakeWaitsForBlockers(t *testing.T) {
	lead, dev, ids := team(t, 2)
	lead.must("hub_update_task", args{"task_id": ids[1], "blocked_by": []int64{int64(ids[0])}}, nil)
	if said := dev.refused("hub_take", args{"task_id": ids[1]}); !strings.Contains(said, fmt.Sprintf("waits for task %d", ids[0])) || !strings.Contains(said, "hub_take without task_id") {
		t.Errorf("a blocked task: %q", said)
	}
	dev.refused("hub_update_task", args{"task_id": ids[1], "status": "working"})
	dev.refused("hub_done", args{"task_id": ids[1]})
	if n := dev.held(t, "dev"); n != 0 {
		t.Errorf("dev holds %d leases of a task that it cannot have", n)
	}
	lead.must("hub_update_task", args{"task_id": ids[1], "blocked_by": []int64{}}, nil)
	var got taken
	if dev.must("hub_take", args{"task_id": ids[1]}, &got); !got.Taken {
		t.Errorf("taken is %+v", got)
	}
}

// TestPostedTaskWaits: a task can wait from the beginning. It is taken with
// force, or when its blockers have ended.
func TestPostedTaskWaits(t *testing.T) {
	lead, dev, ids := team(t, 1)
	post := func(text string, blockers ...hub.TaskID) hub.TaskID {
		t.Helper()
		var p posted
		lead.must("hub_post_message", args{"body": text, "kind": "task", "blocked_by": blockers}, &p)
		return p.TaskID
	}
	second := post("second", ids[0])
	third := post("third", ids[0], second)
	var got shownTask
	if dev.must("hub_update_task", args{"task_id": third, "status": "working", "force": true}, &got); got.Assignee != "dev" || !slices.Equal(got.BlockedBy, []hub.TaskID{ids[0], second}) {
		t.Errorf("the forced task is %+v", got)
	}
	dev.must("hub_done", args{"task_id": third}, nil)
	dev.refused("hub_take", args{"task_id": second})
	dev.must("hub_done", args{"task_id": ids[0]}, nil)
	dev.must("hub_take", args{"task_id": second}, nil)
	lead.refused("hub_post_message", args{"body": "nothing", "blocked_by": []int64{int64(second)}})
}

// TestHandOverReleases: with release, the agent to which a task is offered gets
// it with its claim and locks in one call.
func TestHandOverReleases(t *testing.T) {
	lead, dev, ids := team(t, 1)
	files := []string{"/src/a.go", "/src/b.go"}
	dev.must("hub_take", args{"task_id": ids[0], "files": files}, nil)
	dev.must("hub_update_task", args{"task_id": ids[0], "offer_to": "lead", "release": true}, nil)
	if n := dev.held(t, "dev"); n != 0 {
		t.Errorf("dev holds %d leases after it has handed the task over", n)
	}
	var got taken
	if lead.must("hub_take", args{"task_id": ids[0], "files": files}, &got); !got.Taken || got.Task.Assignee != "lead" || lead.held(t, "lead") != 3 {
		t.Errorf("lead takes %+v and holds %d leases", got, lead.held(t, "lead"))
	}
}

// TestHandOverIsTwoCalls: an agent that takes a task that is offered to it gets
// the claim and the locks of the agent that had it, unless another agent holds
// what it asks for.
func TestHandOverIsTwoCalls(t *testing.T) {
	lead, dev, ids := team(t, 1)
	files := []string{"/src/a.go", "/src/b.go"}
	dev.must("hub_take", args{"task_id": ids[0], "files": files}, nil)
	dev.must("hub_lock", args{"file_path": "/src/own.go"}, nil)
	dev.must("hub_update_task", args{"task_id": ids[0], "offer_to": "lead"}, nil)
	var got taken
	if lead.must("hub_take", args{"task_id": ids[0], "files": []string{"/src/a.go", "/src/own.go"}}, &got); got.Taken || len(got.Missing) != 3 {
		t.Errorf("with a lock that does not come with the task: %+v", got)
	}
	if lead.must("hub_take", args{"task_id": ids[0], "files": files}, &got); !got.Taken || got.Task.Assignee != "lead" || lead.held(t, "lead") != 3 || dev.held(t, "dev") != 1 {
		t.Errorf("lead takes %+v and holds %d leases, dev %d", got, lead.held(t, "lead"), dev.held(t, "dev"))
	}
	lead.must("hub_done", args{"task_id": ids[0]}, nil)
	if n := lead.held(t, "lead"); n != 0 {
		t.Errorf("lead holds %d leases of a task that is done", n)
	}
}

// TestTasksStandInTheOrderOfUrgency: the agent's own tasks come first, then what
// it could take, then what others have or what waits.
func TestTasksStandInTheOrderOfUrgency(t *testing.T) {
	lead, dev, ids := team(t, 4)
	lead.must("hub_update_task", args{"task_id": ids[3], "blocked_by": []int64{int64(ids[0])}}, nil)
	lead.must("hub_take", args{"task_id": ids[2]}, nil)
	dev.must("hub_take", args{"task_id": ids[0]}, nil)
	var list listing[shownTask]
	dev.must("hub_list_tasks", nil, &list)
	var page pageOfRoom
	dev.must("hub_room_status", nil, &page)
	for _, tasks := range [][]shownTask{list.Items, page.OpenTasks} {
		if len(tasks) != 4 || tasks[0].TaskID != ids[0] || tasks[1].TaskID != ids[1] {
			t.Errorf("the tasks stand in the order %+v", tasks)
		}
	}
}

// TestRecallSearchesElsewhere: what nobody has remembered may still stand in a message or a
// decision. The answer says that it is not from memory.
func TestRecallSearchesElsewhere(t *testing.T) {
	t.Parallel()
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	me.must("hub_post_message", args{"body": "The staging password rotates on Fridays."}, nil)
	me.must("hub_remember", args{"text": "make check", "key": "build:command"}, nil)
	var elsewhere string
	require.Eventually(t, "nothing is found elsewhere", func() bool {
		elsewhere = text(me.try("hub_recall", args{"query": "staging rotation"}))
		return strings.Contains(elsewhere, "rotates on Fridays")
	})
	if !strings.HasPrefix(elsewhere, "Nothing is remembered of this. A search found") {
		t.Errorf("it says %q", elsewhere)
	}
	for query, want := range map[string]string{"check": "1 remembered", "giraffe": "nothing is remembered"} {
		if got := text(me.try("hub_recall", args{"query": query})); !strings.Contains(got, want) || strings.Contains(got, "A search found") {
			t.Errorf("a recall of %s says %q", query, got)
		}
	}
}

// TestDoneTakesTheOnlyTask: without task_id the only task that the agent has begun is finished, and with
// none or several the call says what to name.
func TestDoneTakesTheOnlyTask(t *testing.T) {
	_, dev, ids := team(t, 3)
	if got := dev.refused("hub_done", nil); !strings.Contains(got, "you have no task that has not ended") {
		t.Errorf("without a task it says %s", got)
	}
	dev.must("hub_take", args{"task_id": ids[0]}, nil)
	dev.must("hub_take", args{"task_id": ids[1]}, nil)
	if got := dev.refused("hub_done", args{"note": "which?"}); !strings.Contains(got, fmt.Sprint(ids[0])) || !strings.Contains(got, fmt.Sprint(ids[1])) {
		t.Errorf("with two tasks it says %s", got)
	}
	dev.must("hub_done", args{"task_id": ids[0]}, nil)
	var f finished
	dev.must("hub_done", args{"note": "it works"}, &f)
	if row, err := dev.hub.Task(t.Context(), ids[1], "dev"); err != nil || row.Status != hub.TaskDone {
		t.Errorf("the only task is %+v, %v", row, err)
	}
}
