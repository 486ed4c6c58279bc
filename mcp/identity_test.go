package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// whoamiLine asks a bridge who it is.
func whoamiLine(r *rig) (hub.AgentID, string) {
	r.tb.Helper()
	res := r.try("hub_whoami", nil)
	if res.IsError {
		r.tb.Fatalf("hub_whoami: %s", text(res))
	}
	var b aboutMe
	r.must("hub_whoami", nil, &b)
	return b.AgentID, text(res)
}

// kept makes a bridge remember things in a data root.
func kept(root string, more func(*Config)) func(*Config) {
	return func(c *Config) {
		c.Agent, c.DataRoot = "", root
		if more != nil {
			more(c)
		}
	}
}

func slotted(root, name string) func(*Config) {
	return kept(root, func(c *Config) { c.ResumeKey = name })
}

func TestNamedAgentReplacesAndTheDisplacedSaysSo(t *testing.T) {
	h := testhub.Start(t)
	first := bridgeTo(t, h, nil)
	whoamiLine(first)
	second := bridgeTo(t, h, nil)
	whoamiLine(second)
	for range 2 {
		say := first.refused("hub_post_message", map[string]any{"body": "x"})
		if !strings.Contains(say, "session_replaced") || !strings.Contains(say, "registered as me") || !strings.Contains(say, "hub_join") {
			t.Fatalf("the displaced says %q", say)
		}
	}
	if id, _ := whoamiLine(second); id != "me" {
		t.Errorf("the second has become %s: the first fights", id)
	}
	// Also where the model is shown the meta-tools alone.
	first.must("hub_describe_tool", map[string]any{"name": "hub_join"}, nil)
	first.must("hub_call_tool", map[string]any{"name": "hub_join", "arguments": map[string]any{"agent_id": "other"}}, nil)
	if id, _ := whoamiLine(first); id != "other" {
		t.Errorf("after hub_join the displaced is %s", id)
	}
	if say := first.refused("hub_join", map[string]any{"agent_id": "me"}); !strings.Contains(say, "session_conflict") {
		t.Errorf("taking up a live agent says %q", say)
	}
}

// TestEndedSessionStaysEnded: a bridge whose session the operator ended tells the reason with
// each call, does not come back by itself, and does so when the agent asks.
func TestEndedSessionStaysEnded(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	whoamiLine(me)
	_, err := me.hub.EndSession(t.Context(), "me", hub.SessionEndInput{Reason: "the work is done"})
	require.NoError(t, err)
	for range 2 {
		say := me.refused("hub_post_message", map[string]any{"body": "x"})
		if !strings.Contains(say, "session_ended") || !strings.Contains(say, ": the work is done") || !strings.Contains(say, "hub_join") {
			t.Fatalf("the bridge says %q", say)
		}
	}
	agents, _, err := me.hub.Agents(t.Context(), hub.AgentsQuery{})
	require.NoError(t, err)
	if len(agents) != 0 {
		t.Errorf("live are %+v", agents)
	}
	me.must("hub_join", map[string]any{"agent_id": "me"}, nil)
	if id, _ := whoamiLine(me); id != "me" {
		t.Errorf("after hub_join the bridge is %s", id)
	}
}

// TestPausedToolsSayTheWords: a tool that a pause refuses tells the model the operator's words.
func TestPausedToolsSayTheWords(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	whoamiLine(me)
	_, err := me.hub.Pause(t.Context(), hub.PauseInput{AgentID: "me", Words: "merge first"})
	require.NoError(t, err)
	say := me.refused("hub_post_message", map[string]any{"body": "x"})
	if !strings.Contains(say, "the operator has paused agent me since ") || !strings.Contains(say, ": merge first") || !strings.Contains(say, "end your turn") {
		t.Errorf("the tool says %q", say)
	}
	me.must("hub_poll_messages", map[string]any{"timeout_seconds": 0}, nil)
}

// A call that waits when the session is displaced ends at once and says so.
func TestParkedCallHearsOfDisplacement(t *testing.T) {
	h := testhub.Start(t)
	first := bridgeTo(t, h, nil)
	whoamiLine(first)
	said := make(chan string, 1)
	go func() { said <- text(first.try("hub_poll_messages", map[string]any{"timeout_seconds": 40})) }()
	awaitParked(t, first, "me")
	second := bridgeTo(t, h, nil)
	whoamiLine(second)
	select {
	case say := <-said:
		if !strings.Contains(say, "session_replaced") {
			t.Errorf("the parked call says %q", say)
		}
	case <-time.After(30 * time.Second):
		t.Error("the parked call does not end")
	}
}

// awaitParked waits until a poll of the agent waits at the hub.
func awaitParked(t *testing.T, r *rig, agent hub.AgentID) {
	t.Helper()
	require.Eventually(t, "a parked call of "+string(agent), func() bool {
		s, err := r.hub.AppStatus(context.Background())
		return err == nil && s.Counts.ParkedPolls > 0
	})
}

func TestSessionOutlivesAHubRestart(t *testing.T) {
	addr := freeAddress(t)
	dir := filepath.Join(t.TempDir(), "store")
	h := testhub.Start(t, testhub.Dir(dir), at(addr))
	me := bridgeTo(t, h, nil)
	var before, after aboutMe
	me.must("hub_whoami", nil, &before)
	require.NoError(t, h.Stop())
	testhub.Start(t, testhub.Dir(dir), at(addr))
	me.must("hub_whoami", nil, &after)
	if after.Session == "" || after.Session != before.Session || after.AgentID != "me" {
		t.Errorf("after the restart the session is %q, was %q", after.Session, before.Session)
	}
}

func TestOtherStoreRegistersAnewAndSaysSo(t *testing.T) {
	addr := freeAddress(t)
	h := testhub.Start(t, at(addr))
	me := bridgeTo(t, h, nil)
	whoamiLine(me)
	for range 3 {
		me.must("hub_post_message", map[string]any{"body": "in the old store"}, nil)
	}
	me.must("hub_poll_messages", map[string]any{"timeout_seconds": 0.01}, nil)
	require.NoError(t, h.Stop())
	testhub.Start(t, at(addr), dataRootOf(h))
	if id, line := whoamiLine(me); id != "me" || !strings.Contains(line, "another store") {
		t.Errorf("in another store it is %s and says %q", id, line)
	}
	// Its first message has an id that the old store had given out.
	if _, err := me.hub.Post(context.Background(), hub.PostInput{FromAgent: "you", ToAgent: "me", Body: "in the new store"}); err != nil {
		t.Fatal(err)
	}
	if res := me.try("hub_poll_messages", map[string]any{"timeout_seconds": 5}); !strings.Contains(mustJSON(t, res.StructuredContent)+text(res), "in the new store") {
		t.Errorf("in another store it hears %s", text(res))
	}
}

func TestNoHubSaysWhatToDo(t *testing.T) {
	addr := freeAddress(t)
	h := testhub.Start(t, at(addr))
	require.NoError(t, h.Stop())
	me := bridgeTo(t, h, nil)
	list, err := me.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) == 0 {
		t.Errorf("without a hub the list: %v", err)
	}
	say := me.refused("hub_whoami", nil)
	if !strings.Contains(say, "unreachable") || !strings.Contains(say, "hubcli ensure") {
		t.Errorf("without a hub a call says %q", say)
	}
	testhub.Start(t, at(addr))
	if id, _ := whoamiLine(me); id != "me" {
		t.Errorf("when the hub is there it is %s", id)
	}
}

func TestSlotResumesTheJoinedIdentity(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	first := bridgeTo(t, h, slotted(root, "s1"))
	if id, _ := whoamiLine(first); id != "mcp-client" {
		t.Fatalf("it begins as %s", id)
	}
	code := invite(t, first, "builder")
	first.must("hub_join", map[string]any{"code": code}, nil)
	id, _ := whoamiLine(first)
	if id != "builder" {
		t.Fatalf("hub_join made it %s", id)
	}
	for range 3 { // each restart rotates the key
		first.end()
		first = bridgeTo(t, h, slotted(root, "s1"))
		if id, line := whoamiLine(first); id != "builder" || strings.Contains(line, "anew") {
			t.Fatalf("the restarted bridge is %s and says %q", id, line)
		}
	}
	first.end()
	info, err := os.Stat(filepath.Join(root, "slots", "key-s1.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the slot: %v %v", info.Mode(), err)
	}
	if info, err = os.Stat(filepath.Join(root, "slots")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of slots: %v %v", info.Mode(), err)
	}
	// Without the slot it is another agent, and none that there was.
	other := bridgeTo(t, h, slotted(root, "s2"))
	if id, _ := whoamiLine(other); !strings.HasPrefix(string(id), "mcp-client-") {
		t.Errorf("another slot gives %s", id)
	}
}

// A harness session has one agent, whoever begins, and the hook follows a join.
func TestHookAndBridgeAreOneAgent(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	inSession := func(id string) func(*Config) {
		return kept(root, func(c *Config) {
			c.Harness = "claude-code"
			c.Getenv = func(name string) string {
				return map[string]string{"CLAUDE_CODE_SESSION_ID": id, "CLAUDECODE": "1"}[name]
			}
		})
	}
	one, two := bridgeTo(t, h, inSession("one")), bridgeTo(t, h, inSession("two"))
	a, _ := whoamiLine(one)
	b, _ := whoamiLine(two)
	if a != identity.AgentOf(hub.HarnessClaudeCode, "one") || b != identity.AgentOf(hub.HarnessClaudeCode, "two") {
		t.Fatalf("two sessions are %s and %s", a, b)
	}
	if known, ok := identity.SessionsOf(root).Load("one"); !ok || known.AgentID != a {
		t.Errorf("hooks of the session know %+v", known)
	}
	one.must("hub_join", map[string]any{"agent_id": "joined"}, nil)
	if known, ok := identity.SessionsOf(root).Load("one"); !ok || known.AgentID != "joined" {
		t.Errorf("after the join hooks of the session know %+v", known)
	}
	one.end()
	again := bridgeTo(t, h, inSession("one"))
	if id, _ := whoamiLine(again); id != "joined" {
		t.Errorf("the bridge that the harness restarts in the session is %s", id)
	}
	twice := bridgeTo(t, h, inSession("one"))
	if id, line := whoamiLine(twice); id != "joined-2" || line == "" {
		t.Errorf("a second bridge of one session is %s: %s", id, line)
	}
}

// In another store the room that the agent had joined is nobody's or another
// team's: the bridge is in none, whatever call comes first, and says so once.
func TestOtherStoreForgetsTheRoom(t *testing.T) {
	for _, first := range []string{"hub_whoami", "hub_post_message", "hub_list_agents"} {
		t.Run(first, func(t *testing.T) {
			addr := freeAddress(t)
			h := testhub.Start(t, at(addr))
			me := bridgeTo(t, h, nil)
			var joined joinOut
			me.must("hub_join", map[string]any{"code": invite(t, me, "me"), "agent_id": "me"}, &joined)
			require.NoError(t, h.Stop())
			strangers := roomOfStrangers(t, me, h, addr, joined.Room.RoomID)
			body := map[string]any(nil)
			if first == "hub_post_message" {
				body = map[string]any{"body": "for my team"}
			}
			res := me.try(first, body)
			if say := text(res); !strings.Contains(say, "another store") || res.IsError != (body != nil) {
				t.Errorf("%s says %q", first, say)
			}
			if say := text(me.try("hub_list_agents", nil)); strings.Contains(say, "another store") {
				t.Errorf("it says so again: %q", say)
			}
			me.must("hub_post_message", map[string]any{"body": "for everybody"}, nil)
			page, err := me.hub.Events(context.Background(), hub.EventsQuery{Agent: "stranger", Channels: []hub.ChannelName{strangers.Channel}, Limit: 100})
			require.NoError(t, err)
			rows, err := decodeRows(page.Rows)
			for _, row := range rows {
				if row.FromAgent == "me" {
					t.Errorf("the room of others holds %q", row.Body)
				}
			}
			if err != nil {
				t.Error(err)
			}
			var now aboutMe
			if me.must("hub_whoami", nil, &now); now.RoomID != "" || now.Channel != hub.DefaultChannel {
				t.Errorf("it is in %s and posts to %s", now.RoomID, now.Channel)
			}
		})
	}
}

// dataRootOf has a hub noted where another one was.
func dataRootOf(h *testhub.Hub) testhub.Option {
	return testhub.With(func(c *supervisor.Config) { c.DataRoot = h.DataRoot })
}

// roomOfStrangers starts a hub with another store, in which the room of that id is
// another. Ids are numbers of records, and the bridge may make some meanwhile:
// then it is tried again.
func roomOfStrangers(t *testing.T, r *rig, before *testhub.Hub, addr string, id hub.RoomID) hub.Room {
	t.Helper()
	ctx := context.Background()
	for range 20 {
		h := testhub.Start(t, at(addr), dataRootOf(before))
		p, err := r.hub.CreateProject(ctx, hub.ProjectInput{Name: "Strangers"})
		for n := 0; err == nil; n++ {
			var room hub.Outcome[hub.Room]
			room, err = r.hub.CreateRoom(ctx, hub.RoomInput{Project: string(p.Row.ProjectID), Name: "Room " + strings.Repeat("x", 8*n+1), Force: true, ForceReason: "its id"})
			if err == nil && room.Row.RoomID == id {
				return room.Row
			}
			if n > 20 {
				break
			}
		}
		require.NoError(t, err)
		require.NoError(t, h.Stop())
	}
	t.Fatalf("no other store has a room %s", id)
	return hub.Room{}
}

// A room that is not there keeps nobody from hearing who it is.
func TestWhoamiOutlivesItsRoom(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, func(c *Config) {
		c.Getenv = func(name string) string { return map[string]string{"HUB_ROOM": "r_404"}[name] }
	})
	var now aboutMe
	if me.must("hub_whoami", nil, &now); now.AgentID != "me" || now.RoomID != "" {
		t.Errorf("it is %+v", now)
	}
}

// A slot holds for one store.
func TestSlotIsNotResumedInAnotherStore(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	first := bridgeTo(t, h, slotted(root, "s"))
	first.must("hub_join", map[string]any{"code": invite(t, first, "builder")}, nil)
	first.end()
	url := h.URL
	require.NoError(t, h.Stop())
	other := testhub.Start(t, at(strings.TrimPrefix(url, "http://")))
	second := bridgeTo(t, other, slotted(root, "s"))
	if say := text(second.try("hub_list_agents", nil)); !strings.Contains(say, "another store") {
		t.Errorf("in another store it says %q", say)
	}
	var now aboutMe
	if second.must("hub_whoami", nil, &now); now.AgentID != "builder" || now.RoomID != "" {
		t.Errorf("in another store it is %s in %s", now.AgentID, now.RoomID)
	}
}

// TestSessionsOfOneProcessAreTheirOwnAgents: Codex runs several sessions in one process
// and names the session in each call. Each bridge is the agent that the hook of its
// session has, and is nobody before it is called.
func TestSessionsOfOneProcessAreTheirOwnAgents(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	who := hub.AgentID("of-a-hook")
	require.NoError(t, identity.SessionsOf(root).Replace("thread-1", identity.Binding{AgentID: who, BaseURL: h.URL}))
	for thread, want := range map[string]hub.AgentID{"thread-1": who, "thread-2": identity.AgentOf(hub.HarnessCodex, "thread-2")} {
		var said string
		spokenTo(t, h, kept(root, func(c *Config) {
			c.Parent = os.Getppid
			c.Process = process.Look
		}), func(b *bridge, say func(string), next func() spokenLine) {
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}`)
			next()
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			next()
			if s := b.link.Current(); s != nil {
				t.Errorf("before its first call it is %s", s.Agent)
			}
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hub_whoami","_meta":{"threadId":%q}}}`, thread))
			said = string(next().Result)
			say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"hub_whoami","_meta":{"threadId":"thread-3"}}}`)
			if again := string(next().Result); !strings.Contains(again, string(want)) {
				t.Errorf("a call that names another session says %s", again)
			}
		})
		if !strings.Contains(said, `"`+string(want)+`"`) {
			t.Errorf("the session %s is %s, want %s", thread, said, want)
		}
	}
}

// TestCalledBridgeOfADrivenSessionIsTheAgent: Gemini CLI starts a bridge before its session,
// and one for the session. The one that is never called takes no name from the other.
func TestCalledBridgeOfADrivenSessionIsTheAgent(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	driven := func(c *Config) {
		c.Getenv = func(name string) string {
			return map[string]string{hook.EnvAgent: "ada", hook.EnvDriven: "1"}[name]
		}
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gemini-cli-mcp-client","version":"1"}}}`
	spokenTo(t, h, kept(root, driven), func(idle *bridge, say func(string), next func() spokenLine) {
		say(hello)
		next()
		spokenTo(t, h, kept(root, driven), func(_ *bridge, say func(string), next func() spokenLine) {
			say(hello)
			next()
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami"}}`)
			if said := string(next().Result); !strings.Contains(said, `"ada"`) {
				t.Errorf("the bridge that is called says %s", said)
			}
		})
		if s := idle.link.Current(); s != nil {
			t.Errorf("the other is %s", s.Agent)
		}
	})
}
