package mcp

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

type args = map[string]any

// roomFor makes a project with a room through the tools.
func roomFor(t *testing.T, r *rig) hub.RoomID {
	t.Helper()
	r.must("hub_create_project", args{"name": "Web shop"}, nil)
	var room shownRoom
	r.must("hub_create_room", args{"project": "web-shop", "name": "Check out", "topic": "the till"}, &room)
	return room.RoomID
}

// bound makes a room as roomFor does, and binds dir to it, so that every bridge
// in dir finds it.
func bound(t *testing.T, r *rig, dir string) hub.RoomID {
	t.Helper()
	room := roomFor(t, r)
	if _, err := r.hub.BindRoom(context.Background(), room, hub.BindingInput{Path: dir, AgentID: "me"}); err != nil {
		t.Fatal(err)
	}
	return room
}

// in makes a bridge work in a folder.
func in(dir string, agent hub.AgentID) func(*Config) {
	return func(c *Config) {
		c.Agent = agent
		c.Getenv = func(name string) string {
			if name == "CLAUDE_PROJECT_DIR" {
				return dir
			}
			return ""
		}
	}
}

// TestRoomIsFound: in a bound folder no tool needs a room_id, and the answer
// names the room. In another folder the error says what to do.
func TestRoomIsFound(t *testing.T) {
	h := testhub.Start(t)
	lost := bridgeTo(t, h, in(t.TempDir(), "lost"))
	for _, name := range []string{"hub_room_status", "hub_list_decisions", "hub_recall", "hub_create_invite", "hub_get_artifact"} {
		if said := lost.refused(name, nil); !strings.Contains(said, "hub_list_rooms") {
			t.Errorf("%s without a room says %q", name, said)
		}
	}
	dir := t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.bridge.link.Homes.Bind("", testNow()) // drops what was found before the binding
	for name, a := range map[string]args{
		"hub_room_status": nil, "hub_list_decisions": nil, "hub_recall": nil, "hub_list_tasks": nil, "hub_get_artifact": nil,
		"hub_poll_messages": {"timeout_seconds": 0}, "hub_create_invite": nil, "hub_whoami": nil,
		"hub_post_message": {"body": "here"}, "hub_watch": nil,
	} {
		var got struct {
			RoomID hub.RoomID `json:"room_id"`
		}
		if me.must(name, a, &got); got.RoomID != room {
			t.Errorf("%s is about room %q, want %s", name, got.RoomID, room)
		}
	}
	for _, name := range []string{"web-shop/check-out", "check-out", "Check OUT"} {
		var named pageOfRoom
		if lost.must("hub_room_status", args{"room_id": name}, &named); named.RoomID != room {
			t.Errorf("%s is room %q, want %s", name, named.RoomID, room)
		}
	}
}

// TestWorkTogether lets two agents work together with the tools alone.
func TestWorkTogether(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(dir, "lead"))
	room := bound(t, lead, dir)
	dev := bridgeTo(t, h, in(dir, "dev"))
	var me aboutMe
	if dev.must("hub_whoami", nil, &me); me.AgentID != "dev" || me.RoomID != room {
		t.Fatalf("dev is %+v", me)
	}
	dev.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)

	// A task is posted, polled, taken and offered; the offer is declined.
	var task posted
	lead.must("hub_post_message", args{"body": "build the cart", "kind": "task", "thread_id": "cart"}, &task)
	if task.TaskID != task.ID || task.RoomID != room {
		t.Errorf("the task is %+v", task)
	}
	var heard polled
	dev.must("hub_poll_messages", nil, &heard)
	if len(heard.Messages) != 1 || heard.Messages[0].Body != "build the cart" || heard.Cursor < task.ID {
		t.Errorf("dev hears %+v", heard)
	}
	dev.must("hub_update_task", args{"task_id": task.ID, "status": "working", "assignee": "dev"}, nil)
	var list listing[shownTask]
	lead.must("hub_list_tasks", nil, &list)
	if len(list.Items) != 1 || list.Items[0].Assignee != "dev" || list.Items[0].Status != hub.TaskWorking {
		t.Errorf("the tasks are %+v", list.Items)
	}
	dev.must("hub_update_task", args{"task_id": task.ID, "offer_to": "lead", "note": "no time"}, nil)
	lead.must("hub_update_task", args{"task_id": task.ID, "offer": "decline"}, nil)
	if said := dev.refused("hub_update_task", args{"task_id": task.ID, "status": "done", "offer_to": "lead"}); !strings.Contains(said, "invalid") {
		t.Errorf("two changes at once: %q", said)
	}

	// Only one agent gets the claim, and the other is told which agent to ask.
	var mine, theirs granted
	dev.must("hub_claim", args{"task_id": task.ID, "ttl_sec": 60}, &mine)
	if !mine.Acquired || mine.ExpiresInSec < 50 {
		t.Errorf("dev's claim is %+v", mine)
	}
	res := lead.try("hub_claim", args{"claim_key": mine.Key})
	lead.must("hub_claim", args{"claim_key": mine.Key}, &theirs)
	if theirs.Acquired || theirs.Holder != "dev" || !strings.Contains(text(res), "dev has") || !strings.Contains(text(res), "hub_dm") {
		t.Errorf("lead's claim is %+v, and it is told %q", theirs, text(res))
	}
	dev.must("hub_refresh_claim", args{"claim_key": mine.Key, "fence": mine.Fence}, nil)
	if said := lead.refused("hub_refresh_claim", args{"claim_key": mine.Key}); !strings.Contains(said, "not_holder") {
		t.Errorf("a claim of another is refreshed: %q", said)
	}
	dev.must("hub_release", args{"claim_key": mine.Key}, nil)
	dev.must("hub_lock", args{"file_path": "/src/cart.go"}, nil)
	if lead.must("hub_lock", args{"file_path": "/src/./cart.go"}, &theirs); theirs.Acquired || theirs.Holder != "dev" {
		t.Errorf("lead's lock is %+v", theirs)
	}
	dev.must("hub_unlock", args{"file_path": "/src/cart.go"}, nil)
	dev.must("hub_claim", args{"task_id": task.ID}, nil)
	var held heldForTask
	if dev.must("hub_task_leases", args{"task_id": task.ID}, &held); len(held.Claims) != 1 || held.Claims[0].Holder != "dev" || len(held.Locks) != 0 {
		t.Errorf("%+v is held for the task", held)
	}
	dev.must("hub_complete_task", args{"task_id": task.ID, "note": "done"}, nil)
	var thread shownThread
	if lead.must("hub_get_thread", args{"thread_id": "cart"}, &thread); len(thread.Messages) == 0 || len(thread.Tasks) != 0 {
		t.Errorf("the thread is %+v", thread)
	}
	var status pageOfRoom
	if lead.must("hub_room_status", nil, &status); status.OpenTaskCount != 0 || status.Name != "Check out" {
		t.Errorf("the room is %+v", status)
	}
}

// TestRecordsAndMemory: what a room keeps comes back as it was given.
func TestRecordsAndMemory(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_record_decision", args{"title": "use Go", "note": "one binary", "metadata": `{"weight":1}`}, nil)
	var decisions listing[shownDecision]
	if me.must("hub_list_decisions", nil, &decisions); len(decisions.Items) != 1 || decisions.Items[0].Note != "one binary" {
		t.Errorf("decisions: %+v", decisions)
	}
	bytes := []byte{0xff, 0, 1, 2, 0xfe}
	me.must("hub_add_artifact", args{"title": "plan", "kind": "doc", "body": "first"}, nil)
	me.must("hub_add_artifact", args{"title": "plan", "kind": "doc", "content_base64": base64.StdEncoding.EncodeToString(bytes)}, nil)
	var a shownArtifact
	if me.must("hub_get_artifact", args{"title": "plan", "version": 1}, &a); a.Content != "first" || a.Encoding != "text" || a.RoomID != room {
		t.Errorf("version 1: %+v", a)
	}
	if me.must("hub_get_artifact", args{"title": "plan"}, &a); a.Encoding != "base64" || string(a.Content) != base64.StdEncoding.EncodeToString(bytes) || a.Version != 2 {
		t.Errorf("the latest version: %+v", a)
	}
	if said := me.refused("hub_get_artifact", args{"title": "none"}); !strings.Contains(said, "artifact_not_found") {
		t.Errorf("an artifact that is not: %q", said)
	}
	me.refused("hub_add_artifact", args{"title": "plan", "kind": "doc"})
	me.must("hub_remember", args{"key": "build", "text": "make all", "tags": []string{"make"}}, nil)
	var memories listing[shownMemory]
	if me.must("hub_recall", args{"key": "build"}, &memories); len(memories.Items) != 1 || memories.Items[0].Text != "make all" {
		t.Errorf("memories: %+v", memories)
	}
	if said := me.refused("hub_remember", args{"key": "build", "text": ""}); !strings.Contains(said, "hub_forget") {
		t.Errorf("a memory without a text: %q", said)
	}
	me.must("hub_forget", args{"key": "build"}, nil)
	if me.must("hub_recall", nil, &memories); len(memories.Items) != 0 {
		t.Errorf("what was forgotten is recalled: %+v", memories)
	}
	var hits found
	if me.must("hub_search", args{"query": "binary", "type": "decision"}, &hits); len(hits.Items) != 1 || hits.Items[0].Type != hub.FoundDecision {
		t.Errorf("hits: %+v", hits)
	}
	me.refused("hub_search", args{"query": "..."})
}

// TestIdempotencyKeys: a repeated call with the same key has no second effect.
func TestIdempotencyKeys(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	for name, a := range map[string]args{
		"hub_post_message": {"body": "x"}, "hub_dm": {"body": "x", "to_agent": "you"}, "hub_create_project": {"name": "P"},
		"hub_create_room": {"project": "web-shop", "name": "Stock"}, "hub_record_decision": {"title": "d"},
		"hub_add_artifact": {"title": "a", "kind": "k", "body": "b"}, "hub_remember": {"text": "t"}, "hub_create_invite": {},
		"hub_create_channel": {"name": "c"}, "hub_claim": {"claim_key": "k"}, "hub_lock": {"file_path": "f"},
		"hub_rpc_call": {"to_agent": "you", "body": "do", "timeout_seconds": 0},
	} {
		a["idempotency_key"] = "key-" + name
		var first, second struct {
			ID         hub.MessageID  `json:"id"`
			RequestID  hub.MessageID  `json:"request_id"`
			ProjectID  hub.ProjectID  `json:"project_id"`
			RoomID     hub.RoomID     `json:"room_id"`
			DecisionID hub.DecisionID `json:"decision_id"`
			ArtifactID hub.ArtifactID `json:"artifact_id"`
			MemoryID   hub.MemoryID   `json:"memory_id"`
			Code       string         `json:"code"`
			Fence      hub.Fence      `json:"fence"`
		}
		me.must(name, a, &first)
		if me.must(name, a, &second); first != second {
			t.Errorf("%s twice under one key: %+v, then %+v", name, first, second)
		}
	}
}

// TestInviteAndJoin: with the code of an invite another bridge joins the room.
func TestInviteAndJoin(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(dir, "lead"))
	room := bound(t, lead, dir)
	var invite invited
	lead.must("hub_create_invite", args{"role": "reviewer", "handle": "rev"}, &invite)
	guest := bridgeTo(t, h, in(t.TempDir(), ""))
	var joined joinOut
	if guest.must("hub_join", args{"code": invite.Code}, &joined); joined.AgentID != "rev" || joined.Room.RoomID != room {
		t.Errorf("joined as %+v", joined)
	}
	var me aboutMe
	if guest.must("hub_whoami", nil, &me); me.AgentID != "rev" || me.RoomID != room {
		t.Errorf("after joining: %+v", me)
	}
	lead.must("hub_post_message", args{"body": "welcome"}, nil)
	var heard polled
	if guest.must("hub_poll_messages", nil, &heard); len(heard.Messages) == 0 || heard.RoomID != room {
		t.Errorf("the guest hears %+v", heard)
	}
	guest.refused("hub_join", args{"code": "AAAA-AAAA"})
}

// TestRPC: the answer is found in the inbox and in the channel, and after a
// timeout the next call waits for the same request.
func TestRPC(t *testing.T) {
	t.Parallel() // it takes some seconds to notice a task that ends without an answer
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(dir, "lead"))
	bound(t, lead, dir)
	dev := bridgeTo(t, h, in(dir, "dev"))
	var first reply
	lead.must("hub_rpc_call", args{"to_agent": "dev", "body": "sum it up", "timeout_seconds": 0}, &first)
	if !first.TimedOut || first.Answered || first.RequestID == 0 {
		t.Fatalf("without an answer: %+v", first)
	}
	dev.must("hub_post_message", args{"kind": "task_result", "reply_to": first.RequestID, "body": "42", "to_agent": "lead"}, nil)
	var second reply
	lead.must("hub_rpc_call", args{"request_id": first.RequestID}, &second)
	if !second.Answered || second.Result == nil || second.Result.Body != "42" || second.RequestID != first.RequestID {
		t.Errorf("waiting on: %+v", second)
	}
	// The answer stays in the feed.
	var heard polled
	if lead.must("hub_poll_messages", args{"since_id": first.RequestID}, &heard); len(heard.Messages) != 1 || heard.Messages[0].Body != "42" {
		t.Errorf("the feed has %+v", heard.Messages)
	}
	// A task that ends without an answer ends the wait.
	lead.must("hub_rpc_call", args{"to_agent": "dev", "body": "again", "timeout_seconds": 0}, &first)
	dev.must("hub_update_task", args{"task_id": first.RequestID, "status": "failed"}, nil)
	if lead.must("hub_rpc_call", args{"request_id": first.RequestID, "timeout_seconds": 30}, &second); second.TimedOut || second.TaskStatus != hub.TaskFailed {
		t.Errorf("after the task has failed: %+v", second)
	}
	// An answer wakes a call that waits.
	got := make(chan reply, 1)
	go func() {
		var r reply
		lead.must("hub_rpc_call", args{"to_agent": "dev", "body": "now", "timeout_seconds": 40}, &r)
		got <- r
	}()
	var asked polled
	for len(asked.Messages) == 0 || asked.Messages[len(asked.Messages)-1].Body != "now" {
		dev.must("hub_poll_messages", args{"timeout_seconds": 20}, &asked)
	}
	request := asked.Messages[len(asked.Messages)-1].ID
	dev.must("hub_post_message", args{"kind": "task_result", "reply_to": request, "body": "in public"}, nil)
	if r := <-got; !r.Answered || r.Result.Body != "in public" {
		t.Errorf("the wait ends with %+v", r)
	}
	lead.refused("hub_rpc_call", args{"body": "to nobody"})
	dev.refused("hub_rpc_call", args{"request_id": request})
}

// TestWatchCommand: the command names this executable, agent, hub and room, and
// a shell splits it into its arguments.
func TestWatchCommand(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	if _, err := me.hub.Register(t.Context(), hub.RegisterInput{AgentID: "lead"}); err != nil {
		t.Fatal(err)
	}
	var w watchCommand
	label := "it's $(here) `now`; \"x\""
	me.must("hub_watch", args{"until": []string{"message-from:lead"}, "timeout_seconds": 90, "label": label}, &w)
	want := []string{"watch", "--agent", "me", "--base-url", h.URL, "--room", string(room), "--until", "message-from:lead", "--timeout", "1m30s", "--label", label}
	if !strings.HasPrefix(w.Args[0], "/") || fmt.Sprint(w.Args[1:]) != fmt.Sprint(want) {
		t.Errorf("the arguments are %q, want an absolute path and %q", w.Args, want)
	}
	if read := shellWords(t, w.Command); fmt.Sprint(read) != fmt.Sprint(w.Args) {
		t.Errorf("a shell reads %q, want %q", read, w.Args)
	}
	for _, bad := range [][]string{{"tasks-complete:99"}, {"run-complete:run_9"}, {"soon"}, {"message-from:"}, {"message-from:me"}, {"answered:99"}, {"task-ready:r_zz"}} {
		me.refused("hub_watch", args{"until": bad})
	}
	if said := me.refused("hub_watch", args{"until": []string{"seat-idle:boss"}}); !strings.Contains(said, "no agent is called boss") || !strings.Contains(said, "live agents: lead") {
		t.Errorf("of a name that is no agent: %q", said)
	}
	if me.must("hub_watch", nil, &w); fmt.Sprint(w.Until) != "[for-me]" || w.Met || w.Command == "" {
		t.Errorf("without a condition: %+v", w)
	}
	if _, err := me.hub.Post(t.Context(), hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "a question"}); err != nil {
		t.Fatal(err)
	}
	var already watchCommand
	if me.must("hub_watch", nil, &already); !already.Met || already.Command != "" {
		t.Errorf("with an unread message: %+v", already)
	}
	if said := text(me.try("hub_watch", nil)); !strings.Contains(said, "is for you and unread. Read your messages with hub_poll_messages.") {
		t.Errorf("with an unread message it says %q", said)
	}
}

// TestWatchIsTrueOfTheHarness: an agent is told how to wait in its own harness, and gets
// no command that would wait for nothing there.
func TestWatchIsTrueOfTheHarness(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	bound(t, bridgeTo(t, h, in(dir, "me")), dir)
	for harness, want := range map[string]struct {
		says    string
		command bool
		wakes   bool
	}{
		"claude-code": {"Run command in the background and finish your turn.", true, true},
		"codex":       {"call hub_poll_messages with timeout_seconds 240", false, false},
		"gemini-cli":  {"does not wake you in this program. To wait for messages, call hub_poll_messages with timeout_seconds", true, false},
	} {
		me := bridgeTo(t, h, func(c *Config) { in(dir, hub.AgentID(harness))(c); c.Harness = harness })
		var w watchCommand
		me.must("hub_watch", nil, &w)
		if said := text(me.try("hub_watch", nil)); !strings.Contains(said, want.says) || (w.Command != "") != want.command || w.Wakes != want.wakes {
			t.Errorf("%s is told %q: %+v", harness, said, w)
		}
	}
}

// TestWatchKnowsOfAStream: an agent to which a stream shows its messages is told to
// finish its turn, and gets a command only for conditions that no message meets.
func TestWatchKnowsOfAStream(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	room := bound(t, bridgeTo(t, h, in(dir, "lead")), dir)
	me := bridgeTo(t, h, func(c *Config) { in(dir, "me")(c); c.Harness = string(hub.HarnessOpenCode) })
	me.must("hub_whoami", nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var streams sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	streams.Go(func() {
		_, _ = me.hub.Watch(ctx, hub.WatchQuery{Agent: "me", Room: room, Until: []hub.Condition{{Kind: hub.UntilForMe, Text: "for-me"}}, Stream: true, Wait: time.Minute})
	})
	var w watchCommand
	require.Eventually(t, "the stream is not known", func() bool {
		w = watchCommand{}
		me.must("hub_watch", nil, &w)
		return w.Wakes
	})
	if said := text(me.try("hub_watch", nil)); w.Command != "" || !strings.Contains(said, "Finish your turn") {
		t.Errorf("it is told %q: %+v", said, w)
	}
	w = watchCommand{}
	if me.must("hub_watch", args{"until": []string{"seat-idle:lead"}}, &w); w.Command == "" || w.Wakes {
		t.Errorf("for what is no message: %+v", w)
	}
}

// TestBadInput: a refusal of the hub has its code and a fix.
func TestBadInput(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	for _, c := range []struct {
		tool string
		args args
		code hub.Code
	}{
		{"hub_post_message", args{"body": ""}, hub.CodeInvalid},
		{"hub_post_message", args{"body": "x", "channel": "none"}, hub.CodeChannelNotFound},
		{"hub_post_message", args{"body": "x", "kind": "task_result"}, hub.CodeReplyRequired},
		{"hub_post_message", args{"body": "x", "reply_to": 999}, hub.CodeReplyNotFound},
		{"hub_post_message", args{"body": strings.Repeat("x", 128_001)}, hub.CodeBodyTooLarge},
		{"hub_post_message", args{"body": "x", "metadata": "no object"}, hub.CodeInvalid},
		{"hub_post_message", args{"body": "x", "attachments": "{}"}, hub.CodeInvalid},
		{"hub_post_message", args{"body": "x", "attachments": "none"}, hub.CodeInvalid},
		{"hub_post_message", args{"body": "x", "attachments": []args{{"type": 1}}}, hub.CodeInvalid},
		{"hub_post_message", args{"body": "x", "idempotency_key": strings.Repeat("k", 300)}, hub.CodeInvalid},
		{"hub_dm", args{"body": "x", "to_agent": "a b"}, hub.CodeInvalidAgentID},
		{"hub_get_message", args{"message_id": 999}, hub.CodeMessageNotFound},
		{"hub_get_thread", args{"thread_id": "none"}, hub.CodeThreadNotFound},
		{"hub_create_channel", args{"name": "room-x"}, hub.CodeReservedName},
		{"hub_room_status", args{"room_id": "r_999"}, hub.CodeRoomNotFound},
		{"hub_create_room", args{"project": "web-shop", "name": "check-OUT"}, hub.CodeSimilarRoomExists},
		{"hub_create_room", args{"project": "none", "name": "x"}, hub.CodeProjectNotFound},
		{"hub_create_project", args{"name": "Web shop"}, hub.CodeProjectExists},
		{"hub_claim", args{}, hub.CodeInvalid},
		{"hub_release", args{"claim_key": "none"}, hub.CodeNotHolder},
		{"hub_unlock", args{"file_path": "none"}, hub.CodeNotHolder},
		{"hub_complete_task", args{"task_id": 999}, hub.CodeTaskNotFound},
		{"hub_task_leases", args{"task_id": 999}, hub.CodeTaskNotFound},
		{"hub_update_task", args{"task_id": 999, "status": "done"}, hub.CodeTaskNotFound},
		{"hub_poll_messages", args{"room_id": "r_999", "timeout_seconds": 0}, hub.CodeRoomNotFound},
		{"hub_poll_messages", args{"channel": "none", "timeout_seconds": 0}, hub.CodeChannelNotFound},
		{"hub_poll_messages", args{"channel": "general", "room_id": "r_1"}, hub.CodeInvalid},
		{"hub_record_decision", args{"title": "d", "metadata": `{"a":{"b":{"c":{"d":{"e":1}}}}}`}, hub.CodeMetadataTooDeep},
		{"hub_get_artifact", args{"artifact_id": "a_999"}, hub.CodeArtifactNotFound},
		{"hub_forget", args{"key": "none"}, hub.CodeMemoryNotFound},
		{"hub_list_agents", args{"cursor": "nobody"}, hub.CodeInvalid},
		{"hub_call_tool", args{"name": "hub_call_tool"}, hub.CodeInvalid},
	} {
		res := me.try(c.tool, c.args)
		if said := text(res); !res.IsError || !strings.HasPrefix(said, string(c.code)+": ") || !strings.Contains(said, "\nfix: ") {
			t.Errorf("%s %.100v answers %.300q, wants %s with a fix", c.tool, c.args, said, c.code)
		}
	}
}

// sizeOf counts the characters of an answer that a model may see.
func sizeOf(t *testing.T, res *sdk.CallToolResult) int {
	t.Helper()
	n := utf8.RuneCount([]byte(mustCompact(t, res.StructuredContent)))
	for _, c := range res.Content {
		if part, ok := c.(*sdk.TextContent); ok {
			n += utf8.RuneCountInString(part.Text)
		}
	}
	return n
}

func mustCompact(t *testing.T, v any) string {
	t.Helper()
	b, err := compact(v)
	require.NoError(t, err)
	return string(b)
}

// TestSpawnTool: a spawn that the operator has not allowed is refused, with an
// error that says so.
func TestSpawnTool(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	if said := me.refused("hub_spawn", args{"harness": "codex", "prompt": "work"}); !strings.Contains(said, "fix: ") || strings.HasPrefix(said, "internal") {
		t.Errorf("without the operator's leave: %q", said)
	}
	me.refused("hub_spawn", args{"harness": "no-such", "prompt": "work"})
	me.refused("hub_spawn", args{"harness": "codex"})
	me.refused("hub_spawn", args{"spawn_id": "sp_99"})
	me.refused("hub_spawn", args{"spawn_id": "sp_99", "stop": true})
}

// TestThePromptIsNamed: an agent reads for which tool a colleague's program asks its
// user, on the page of the room and in the list of agents. The tool's name is a peer's text.
func TestThePromptIsNamed(t *testing.T) {
	t.Parallel()
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	me.must("hub_whoami", nil, nil)
	if _, err := me.hub.NoteTurn(t.Context(), hub.TurnInput{AgentID: "me", Turn: hub.TurnAtPrompt, Tool: "Bash\u202e"}); err != nil {
		t.Fatal(err)
	}
	if got := mustJSON(t, me.try("hub_room_status", nil).StructuredContent); !strings.Contains(got, `"activity":"at_prompt"`) || !strings.Contains(got, `"prompt_tool":"Bash`) || strings.Contains(got, "\u202e") {
		t.Errorf("the status is %s", got)
	}
	if got := mustJSON(t, me.try("hub_list_agents", nil).StructuredContent); !strings.Contains(got, `"activity":"at_prompt"`) || !strings.Contains(got, `"prompt_tool":"Bash`) || strings.Contains(got, "\u202e") {
		t.Errorf("the list of agents is %s", got)
	}
}
