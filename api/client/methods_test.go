package client_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

func ptr[T any](v T) *T { return &v }

// methods is every method of the agent plane, with what it sends and decodes.
var methods = []asked{
	{
		name: "Register", method: "POST", uri: "/v1/sessions", body: `{"agent_id":"a","replace":false}`,
		answer: says(201, `{"ok":true,"result":{"session_id":"s.x","agent_id":"a","resume_key":"r"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Register(ctx, hub.RegisterInput{AgentID: "a", Replace: ptr(false)})
		},
		want: hub.Outcome[hub.Registered]{Created: true, Row: hub.Registered{
			Session: hub.Session{SessionID: "s.x", AgentID: "a"}, ResumeKey: "r",
		}},
	},
	{
		name: "Resume", method: "POST", uri: "/v1/sessions/resume", body: `{"prior_session_id":"s.x","resume_key":"r"}`,
		answer: says(201, `{"ok":true,"result":{"session_id":"s.y"}}`, "Idempotent-Replayed: true"),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Resume(ctx, hub.ResumeInput{PriorSessionID: "s.x", ResumeKey: "r"})
		},
		want: hub.Outcome[hub.Registered]{Created: true, Replayed: true, Row: hub.Registered{Session: hub.Session{SessionID: "s.y"}}},
	},
	{
		name: "Rename", method: "POST", uri: "/v1/sessions/a@b:c+d/rename", body: `{"display_name":"D"}`,
		answer: says(200, `{"ok":true,"result":{"agent_id":"a@b:c+d","display_name":"D"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Rename(ctx, "a@b:c+d", hub.RenameInput{DisplayName: "D"})
		},
		want: hub.Outcome[hub.Session]{Row: hub.Session{AgentID: "a@b:c+d", DisplayName: "D"}},
	},
	{
		name: "CloseSession", method: "DELETE", uri: "/v1/sessions/s.x%2Fy",
		answer: says(200, `{"ok":true,"result":{"session_id":"s","deleted":true}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.CloseSession(ctx, "s.x/y") },
		want:   hub.Outcome[hub.ClosedSession]{Row: hub.ClosedSession{SessionID: "s", Deleted: true}},
	},
	{
		name: "Agents", method: "GET", uri: "/v1/agents?as=me&capability=go+lang&prefix=g&room_id=r_1",
		answer: says(200, `{"ok":true,"result":[{"agent_id":"a"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Agents(ctx, hub.AgentsQuery{Capability: "go lang", Prefix: "g", RoomID: "r_1"}))
		},
		want: []hub.Session{{AgentID: "a"}},
	},
	{
		name: "Bootstrap", method: "GET", uri: "/v1/bootstrap?agent_id=a",
		answer: says(200, `{"ok":true,"result":{"agent_id":"a","latest_visible_id":9}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.Bootstrap(ctx, "a") },
		want:   hub.Bootstrap{AgentID: "a", LatestVisibleID: 9},
	},
	{
		name: "ToolSurfaces", method: "GET", uri: "/v1/tool-surface?harness=codex",
		answer: says(200, `{"ok":true,"result":[{"harness":"codex","surface":"full","default":true}]}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.ToolSurfaces(ctx, hub.HarnessCodex) },
		want:   []hub.ToolSurface{{Harness: hub.HarnessCodex, Surface: hub.SurfaceFull, Default: true}},
	},
	{
		name: "SetToolSurface", method: "PUT", uri: "/v1/tool-surface", body: `{"harness":"zed","surface":"progressive"}`,
		answer: says(200, `{"ok":true,"result":{"harness":"zed","surface":"progressive","default":false}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SetToolSurface(ctx, hub.ToolSurfaceInput{Harness: hub.HarnessZed, Surface: hub.SurfaceProgressive})
		},
		want: hub.Outcome[hub.ToolSurface]{Row: hub.ToolSurface{Harness: hub.HarnessZed, Surface: hub.SurfaceProgressive}},
	},
	{
		name: "Spawn", method: "POST", uri: "/v1/spawn",
		body:   `{"room_id":"r_1","harness":"codex","prompt":"go","by":"lead","agent_id":"helper","role":"tester","title":"t"}`,
		answer: says(201, `{"ok":true,"result":{"spawn_id":"sp_1","status":"running"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Spawn(ctx, hub.SpawnInput{
				RoomID: "r_1", Harness: hub.HarnessCodex, Prompt: "go", By: "lead", AgentID: "helper", Role: "tester", Title: "t",
			})
		},
		want: hub.Outcome[hub.Spawn]{Created: true, Row: hub.Spawn{SpawnID: "sp_1", Status: hub.SpawnRunning}},
	},
	{
		name: "StopSpawn", method: "POST", uri: "/v1/spawn/sp_1/stop", body: `{"agent_id":"lead"}`,
		answer: says(200, `{"ok":true,"result":{"spawn_id":"sp_1","stopping":true}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.StopSpawn(ctx, "sp_1", hub.SpawnStopInput{AgentID: "lead"})
		},
		want: hub.Outcome[hub.Spawn]{Row: hub.Spawn{SpawnID: "sp_1", Stopping: true}},
	},
	{
		name: "Spawns", method: "GET", uri: "/v1/spawn?active=true&before=sp_9&limit=5&room_id=r_1&status=running",
		answer: says(200, `{"ok":true,"result":[{"spawn_id":"sp_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Spawns(ctx, hub.SpawnsQuery{RoomID: "r_1", Status: hub.SpawnRunning, Active: true, Before: "sp_9", Limit: 5}))
		},
		want: []hub.Spawn{{SpawnID: "sp_1"}},
	},
	{
		name: "SpawnByID", method: "GET", uri: "/v1/spawn/sp_1",
		answer: says(200, `{"ok":true,"result":{"spawn_id":"sp_1"}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.SpawnByID(ctx, "sp_1") },
		want:   hub.Spawn{SpawnID: "sp_1"},
	},
	{
		name: "SpawnPolicy", method: "GET", uri: "/v1/spawn/policy",
		answer: says(200, `{"ok":true,"result":{"version":3}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.SpawnPolicy(ctx) },
		want:   hub.SpawnPolicy{Version: 3},
	},
	{
		name: "SetSpawnPolicy", method: "PUT", uri: "/v1/spawn/policy",
		body:   `{"commands":[{"harness":"codex","args":["/bin/codex"]}],"allow":[{"room_id":"r_1","harness":"codex"}],"version":2}`,
		answer: says(200, `{"ok":true,"result":{"version":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SetSpawnPolicy(ctx, hub.SpawnPolicyInput{
				Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/codex"}}},
				Allow:    []hub.SpawnAllowance{{RoomID: "r_1", Harness: hub.HarnessCodex}}, Version: 2,
			})
		},
		want: hub.Outcome[hub.SpawnPolicy]{Row: hub.SpawnPolicy{Version: 3}},
	},
	{
		name: "CreateChannel", method: "POST", uri: "/v1/channels", body: `{"name":"c"}`,
		answer: says(200, `{"ok":true,"result":{"name":"c"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateChannel(ctx, hub.ChannelInput{Name: "c"})
		},
		want: hub.Outcome[hub.Channel]{Row: hub.Channel{Name: "c"}},
	},
	{
		name: "Channels", method: "GET", uri: "/v1/channels?created_by=a&prefix=c", answer: says(200, `{"ok":true,"result":[{"name":"c"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Channels(ctx, hub.ChannelsQuery{Prefix: "c", CreatedBy: "a"}))
		},
		want: []hub.Channel{{Name: "c"}},
	},
	{
		name: "Remember", method: "POST", uri: "/v1/memory", body: `{"room_id":"r_1","text":"t","key":"k","tags":["a"],"scope":"project","by":"b"}`,
		answer: says(201, `{"ok":true,"result":{"memory_id":"m_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Remember(ctx, hub.MemoryInput{RoomID: "r_1", Text: "t", Key: "k", Tags: []string{"a"}, Scope: hub.ScopeProject, By: "b"})
		},
		want: hub.Outcome[hub.Memory]{Created: true, Row: hub.Memory{MemoryID: "m_1"}},
	},
	{
		name: "Recall", method: "GET", uri: "/v1/memory?history=true&key=k&limit=3&max_chars=9&memory_id=m_1&query=w&room_id=r_1&scope=room&tag=a",
		answer: says(200, `{"ok":true,"result":[{"memory_id":"m_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Recall(ctx, hub.MemoryQuery{RoomID: "r_1", MemoryID: "m_1", Scope: hub.ScopeRoom, Key: "k", Tag: "a", Query: "w", History: true, Limit: 3, MaxChars: 9}))
		},
		want: []hub.Memory{{MemoryID: "m_1"}},
	},
	{
		name: "Search", method: "GET",
		uri:    "/v1/search?agent_id=v&channel=c&from_agent=f&kind=chat&limit=5&q=two+words&room_id=r_1&since=2026-01-02T03%3A04%3A05.678Z&type=message&type=memory",
		answer: says(200, `{"ok":true,"result":[{"id":"7"}],"behind":2}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Search(ctx, hub.SearchQuery{
				Text: "two words", Viewer: "v", RoomID: "r_1", Channel: "c", FromAgent: "f", Kind: "chat",
				Types: []hub.FoundType{hub.FoundMessage, hub.FoundMemory}, Since: 1767323045678, Limit: 5,
			})
		},
		want: hub.SearchPage{Rows: []hub.Found{{ID: "7"}}, Behind: 2},
	},
	{
		name: "CreateProject", method: "POST", uri: "/v1/projects", body: `{"name":"P","slug":"p"}`,
		answer: says(201, `{"ok":true,"result":{"project_id":"p_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateProject(ctx, hub.ProjectInput{Name: "P", Slug: "p"})
		},
		want: hub.Outcome[hub.Project]{Created: true, Row: hub.Project{ProjectID: "p_1"}},
	},
	{
		name: "Projects", method: "GET", uri: "/v1/projects", answer: says(200, `{"ok":true,"result":[{"slug":"p"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Projects(ctx, hub.ProjectsQuery{}))
		},
		want: []hub.Project{{Slug: "p"}},
	},
	{
		name: "Project", method: "GET", uri: "/v1/projects/My%20%3F%25project", answer: says(200, `{"ok":true,"result":{"slug":"p"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Project(ctx, "My ?%project") },
		want: hub.Project{Slug: "p"},
	},
	{
		name: "CreateRoom", method: "POST", uri: "/v1/rooms", body: `{"project":"p","name":"R","topic":"t","force":true,"force_reason":"why"}`,
		answer: says(201, `{"ok":true,"result":{"room_id":"r_1","bindings":[]}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: "R", Topic: "t", Force: true, ForceReason: "why"})
		},
		want: hub.Outcome[hub.Room]{Created: true, Row: hub.Room{RoomID: "r_1", Bindings: []string{}}},
	},
	{
		name: "Rooms", method: "GET", uri: "/v1/rooms?project=p", answer: says(200, `{"ok":true,"result":[{"slug":"r"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Rooms(ctx, hub.RoomsQuery{Project: "p"}))
		},
		want: []hub.Room{{Slug: "r"}},
	},
	{
		name: "Room", method: "GET", uri: "/v1/rooms/My%20room?project=p", answer: says(200, `{"ok":true,"result":{"slug":"r"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Room(ctx, hub.RoomRef{Project: "p", Room: "My room"})
		},
		want: hub.Room{Slug: "r"},
	},
	{
		name: "Sit", method: "POST", uri: "/v1/rooms/r%2F1/seats", body: `{"agent_id":"a"}`,
		answer: says(200, `{"ok":true,"result":{"seat_id":"seat_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Sit(ctx, "r/1", hub.SitInput{AgentID: "a"})
		},
		want: hub.Outcome[hub.Seat]{Row: hub.Seat{SeatID: "seat_1"}},
	},
	{
		name: "BindRoom", method: "PUT", uri: "/v1/rooms/r_1/binding", body: `{"path":"/p","agent_id":"a"}`,
		answer: says(201, `{"ok":true,"result":{"room_id":"r_1","bindings":["/p"]}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.BindRoom(ctx, "r_1", hub.BindingInput{Path: "/p", AgentID: "a"})
		},
		want: hub.Outcome[hub.Room]{Created: true, Row: hub.Room{RoomID: "r_1", Bindings: []string{"/p"}}},
	},
	{
		name: "UnbindRoom", method: "DELETE", uri: "/v1/rooms/r%2F1/binding", body: `{"path":"/p"}`,
		answer: says(200, `{"ok":true,"result":{"room_id":"r_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.UnbindRoom(ctx, "r/1", hub.BindingInput{Path: "/p"})
		},
		want: hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1"}},
	},
	{
		name: "Resolve", method: "GET", uri: "/v1/resolve?path=%2Fa+b%26c", answer: says(200, `{"ok":true,"result":{"bound":false}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Resolve(ctx, "/a b&c") },
		want: hub.Resolved{},
	},
	{
		name: "Post", method: "POST", uri: "/v1/messages",
		body:   `{"from_agent":"a","channel":"c","to_agent":"b","kind":"task","body":"<&>","reply_to":3}`,
		answer: says(201, `{"ok":true,"result":{"id":7}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Post(ctx, hub.PostInput{FromAgent: "a", Channel: "c", ToAgent: "b", Kind: hub.KindTask, Body: "<&>", ReplyTo: 3})
		},
		want: hub.Outcome[hub.EncodedMessage]{Created: true, Row: hub.EncodedMessage(`{"id":7}`)},
	},
	{
		name: "Message", method: "GET", uri: "/v1/messages/7?agent_id=me", answer: says(200, `{"ok":true,"result":{"id":7}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Message(ctx, 7, "") },
		want: hub.EncodedMessage(`{"id":7}`),
	},
	{
		name: "Messages", method: "GET", uri: "/v1/messages?channel=c&limit=5&since_id=2&tail=true&thread_id=t&timeout=0",
		answer: says(200, `{"ok":true,"result":[],"next_since_id":2}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Messages(ctx, hub.MessagesQuery{Channel: "c", ThreadID: "t", Since: 2, Limit: 5, Tail: true})
		},
		want: hub.Page{Rows: []hub.EncodedMessage{}, NextSinceID: 2},
	},
	{
		name: "Events", method: "GET",
		uri:    "/v1/events?agent_id=a&channel=c&channel=d&exclude_self=true&limit=5&max_chars=80&peek=true&room_id=r&since_id=2&thread_id=t&timeout=1.5",
		answer: says(200, `{"ok":true,"result":[{"id":3},{"id":4}],"next_since_id":6}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Events(ctx, hub.EventsQuery{
				Agent: "a", Channels: []hub.ChannelName{"c", "d"}, RoomID: "r", ThreadID: "t", Since: 2,
				ExcludeSelf: true, Limit: 5, MaxChars: 80, Wait: 1500 * time.Millisecond, Peek: true,
			})
		},
		want: hub.Page{Rows: []hub.EncodedMessage{hub.EncodedMessage(`{"id":3}`), hub.EncodedMessage(`{"id":4}`)}, NextSinceID: 6},
	},
	{
		name: "Inbox", method: "GET", uri: "/v1/inbox/a?limit=1&peek=true&since_id=2&tail=true", answer: says(200, `{"ok":true,"result":[],"next_since_id":2}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Inbox(ctx, hub.InboxQuery{Agent: "a", Since: 2, Limit: 1, Tail: true, Peek: true})
		},
		want: hub.Page{Rows: []hub.EncodedMessage{}, NextSinceID: 2},
	},
	{
		name: "Threads", method: "GET", uri: "/v1/threads?agent_id=a&limit=3", answer: says(200, `{"ok":true,"result":[{"thread_id":"t"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Threads(ctx, hub.ThreadsQuery{Viewer: "a", Limit: 3}))
		},
		want: []hub.ThreadSummary{{ThreadID: "t"}},
	},
	{
		name: "Thread", method: "GET", uri: "/v1/threads/a%2Fb%20c?agent_id=me", answer: says(200, `{"ok":true,"result":{"thread":{"thread_id":"a/b c"}}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Thread(ctx, "a/b c", "") },
		want: hub.Thread{Thread: hub.ThreadSummary{ThreadID: "a/b c"}},
	},
	{
		name: "Claim", method: "POST", uri: "/v1/claims", body: `{"owner_agent_id":"a","claim_key":"k","ttl_sec":5}`,
		answer: says(200, `{"ok":true,"result":{"claim_key":"k","owner_agent_id":"b"},"acquired":false}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Claim(ctx, hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", TTLSec: 5})
		},
		want: hub.Grant[hub.Claim]{Row: hub.Claim{ClaimKey: "k", OwnerAgentID: "b"}},
	},
	{
		name: "RefreshClaim", method: "POST", uri: "/v1/claims/refresh", body: `{"claim_key":"k","owner_agent_id":"a","fence":4}`,
		answer: says(200, `{"ok":true,"result":{"claim_key":"k"},"acquired":true}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", Fence: 4})
		},
		want: hub.Grant[hub.Claim]{Row: hub.Claim{ClaimKey: "k"}, Acquired: true},
	},
	{
		name: "ReleaseClaim", method: "POST", uri: "/v1/claims/release", body: `{"claim_key":"k","agent_id":"a"}`,
		answer: says(200, `{"ok":true,"result":{"claim_key":"k"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"})
		},
		want: hub.Outcome[hub.Claim]{Row: hub.Claim{ClaimKey: "k"}},
	},
	{
		name: "Claims", method: "GET", uri: "/v1/claims?active_only=true&agent_id=v&claim_key=k&limit=2&owner_agent_id=o&prefix=p&room_id=r_1&thread_id=t", answer: says(200, `{"ok":true,"result":[]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Claims(ctx, hub.LeasesQuery{Key: "k", Prefix: "p", Owner: "o", RoomID: "r_1", ThreadID: "t", ActiveOnly: true, Viewer: "v", Limit: 2}))
		},
		want: []hub.Claim{},
	},
	{
		name: "Lock", method: "POST", uri: "/v1/locks", body: `{"file_path":"f","agent_id":"a"}`,
		answer: says(201, `{"ok":true,"result":{"file_path":"f"},"acquired":true}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Lock(ctx, hub.LockInput{FilePath: "f", AgentID: "a"})
		},
		want: hub.Grant[hub.Lock]{Row: hub.Lock{FilePath: "f"}, Acquired: true, Created: true},
	},
	{
		name: "RefreshLock", method: "POST", uri: "/v1/locks/refresh", body: `{"file_path":"f","agent_id":"a"}`,
		answer: says(200, `{"ok":true,"result":{"file_path":"f"},"acquired":true}`, "Idempotent-Replayed: true"),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.RefreshLock(ctx, hub.LockHoldInput{FilePath: "f", AgentID: "a"})
		},
		want: hub.Grant[hub.Lock]{Row: hub.Lock{FilePath: "f"}, Acquired: true, Replayed: true},
	},
	{
		name: "ReleaseLock", method: "POST", uri: "/v1/locks/release", body: `{"file_path":"f","agent_id":"a"}`,
		answer: says(200, `{"ok":true,"result":{"file_path":"f"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.ReleaseLock(ctx, hub.LockHoldInput{FilePath: "f", AgentID: "a"})
		},
		want: hub.Outcome[hub.Lock]{Row: hub.Lock{FilePath: "f"}},
	},
	{
		name: "Locks", method: "GET", uri: "/v1/locks?agent_id=me&file_path=a%2Fb&prefix=a", answer: says(200, `{"ok":true,"result":[]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Locks(ctx, hub.LeasesQuery{Key: "a/b", Prefix: "a"}))
		},
		want: []hub.Lock{},
	},
	{
		name: "Tasks", method: "GET", uri: "/v1/tasks?agent_id=a&assignee=d&channel=c&concerns=f&created_by=e&limit=4&parent_id=2&ready=false&status=active&thread_id=t",
		answer: says(200, `{"ok":true,"result":[{"task_id":3}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Tasks(ctx, hub.TasksQuery{
				Active: true, ParentID: 2, Channel: "c", ThreadID: "t", Ready: ptr(false), Viewer: "a", Limit: 4,
				Assignee: "d", CreatedBy: "e", Concerns: "f",
			}))
		},
		want: []hub.Task{{TaskID: 3}},
	},
	{
		name: "Task", method: "GET", uri: "/v1/tasks/3?agent_id=a", answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Task(ctx, 3, "a") },
		want: hub.Task{TaskID: 3},
	},
	{
		name: "Attention", method: "GET", uri: "/v1/attention?agent_id=me&room_id=r", answer: says(200, `{"ok":true,"result":{"unread":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Attention(ctx, hub.AttentionQuery{Room: "r"})
		},
		want: hub.Attention{Unread: 3},
	},
	{
		name: "Watch", method: "GET", uri: "/v1/watch?agent_id=me&label=l&room_id=r&timeout=1.5&until=message-from%3Aa&until=tasks-complete%3A1%2C2",
		answer: says(200, `{"ok":true,"result":{"met":true,"agent_id":"me"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Watch(ctx, hub.WatchQuery{
				Room: "r", Label: "l", Wait: 1500 * time.Millisecond,
				Until: []hub.Condition{{Text: "message-from:a"}, {Text: "tasks-complete:1,2"}},
			})
		},
		want: hub.Watched{Met: true, AgentID: "me"},
	},
	{
		name: "Tell", method: "POST", uri: "/v1/attention", body: `{"agent_id":"a","told_id":7}`, answer: says(200, `{"ok":true,"result":{"told_id":7,"moved":true}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.Tell(ctx, hub.ToldInput{AgentID: "a", ToldID: 7})
		},
		want: hub.Told{ToldID: 7, Moved: true},
	},
	{
		name: "CompleteTask", method: "POST", uri: "/v1/tasks/3/complete", body: `{"agent_id":"a","note":"n"}`,
		answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CompleteTask(ctx, 3, hub.CompleteInput{AgentID: "a", Note: "n"})
		},
		want: hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}},
	},
	{
		name: "UpdateTask", method: "POST", uri: "/v1/tasks/3", body: `{"status":"working","expected_version":2}`,
		answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.UpdateTask(ctx, 3, hub.TaskUpdateInput{Status: ptr(hub.TaskWorking), ExpectedVersion: 2})
		},
		want: hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}},
	},
	{
		name: "RoomStatus", method: "GET", uri: "/v1/rooms/r_1/status?agent_id=me&all=true", answer: says(200, `{"ok":true,"result":{"seat_count":2,"gone_count":1}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.RoomStatus(ctx, hub.StatusQuery{RoomID: "r_1", All: true})
		},
		want: hub.RoomStatus{SeatCount: 2, GoneCount: 1},
	},
	{
		name: "HandoffTask", method: "POST", uri: "/v1/tasks/3/handoff", body: `{"agent_id":"a","to_agent":"b","note":"n"}`,
		answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.HandoffTask(ctx, 3, hub.HandoffInput{AgentID: "a", ToAgent: "b", Note: "n"})
		},
		want: hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}},
	},
	{
		name: "AcceptTask", method: "POST", uri: "/v1/tasks/3/accept", body: `{"agent_id":"b"}`,
		answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.AcceptTask(ctx, 3, hub.OfferInput{AgentID: "b"})
		},
		want: hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}},
	},
	{
		name: "DeclineTask", method: "POST", uri: "/v1/tasks/3/decline", body: `{"agent_id":"b","note":"no"}`,
		answer: says(200, `{"ok":true,"result":{"task_id":3}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.DeclineTask(ctx, 3, hub.OfferInput{AgentID: "b", Note: "no"})
		},
		want: hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}},
	},
	{
		name: "CreateRun", method: "POST", uri: "/v1/runs", body: `{"title":"R","room_id":"r_1","task_ids":[3],"created_by":"a"}`,
		answer: says(201, `{"ok":true,"result":{"run_id":"run_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateRun(ctx, hub.RunInput{Title: "R", RoomID: "r_1", TaskIDs: []hub.TaskID{3}, CreatedBy: "a"})
		},
		want: hub.Outcome[hub.Run]{Created: true, Row: hub.Run{RunID: "run_1"}},
	},
	{
		name: "AddRunTasks", method: "POST", uri: "/v1/runs/run_1/tasks", body: `{"task_ids":[3],"agent_id":"a"}`,
		answer: says(200, `{"ok":true,"result":{"run_id":"run_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.AddRunTasks(ctx, "run_1", hub.RunTasksInput{TaskIDs: []hub.TaskID{3}, AgentID: "a"})
		},
		want: hub.Outcome[hub.Run]{Row: hub.Run{RunID: "run_1"}},
	},
	{
		name: "Runs", method: "GET", uri: "/v1/runs?agent_id=me&limit=5&room_id=r_1&status=active",
		answer: says(200, `{"ok":true,"result":[{"run_id":"run_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Runs(ctx, hub.RunsQuery{RoomID: "r_1", Active: true, Limit: 5}))
		},
		want: []hub.Run{{RunID: "run_1"}},
	},
	{
		name: "Run", method: "GET", uri: "/v1/runs/run_%2F1?agent_id=other", answer: says(200, `{"ok":true,"result":{"run_id":"run_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Run(ctx, "run_/1", "other") },
		want: hub.Run{RunID: "run_1"},
	},
}

// rowsOf is what a list returns, without its cursor: TestListsGoOn tests that.
func rowsOf[T any](rows []T, _ hub.Cursor, err error) (any, error) { return rows, err }

func TestMethods(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			h := newFakeHub(t, m.answer)
			c := h.client(t, func(cfg *client.Config) {
				cfg.OperatorToken = func(context.Context, hub.Info) (string, error) { return "token", nil }
			}).As("me", "")
			got, err := m.call(t.Context(), c)
			require.NoError(t, err)
			if !reflect.DeepEqual(got, m.want) {
				t.Errorf("got  %+v\nwant %+v", got, m.want)
			}
			requests := h.requests()
			r := requests[len(requests)-1] // an operator's call asks first whose hub it is
			if r.method != m.method || r.uri != m.uri {
				t.Errorf("sent %s %s\nwant %s %s", r.method, r.uri, m.method, m.uri)
			}
			if !sameJSON(r.body, m.body) {
				t.Errorf("sent the body %s, want %s", r.body, m.body)
			}
			if write := m.method != "GET"; write != (r.header.Get("Idempotency-Key") != "") {
				t.Errorf("Idempotency-Key = %q", r.header.Get("Idempotency-Key"))
			}
			if got := r.header.Get("Content-Type"); (r.body != "") != (got == "application/json") {
				t.Errorf("Content-Type = %q", got)
			}
			if got := r.header.Get("X-Hub-Session"); got != "" {
				t.Errorf("a session was sent: %q", got)
			}
		})
	}
}

// TestEveryMethodIsTested keeps the table complete.
func TestEveryMethodIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, m := range methods {
		tested[m.name] = true
	}
	service := reflect.TypeFor[hub.Service]()
	for i := range service.NumMethod() {
		if name := service.Method(i).Name; !tested[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

func sameJSON(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var va, vb any
	return json.Unmarshal([]byte(a), &va) == nil && json.Unmarshal([]byte(b), &vb) == nil && reflect.DeepEqual(va, vb)
}
