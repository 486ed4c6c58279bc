package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// These tests run against a whole hub.

func clientOf(t *testing.T, h *testhub.Hub) *client.Client {
	t.Helper()
	c := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	t.Cleanup(c.Close)
	return c
}

// join registers agent and returns a client that proves its session.
func join(t *testing.T, c *client.Client, agent hub.AgentID) *client.Client {
	t.Helper()
	got, err := c.Register(t.Context(), hub.RegisterInput{AgentID: agent})
	if err != nil || !got.Created || got.Row.ResumeKey == "" {
		t.Fatalf("Register(%s) = %+v, %v", agent, got, err)
	}
	return c.As(agent, got.Row.SessionID)
}

func body(t *testing.T, m hub.EncodedMessage) hub.Message {
	t.Helper()
	row, err := m.Decode()
	require.NoError(t, err)
	return row
}

func TestSessionsOverHTTP(t *testing.T) {
	ctx, c := t.Context(), clientOf(t, testhub.Start(t))
	first, err := c.Register(ctx, hub.RegisterInput{
		AgentID: "a", Capabilities: []string{"go"}, Metadata: json.RawMessage(`{"x":1}`),
	})
	require.NoError(t, err)
	a := c.As("a", first.Row.SessionID)
	if _, err := a.Rename(ctx, "a", hub.RenameInput{DisplayName: "Ann"}); err != nil {
		t.Fatal(err)
	}
	agents, _, err := a.Agents(ctx, hub.AgentsQuery{Capability: "go"})
	if err != nil || len(agents) != 1 || agents[0].DisplayName != "Ann" || agents[0].SessionID == first.Row.SessionID {
		t.Fatalf("Agents = %+v, %v", agents, err)
	}
	boot, err := a.Bootstrap(ctx, "a")
	if err != nil || boot.Session == nil || boot.Hub.ProtocolVersion != hub.ProtocolVersion {
		t.Fatalf("Bootstrap = %+v, %v", boot, err)
	}
	_, err = c.Register(ctx, hub.RegisterInput{AgentID: "a", Replace: ptr(false)})
	hubError(t, err, hub.CodeSessionConflict)

	second, err := c.Resume(ctx, hub.ResumeInput{PriorSessionID: first.Row.SessionID, ResumeKey: first.Row.ResumeKey})
	if err != nil || second.Row.AgentID != "a" {
		t.Fatalf("Resume = %+v, %v", second, err)
	}
	_, err = a.Post(ctx, hub.PostInput{FromAgent: "a", Body: "from the displaced session"})
	hubError(t, err, hub.CodeSessionReplaced)
	closed, err := c.CloseSession(ctx, second.Row.SessionID, "")
	if err != nil || !closed.Row.Deleted {
		t.Fatalf("CloseSession = %+v, %v", closed, err)
	}
	_, err = c.CloseSession(ctx, second.Row.SessionID, "")
	hubError(t, err, hub.CodeSessionNotFound)
}

func TestMessagesOverHTTP(t *testing.T) {
	ctx, c := t.Context(), clientOf(t, testhub.Start(t))
	a, b := join(t, c, "a"), join(t, c, "b")
	if got, err := a.CreateChannel(ctx, hub.ChannelInput{Name: "x/y z", CreatedBy: "a"}); err != nil || !got.Created {
		t.Fatalf("CreateChannel = %+v, %v", got, err)
	}
	if got, err := a.CreateChannel(ctx, hub.ChannelInput{Name: "x/y z"}); err != nil || got.Created {
		t.Fatalf("CreateChannel again = %+v, %v", got, err)
	}
	channels, _, err := c.Channels(ctx, hub.ChannelsQuery{})
	if err != nil || len(channels) != 3 {
		t.Fatalf("Channels = %+v, %v", channels, err)
	}
	post := func(in hub.PostInput) hub.Message {
		t.Helper()
		in.FromAgent = "a"
		got, err := a.Post(ctx, in)
		if err != nil || !got.Created || got.Replayed {
			t.Fatalf("Post = %+v, %v", got, err)
		}
		return body(t, got.Row)
	}
	thread := hub.ThreadID("t/ä?#%2F ..")
	public := post(hub.PostInput{
		Channel: "x/y z", ThreadID: thread, Body: "<öffentlich>\n",
		Attachments: []hub.Attachment{{Type: hub.AttachmentJSON, Content: json.RawMessage(`{"a":[1,2]}`)}},
	})
	direct := post(hub.PostInput{ToAgent: "b", Body: "psst"})
	if public.Assurance != hub.AssuranceSession || public.Body != "<öffentlich>\n" || len(public.Attachments) != 1 {
		t.Errorf("public = %+v", public)
	}
	if row, err := b.Message(ctx, direct.ID, ""); err != nil || body(t, row).Body != "psst" {
		t.Errorf("Message = %s, %v", row, err)
	}
	_, err = c.Message(ctx, direct.ID, "")
	hubError(t, err, hub.CodeMessageNotFound)

	page, err := b.Events(ctx, hub.EventsQuery{ExcludeSelf: true})
	if err != nil || len(page.Rows) != 2 || page.NextSinceID != direct.ID {
		t.Errorf("Events = %+v, %v", page, err)
	}
	page, err = b.Events(ctx, hub.EventsQuery{Channels: []hub.ChannelName{"general", "x/y z"}, ThreadID: thread})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("Events of one thread = %+v, %v", page, err)
	}
	page, err = c.Messages(ctx, hub.MessagesQuery{Channel: "x/y z", Tail: true, Limit: 5})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("Messages = %+v, %v", page, err)
	}
	page, err = b.Inbox(ctx, hub.InboxQuery{Agent: "b"})
	if err != nil || len(page.Rows) != 1 || body(t, page.Rows[0]).ID != direct.ID {
		t.Errorf("Inbox = %+v, %v", page, err)
	}
	threads, _, err := b.Threads(ctx, hub.ThreadsQuery{})
	if err != nil || len(threads) != 1 || threads[0].ThreadID != thread {
		t.Errorf("Threads = %+v, %v", threads, err)
	}
	got, err := b.Thread(ctx, thread, "b")
	if err != nil || len(got.Messages) != 1 {
		t.Errorf("Thread = %+v, %v", got, err)
	}
	_, err = a.Post(ctx, hub.PostInput{FromAgent: "a", Channel: "none", Body: "x"})
	if refused := hubError(t, err, hub.CodeChannelNotFound); refused.Status != 400 || refused.Fix == "" {
		t.Errorf("refused = %+v", refused)
	}
	_, err = b.Post(ctx, hub.PostInput{FromAgent: "a", Body: "as another"})
	hubError(t, err, hub.CodeAgentMismatch)
}

func TestAParkedPollWakes(t *testing.T) {
	ctx, c := t.Context(), clientOf(t, testhub.Start(t))
	a := join(t, c, "a")
	woken := make(chan hub.Page, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		page, err := c.Events(ctx, hub.EventsQuery{Agent: "b", Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		woken <- page
	})
	posted, err := a.Post(ctx, hub.PostInput{FromAgent: "a", Body: "wake up"})
	require.NoError(t, err)
	wg.Wait()
	if page := <-woken; len(page.Rows) != 1 || page.NextSinceID != body(t, posted.Row).ID {
		t.Errorf("woken with %+v", page)
	}
}

func TestLeasesOverHTTP(t *testing.T) {
	ctx, c := t.Context(), clientOf(t, testhub.Start(t))
	a, b := join(t, c, "a"), join(t, c, "b")
	held, err := a.Claim(ctx, hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k"})
	if err != nil || !held.Acquired || held.Row.Fence == 0 {
		t.Fatalf("Claim = %+v, %v", held, err)
	}
	lost, err := b.Claim(ctx, hub.ClaimInput{OwnerAgentID: "b", ClaimKey: "k"})
	if err != nil || lost.Acquired || lost.Row.OwnerAgentID != "a" {
		t.Fatalf("Claim by another = %+v, %v", lost, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		got, err := b.Claim(ctx, hub.ClaimInput{OwnerAgentID: "b", ClaimKey: "k", WaitSec: 50})
		if err != nil || !got.Acquired || got.Row.Fence <= held.Row.Fence {
			t.Errorf("Claim in line = %+v, %v", got, err)
		}
	})
	_, err = a.RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", Fence: held.Row.Fence + 1})
	if err == nil {
		t.Error("a refresh with another fence is granted")
	}
	if _, err := a.RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", TTLSec: 60}); err != nil {
		t.Error(err)
	}
	if _, err := a.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"}); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if rows, _, err := c.Claims(ctx, hub.LeasesQuery{ActiveOnly: true}); err != nil || len(rows) != 1 || rows[0].OwnerAgentID != "b" {
		t.Errorf("Claims = %+v, %v", rows, err)
	}

	lock, err := a.Lock(ctx, hub.LockInput{AgentID: "a", FilePath: "./x//y.go"})
	if err != nil || !lock.Acquired || lock.Row.FilePath != "./x//y.go" {
		t.Fatalf("Lock = %+v, %v", lock, err)
	}
	if got, err := b.Lock(ctx, hub.LockInput{AgentID: "b", FilePath: "x/y.go"}); err != nil || got.Acquired {
		t.Errorf("Lock of the same file = %+v, %v", got, err)
	}
	if got, err := a.RefreshLock(ctx, hub.LockHoldInput{AgentID: "a", FilePath: "x/y.go"}); err != nil || !got.Acquired {
		t.Errorf("RefreshLock = %+v, %v", got, err)
	}
	if _, err := a.ReleaseLock(ctx, hub.LockHoldInput{AgentID: "a", FilePath: "x/y.go"}); err != nil {
		t.Error(err)
	}
	if rows, _, err := c.Locks(ctx, hub.LeasesQuery{ActiveOnly: true}); err != nil || len(rows) != 0 {
		t.Errorf("Locks = %+v, %v", rows, err)
	}
	_, err = a.ReleaseLock(ctx, hub.LockHoldInput{AgentID: "a", FilePath: "x/y.go"})
	hubError(t, err, hub.CodeNotHolder)
}

func TestTasksOverHTTP(t *testing.T) {
	ctx, c := t.Context(), clientOf(t, testhub.Start(t))
	a := join(t, c, "a")
	open := func(in hub.PostInput) hub.TaskID {
		t.Helper()
		in.FromAgent, in.Kind = "a", hub.KindTask
		got, err := a.Post(ctx, in)
		require.NoError(t, err)
		return body(t, got.Row).ID
	}
	parent := open(hub.PostInput{Body: "parent"})
	child := open(hub.PostInput{Body: "child", ParentTaskID: parent})
	got, err := a.UpdateTask(ctx, child, hub.TaskUpdateInput{Status: ptr(hub.TaskWorking), ExpectedVersion: 1})
	if err != nil || got.Row.Status != hub.TaskWorking {
		t.Fatalf("UpdateTask = %+v, %v", got, err)
	}
	_, err = a.UpdateTask(ctx, child, hub.TaskUpdateInput{Status: ptr(hub.TaskOpen), ExpectedVersion: 1})
	hubError(t, err, hub.CodeVersionConflict)
	tasks, _, err := a.Tasks(ctx, hub.TasksQuery{Active: true, ParentID: parent})
	if err != nil || len(tasks) != 1 || tasks[0].TaskID != child {
		t.Fatalf("Tasks = %+v, %v", tasks, err)
	}
	for range 2 {
		done, err := a.CompleteTask(ctx, child, hub.CompleteInput{AgentID: "a"})
		if err != nil || done.Row.Status != hub.TaskDone {
			t.Fatalf("CompleteTask = %+v, %v", done, err)
		}
	}
	if row, err := a.Task(ctx, parent, "a"); err != nil || row.Status != hub.TaskDone {
		t.Errorf("the parent = %+v, %v", row, err)
	}
	_, err = a.Task(ctx, 999, "a")
	hubError(t, err, hub.CodeTaskNotFound)
}

// TestTheSameKeyTakesEffectOnce: what the client's retries rest on.
func TestTheSameKeyTakesEffectOnce(t *testing.T) {
	c := clientOf(t, testhub.Start(t))
	ctx := hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "once"}})
	var ids []hub.MessageID
	for i := range 3 {
		got, err := c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "x"})
		if err != nil || !got.Created || got.Replayed != (i > 0) {
			t.Fatalf("Post %d = %+v, %v", i, got, err)
		}
		ids = append(ids, body(t, got.Row).ID)
	}
	if fmt.Sprint(ids) != "[1 1 1]" {
		t.Errorf("ids = %v", ids)
	}
	_, err := c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "another"})
	hubError(t, err, hub.CodeIdempotencyConflict)
}

func TestStatusAndShutdown(t *testing.T) {
	h := testhub.Start(t)
	ctx, c := t.Context(), clientOf(t, h)
	info, err := c.Info(ctx)
	require.NoError(t, err)
	instance, err := client.StoreInstance(h.Dir)
	if err != nil || instance != info.InstanceID {
		t.Errorf("the store is %q (%v), the hub says %q", instance, err, info.InstanceID)
	}
	status, err := c.AppStatus(ctx)
	if err != nil || status.StoragePath != info.StoragePath || status.Journal.State != hub.JournalOK {
		t.Errorf("AppStatus = %+v, %v", status, err)
	}
	if got, err := c.Debug(ctx, hub.DebugQuery{Stacks: true}); err != nil || got.OwnerCount == 0 || got.Stacks == "" {
		t.Errorf("Debug = %+v, %v", got, err)
	}
	if got, err := c.Debug(ctx, hub.DebugQuery{}); err != nil || got.Stacks != "" {
		t.Errorf("Debug without stacks = %+v, %v", got, err)
	}
	for _, q := range []hub.ProfileQuery{{Kind: hub.ProfileHeap}, {Kind: hub.ProfileCPU, For: time.Second}} {
		if got, err := c.Profile(ctx, q); err != nil || !bytes.HasPrefix(got, []byte{0x1f, 0x8b}) { // gzip
			t.Errorf("Profile %s = %d bytes, %v", q.Kind, len(got), err)
		}
	}
	_, err = c.Profile(ctx, hub.ProfileQuery{Kind: "block"})
	hubError(t, err, hub.CodeInvalid)
	if got, err := c.Shutdown(ctx, hub.ShutdownInput{DelaySec: ptr(600.0)}); err != nil || !got.Pending {
		t.Errorf("Shutdown = %+v, %v", got, err)
	}
	if got, err := c.ShutdownState(ctx); err != nil || !got.Pending || got.At == nil {
		t.Errorf("ShutdownState = %+v, %v", got, err)
	}
	if got, err := c.CancelShutdown(ctx); err != nil || got.Pending {
		t.Errorf("CancelShutdown = %+v, %v", got, err)
	}
	// The hub does not take a token that is not its own.
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "operator.token"), []byte("guess"), 0o600))
	_, err = c.Shutdown(ctx, hub.ShutdownInput{})
	hubError(t, err, hub.CodeOperatorRequired)
}

// TestACancelledPollReturnsAtOnce and frees its slot with the hub.
func TestACancelledPollReturnsAtOnce(t *testing.T) {
	h := testhub.Start(t)
	c := clientOf(t, h)
	left := errors.New("left")
	for range 2 * hub.MaxParkedPerAgent {
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Events(ctx, hub.EventsQuery{Agent: "b", Wait: time.Minute})
			if !errors.Is(err, left) {
				t.Errorf("err = %v, want the cause", err)
			}
		})
		cancel(left)
		wg.Wait()
	}
	// The hub learns of each by itself, soon.
	require.Eventually(t, "no parked poll", func() bool {
		status, err := c.AppStatus(t.Context())
		require.NoError(t, err)
		return status.Counts.ParkedPolls == 0
	})
}
