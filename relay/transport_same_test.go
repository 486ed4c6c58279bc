package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// agents are the clients of one run, by agent.
type agents map[string]*client.Client

// script is what TestSameOverBoth does on both ways, in this order. Each step
// returns what is compared.
var script = []struct {
	name string
	do   func(ctx context.Context, c agents, seen map[string]any) (any, error)
}{
	{"Info", func(ctx context.Context, c agents, _ map[string]any) (any, error) { return c["a"].Info(ctx) }},
	{"Register", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		out, err := c["a"].Register(ctx, hub.RegisterInput{AgentID: "a", Capabilities: []string{"go"}, Metadata: json.RawMessage(`{"x":"<ä>"}`)})
		seen["session"], seen["key"] = out.Row.SessionID, out.Row.ResumeKey
		return out, err
	}},
	{"Register without replacing", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Register(ctx, hub.RegisterInput{AgentID: "a", Replace: new(bool)})
	}},
	{"Rename", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Rename(ctx, "a", hub.RenameInput{DisplayName: "Ann"})
	}},
	{"Agents", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return onePage(c["b"].Agents(ctx, hub.AgentsQuery{Capability: "go"}))
	}},
	{"Bootstrap", func(ctx context.Context, c agents, _ map[string]any) (any, error) { return c["a"].Bootstrap(ctx, "a") }},
	{"CreateChannel", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].CreateChannel(ctx, hub.ChannelInput{Name: "x/y z", CreatedBy: "a"})
	}},
	{"CreateChannel again", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["b"].CreateChannel(ctx, hub.ChannelInput{Name: "x/y z", CreatedBy: "b"})
	}},
	{"Channels", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return onePage(c["b"].Channels(ctx, hub.ChannelsQuery{}))
	}},
	{"Post", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(ctx, hub.PostInput{
			FromAgent: "a", Channel: "x/y z", ThreadID: "t/ä?#%2F ..", Body: "<öffentlich>\n\u2028",
			Attachments: []hub.Attachment{{Type: hub.AttachmentJSON, Content: json.RawMessage(`{"a":[1,2]}`)}},
		})
	}},
	{"Post to one", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(ctx, hub.PostInput{FromAgent: "a", ToAgent: "b", ThreadID: "t/ä?#%2F ..", Body: "psst"})
	}},
	{"Post nowhere", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(ctx, hub.PostInput{FromAgent: "a", Channel: "none", Body: "x"})
	}},
	{"Post with a key", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(withKey(ctx, "once"), hub.PostInput{FromAgent: "a", Body: "once"})
	}},
	{"Post with the key again", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(withKey(ctx, "once"), hub.PostInput{FromAgent: "a", Body: "once"})
	}},
	{"Post with the key another", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Post(withKey(ctx, "once"), hub.PostInput{FromAgent: "a", Body: "another"})
	}},
	{"CreateChannel with the key", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].CreateChannel(withKey(ctx, "once"), hub.ChannelInput{Name: "k", CreatedBy: "a"})
	}},
	{"Message", func(ctx context.Context, c agents, _ map[string]any) (any, error) { return c["b"].Message(ctx, 2, "b") }},
	{"Message unseen", func(ctx context.Context, c agents, _ map[string]any) (any, error) { return c["c"].Message(ctx, 2, "c") }},
	{"Messages", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["c"].Messages(ctx, hub.MessagesQuery{Channel: "x/y z", Tail: true, Limit: 5})
	}},
	{"Messages waiting in vain", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["c"].Messages(ctx, hub.MessagesQuery{Channel: "x/y z", Since: 9, Wait: 200 * time.Millisecond})
	}},
	{"Events", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["b"].Events(ctx, hub.EventsQuery{Agent: "b", Channels: []hub.ChannelName{"general", "x/y z"}, MaxChars: 3, ExcludeSelf: true, Wait: 30 * time.Second})
	}},
	{"Events of a thread", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["c"].Events(ctx, hub.EventsQuery{Agent: "c", ThreadID: "t/ä?#%2F .."})
	}},
	{"Events of no room", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["c"].Events(ctx, hub.EventsQuery{Agent: "c", RoomID: "none"})
	}},
	{"Inbox", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["b"].Inbox(ctx, hub.InboxQuery{Agent: "b"})
	}},
	{"Threads", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return onePage(c["b"].Threads(ctx, hub.ThreadsQuery{Viewer: "b"}))
	}},
	{"Threads whose ids look like paths", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		var counts []int
		for _, id := range []hub.ThreadID{"https://example.org/pr/5", "../x", "a//b", "a/./b", "a/", "/a", ".", ".."} {
			_, err := c["a"].Post(ctx, hub.PostInput{FromAgent: "a", ThreadID: id, Body: "x"})
			if err != nil {
				return nil, err
			}
			thread, err := c["b"].Thread(ctx, id, "b")
			if err != nil {
				return nil, err
			}
			counts = append(counts, len(thread.Messages))
		}
		return counts, nil
	}},
	{"Thread", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["c"].Thread(ctx, "t/ä?#%2F ..", "c")
	}},
	{"Claim", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Claim(ctx, hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", ThreadID: "t"})
	}},
	{"Claim by another", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["b"].Claim(ctx, hub.ClaimInput{OwnerAgentID: "b", ClaimKey: "k", WaitSec: 0.1})
	}},
	{"RefreshClaim", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", TTLSec: 60})
	}},
	{"RefreshClaim stale", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", Fence: 99})
	}},
	{"Claims", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return onePage(c["b"].Claims(ctx, hub.LeasesQuery{ActiveOnly: true, ThreadID: "t"}))
	}},
	{"ReleaseClaim", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"})
	}},
	{"ReleaseClaim again", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"})
	}},
	{"Lock", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].Lock(ctx, hub.LockInput{AgentID: "a", FilePath: "./x//y.go"})
	}},
	{"RefreshLock", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].RefreshLock(ctx, hub.LockHoldInput{AgentID: "a", FilePath: "x/y.go"})
	}},
	{"Locks", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return onePage(c["b"].Locks(ctx, hub.LeasesQuery{ActiveOnly: true}))
	}},
	{"ReleaseLock", func(ctx context.Context, c agents, _ map[string]any) (any, error) {
		return c["a"].ReleaseLock(ctx, hub.LockHoldInput{AgentID: "a", FilePath: "x/y.go"})
	}},
	{"a task", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		out, err := c["a"].Post(ctx, hub.PostInput{FromAgent: "a", Kind: hub.KindTask, Body: "parent"})
		if err == nil {
			row, _ := out.Row.Decode()
			seen["task"] = row.ID
		}
		return out, err
	}},
	{"a subtask", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["a"].Post(ctx, hub.PostInput{FromAgent: "a", ToAgent: "b", Kind: hub.KindTaskRequest, Body: "child", ParentTaskID: seen["task"].(hub.TaskID)})
	}},
	{"UpdateTask", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		working := hub.TaskWorking
		return c["b"].UpdateTask(ctx, seen["task"].(hub.TaskID)+1, hub.TaskUpdateInput{AgentID: "b", Status: &working})
	}},
	{"Tasks", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return onePage(c["b"].Tasks(ctx, hub.TasksQuery{Active: true, ParentID: seen["task"].(hub.TaskID), Viewer: "b"}))
	}},
	{"CompleteTask", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["b"].CompleteTask(ctx, seen["task"].(hub.TaskID)+1, hub.CompleteInput{AgentID: "b", Note: "done"})
	}},
	{"Task", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["c"].Task(ctx, seen["task"].(hub.TaskID), "c")
	}},
	{"Task unseen", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["c"].Task(ctx, seen["task"].(hub.TaskID)+1, "c")
	}},
	{"Resume", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		out, err := c["a"].Resume(ctx, hub.ResumeInput{PriorSessionID: seen["session"].(hub.SessionID), ResumeKey: seen["key"].(string)})
		seen["session"] = out.Row.SessionID
		return out, err
	}},
	{"CloseSession", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["a"].CloseSession(ctx, seen["session"].(hub.SessionID), "")
	}},
	{"CloseSession again", func(ctx context.Context, c agents, seen map[string]any) (any, error) {
		return c["a"].CloseSession(ctx, seen["session"].(hub.SessionID), "")
	}},
}

func withKey(ctx context.Context, key string) context.Context {
	return hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: key}})
}

// own are what is another in each run: times, secrets, the store, and how the
// sender is known.
var own = regexp.MustCompile(`"([a-z_]*ts|[a-z]+_at|last_seen|activity_since|session_id|SessionID|resume_key|instance_id|storage_path|assurance)":"[^"]*"`)

// TestSameOverBoth: every method of the client gives the same over HTTP and
// through a spool.
func TestSameOverBoth(t *testing.T) {
	direct, behind := testhub.Start(t), testhub.Start(t)
	testhub.AwaitSearch(t, direct.URL) // Info lists the feature once the index is open
	testhub.AwaitSearch(t, behind.URL)
	dir := newSpool(t)
	serveSpool(t, dir, behind.URL)
	over, relayed := agents{}, agents{}
	for _, name := range []string{"a", "b", "c"} {
		over[name] = client.New(client.Config{BaseURL: direct.URL, Agent: hub.AgentID(name)})
		t.Cleanup(over[name].Close)
		relayed[name] = through(t, dir, hub.AgentID(name), nil)
	}
	overSeen, relayedSeen := map[string]any{}, map[string]any{}
	for _, step := range script {
		want, wantErr := step.do(t.Context(), over, overSeen)
		got, gotErr := step.do(t.Context(), relayed, relayedSeen)
		if wantErr != nil || gotErr != nil {
			if w, g := refusal(wantErr), refusal(gotErr); w == nil || !reflect.DeepEqual(w, g) {
				t.Errorf("%s:\n over HTTP %+v\n   relayed %+v", step.name, wantErr, gotErr)
			}
			continue
		}
		if w, g := plain(t, want), plain(t, got); w != g {
			t.Errorf("%s:\n over HTTP %s\n   relayed %s", step.name, w, g)
		}
	}
}

// plain renders what a step returned without what is its run's own.
func plain(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return own.ReplaceAllString(string(b), `"$1":"-"`)
}

func refusal(err error) *hub.Error {
	var e *hub.Error
	if err == nil || !errors.As(err, &e) {
		return nil
	}
	return e
}

// onePage is a page of a list as one value.
func onePage[T any](rows []T, next hub.Cursor, err error) (any, error) {
	return []any{rows, next}, err
}
