package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

// TestWhatModelsSendIsAccepted: values in another form than the schema asks
// for mean what they say.
func TestWhatModelsSendIsAccepted(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	you := bridgeTo(t, h, in(dir, "you"))
	you.must("hub_start", nil, nil)

	var p posted
	me.must("hub_post_message", args{"body": "build it", "kind": "task", "metadata": args{"weight": 1}, "to_agent": " @you"}, &p)
	if p.To != "you" || p.TaskID == 0 {
		t.Fatalf("a task for @you with metadata as an object is %+v", p)
	}
	enc, err := me.hub.Message(t.Context(), p.ID, "me")
	if err != nil {
		t.Fatal(err)
	}
	if row, err := enc.Decode(); err != nil || !strings.Contains(string(row.Metadata), `"weight":1`) {
		t.Errorf("the metadata is %s, %v", row.Metadata, err)
	}
	var other posted
	me.must("hub_post_message", args{"body": "test it", "kind": "task"}, &other)
	id := fmt.Sprint(p.TaskID)
	for _, c := range []struct {
		given args
		want  hub.TaskStatus
	}{
		{args{"task_id": id, "status": "in_progress"}, hub.TaskWorking},
		{args{"task_id": "#" + id, "status": "blocked", "blocked_by": fmt.Sprint(other.TaskID)}, hub.TaskInputRequired},
		{args{"task_id": id, "blocked_by": "[]", "status": "In-Progress"}, hub.TaskWorking},
		{args{"task_id": p.TaskID, "status": "completed"}, hub.TaskDone},
	} {
		var got shownTask
		if you.must("hub_update_task", c.given, &got); got.Status != c.want {
			t.Errorf("%v makes the task %s, want %s", c.given, got.Status, c.want)
		}
		if c.want == hub.TaskInputRequired && (len(got.BlockedBy) != 1 || got.BlockedBy[0] != other.TaskID) {
			t.Errorf("%v leaves the task waiting for %v", c.given, got.BlockedBy)
		}
	}
	for _, number := range []string{"60.0", "6e1", `"60.0"`, "0.6E+2", "60"} {
		you.must("hub_claim", args{"claim_key": "k" + number, "ttl_sec": json.RawMessage(number)}, nil)
	}
	you.must("hub_get_message", args{"message_id": json.RawMessage(fmt.Sprintf("%d.0", p.ID))}, nil)
	you.must("hub_update_task", args{"task_id": json.RawMessage(fmt.Sprintf("%d.0", other.TaskID)), "blocked_by": json.RawMessage("[]")}, nil)
	for _, number := range []string{"60.5", "1e400", "9007199254740993.0", `"sixty"`} {
		if said := you.refused("hub_claim", args{"claim_key": "n", "ttl_sec": json.RawMessage(number)}); !strings.Contains(said, "ttl_sec") || strings.Contains(said, "Go ") {
			t.Errorf("%s: %s", number, said)
		}
	}
	var list listing[shownTask]
	me.must("hub_call_tool", args{"name": "mcp_hub_hub_list_tasks", "arguments": `{"status":"done","limit":"5","room_id":"*"}`, "verbose": "true"}, &list)
	if len(list.Items) != 1 || list.Items[0].TaskID != p.TaskID {
		t.Errorf("with the arguments in a string the tasks are %+v", list.Items)
	}
}

// TestWorkingMakesTheAssignee: a task that an agent works on is not with nobody.
func TestWorkingMakesTheAssignee(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	var p posted
	me.must("hub_post_message", args{"body": "build it", "kind": "task"}, &p)
	var got shownTask
	if me.must("hub_update_task", args{"task_id": p.TaskID, "status": "working"}, &got); got.Assignee != "me" {
		t.Errorf("the task is %+v", got)
	}
}

// TestWordsForEveryoneAreNoAgent: a message to "all" would reach nobody, so it is
// refused with the way to write to everyone.
func TestWordsForEveryoneAreNoAgent(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	for _, name := range everyone {
		for _, name := range []string{name, "@" + name, strings.ToUpper(name)} {
			for _, tool := range []string{"hub_post_message", "hub_dm", "hub_rpc_call"} {
				if said := refusalOf(t, me, tool, args{"body": "stop", "to_agent": name}); !strings.Contains(said, "leave to_agent out") {
					t.Errorf("%s to %s: %s", tool, name, said)
				}
			}
		}
	}
}

// TestDeedsAreRefusedAsKinds: a message of kind claim claims nothing.
func TestDeedsAreRefusedAsKinds(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	for kind, tool := range map[string]string{"claim": "hub_take", "release": "hub_done", "handoff": "offer_to", "artifact": "hub_add_artifact"} {
		for _, name := range []string{"hub_post_message", "hub_dm"} {
			if said := refusalOf(t, me, name, args{"body": "I claim the parser", "to_agent": "you", "kind": kind}); !strings.Contains(said, tool) {
				t.Errorf("%s of kind %s says %s, want a word of %s", name, kind, said, tool)
			}
		}
	}
	var heard polled
	if me.must("hub_poll_messages", args{"since_id": 0, "timeout_seconds": 0}, &heard); len(heard.Messages) > 1 {
		t.Errorf("the refused messages were posted: %+v", heard.Messages)
	}
}

// TestAnswersAreLean: what a model rarely needs is in no answer that it did not
// ask to be verbose, and what stands in the line stands in no member.
func TestAnswersAreLean(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_post_message", args{"body": "build it", "kind": "task", "thread_id": "t"}, nil)
	me.must("hub_claim", args{"claim_key": "k"}, nil)
	me.must("hub_record_decision", args{"title": "use Go", "note": "one binary"}, nil)
	me.must("hub_remember", args{"text": "make all", "key": "build"}, nil)
	me.must("hub_add_artifact", args{"title": "plan", "kind": "doc", "body": "first"}, nil)
	if _, err := me.hub.Post(t.Context(), hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "hello"}); err != nil {
		t.Fatal(err)
	}
	noise := []string{
		"session_id", "untrusted_data", "latest_id", "watching", "harness", "channel", "room_id", "updated_at", "created_at", "version", "sha256",
		"content_type", "since", "expires_at", "authority", "assurance", "listener", "seat_count", "open_task_count", "claim_count", "lock_count", "args",
	}
	for name, a := range map[string]args{
		"hub_whoami": nil, "hub_room_status": nil, "hub_list_tasks": nil, "hub_list_agents": nil, "hub_list_decisions": nil, "hub_recall": nil,
		"hub_get_artifact": {"title": "plan"}, "hub_search": {"query": "binary"}, "hub_claim": {"claim_key": "k"}, "hub_get_thread": {"thread_id": "t"},
		"hub_watch": nil, "hub_post_message": {"body": "x"}, "hub_poll_messages": {"since_id": 0, "timeout_seconds": 0},
	} {
		res := me.try(name, a)
		if res.IsError {
			t.Fatalf("%s: %s", name, text(res))
		}
		var members map[string]any
		if err := json.Unmarshal([]byte(mustJSON(t, res.StructuredContent)), &members); err != nil {
			t.Fatal(err)
		}
		inside := mustJSON(t, members["items"]) + mustJSON(t, members["tasks"]) + mustJSON(t, members["seats"]) + mustJSON(t, members["open_tasks"])
		for _, word := range noise {
			_, there := members[word]
			if there && !(name == "hub_whoami" && word == "room_id") || strings.Contains(inside, `"`+word+`":`) {
				t.Errorf("%s answers with %s: %s", name, word, mustJSON(t, members))
			}
		}
		next, _ := members["next"].(string)
		if next == "" || strings.Count(text(res), next) != 1 {
			t.Errorf("%s says its line %d times: %s", name, strings.Count(text(res), next), text(res))
		}
	}
}
