package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// woken notes the turns that a bridge begins.
type woken struct {
	mu    sync.Mutex
	turns []string
	fails bool
	alone atomic.Bool  // nobody follows the session
	later atomic.Int64 // by how much the clock of the bridge is ahead
}

func (w *woken) begin(_ context.Context, thread, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turns = append(w.turns, thread+": "+text)
	if w.fails {
		return errors.New("no such thread")
	}
	return nil
}

func (w *woken) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.turns)
}

// codexSession talks as a session of Codex does that is agent me in a bound folder, of
// which something has begun a turn. It ends the session after talk.
func codexSession(t *testing.T, trigger string, w *woken, talk func(lead *rig, room hub.RoomID)) {
	t.Helper()
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(dir, "lead"))
	room := bound(t, lead, dir)
	codexIn(t, h, dir, lead, trigger, w, func() { talk(lead, room) })
}

// codexIn is codexSession in a folder that may be bound to no room.
func codexIn(t *testing.T, h *testhub.Hub, dir string, lead *rig, trigger string, w *woken, talk func()) {
	t.Helper()
	lead.must("hub_whoami", nil, nil)
	spokenTo(t, h, func(c *Config) {
		in(dir, "me")(c)
		c.Harness, c.Wake = "codex", w.begin
		c.Followed = func(thread string) bool { return thread == "th-1" && !w.alone.Load() }
		c.Now = func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }
	}, func(b *bridge, say func(string), next func() spokenLine) {
		b.link.Look = 10 * time.Millisecond
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}`)
		next()
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami","_meta":{"threadId":"th-1","x-codex-turn-metadata":{"turn_trigger":%q}}}}`, trigger))
		next()
		talk()
	})
}

// TestSessionInNoRoomIsWoken: a direct message begins a turn of a session in a folder without a
// room, and hub_watch waits there for messages, too. Only a condition about a room needs one.
func TestSessionInNoRoomIsWoken(t *testing.T) {
	t.Parallel()
	h, dir, w := testhub.Start(t), t.TempDir(), &woken{}
	lead := bridgeTo(t, h, in(dir, "lead"))
	codexIn(t, h, dir, lead, "user", w, func() {
		ctx := context.Background()
		_, err := lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
		require.NoError(t, err)
		require.Eventually(t, "nothing waits for messages to me", func() bool { return listening(lead, "me") == hub.ListenerArmed })
		_, err = lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "wake up"})
		require.NoError(t, err)
		require.Eventually(t, "it is not woken", func() bool { return w.count() == 1 })
	})
	var waits watchCommand
	lead.must("hub_watch", nil, &waits)
	if waits.RoomID != "" || strings.Contains(waits.Command, "--room") || !strings.Contains(waits.Command, "watch --agent lead") {
		t.Errorf("the watch of no room is %+v", waits)
	}
	if said := lead.refused("hub_watch", map[string]any{"until": []string{"task-ready"}}); !strings.Contains(said, "no room is named") {
		t.Errorf("task-ready without a room: %s", said)
	}
}

// listening says whether something would wake an agent.
func listening(lead *rig, agent hub.AgentID) hub.Listener {
	rows, _, err := lead.hub.Agents(context.Background(), hub.AgentsQuery{Prefix: string(agent), Limit: 1})
	if err != nil || len(rows) == 0 {
		return hub.ListenerUnknown
	}
	return rows[0].Listener
}

// looks counts how often a bridge has asked what its agent does and what waits for it.
func looks(t *testing.T, lead *rig) (n float64) {
	t.Helper()
	r, err := http.Get(lead.hub.BaseURL() + "/metrics")
	require.NoError(t, err)
	defer r.Body.Close()
	page, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^hub_http_calls_total\{.*operation="getAttention".*\} (\S+)$`).FindAllSubmatch(page, -1) {
		calls, err := strconv.ParseFloat(string(m[1]), 64)
		require.NoError(t, err)
		n += calls
	}
	return n
}

// TestNobodyFollowsTheSession: a session whose terminal was quit is not woken, nothing waits for
// messages to it, and it is shown so. With a terminal again the messages of the meantime wake it.
func TestNobodyFollowsTheSession(t *testing.T) {
	t.Parallel()
	w := &woken{}
	codexSession(t, "user", w, func(lead *rig, _ hub.RoomID) {
		ctx := context.Background()
		activity := func() hub.Activity {
			rows, _, err := lead.hub.Agents(ctx, hub.AgentsQuery{Prefix: "me", Limit: 1})
			if err != nil || len(rows) == 0 {
				return ""
			}
			return rows[0].Activity
		}
		_, err := lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
		require.NoError(t, err)
		require.Eventually(t, "nothing waits for messages to me", func() bool { return listening(lead, "me") == hub.ListenerArmed })
		w.alone.Store(true)
		require.Eventually(t, "it waits for messages without a terminal", func() bool { return listening(lead, "me") == hub.ListenerNone })
		require.Eventually(t, "it is not shown", func() bool { return activity() == hub.ActivityNoTerminal })
		out, err := lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "anybody there?"})
		require.NoError(t, err)
		if out.Recipient == nil || out.Recipient.State == hub.RecipientLive {
			t.Errorf("the sender is told %+v", out.Recipient)
		}
		if w.count() != 0 {
			t.Error("a turn is begun that nobody follows")
		}
		w.alone.Store(false)
		require.Eventually(t, "it is not woken with a terminal", func() bool { return w.count() == 1 })
	})
}

// TestIdleSessionIsWokenOnce: a message begins one turn of an idle session, with a text
// of the hub's own. A turn under way is left alone, and so are messages that a hook has
// shown.
func TestIdleSessionIsWokenOnce(t *testing.T) {
	t.Parallel()
	w := &woken{}
	codexSession(t, "user", w, func(lead *rig, _ hub.RoomID) {
		ctx := context.Background()
		turn := func(turn hub.Turn) {
			_, err := lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: turn})
			require.NoError(t, err)
		}
		post := func(body string) hub.MessageID {
			_, err := lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: body})
			require.NoError(t, err)
			a, err := lead.hub.Attention(ctx, hub.AttentionQuery{Agent: "me"})
			require.NoError(t, err)
			return a.HeadID
		}
		told := func(id hub.MessageID) {
			_, err := lead.hub.Tell(ctx, hub.ToldInput{AgentID: "me", ToldID: id})
			require.NoError(t, err)
		}
		turn(hub.TurnIdle)
		require.Eventually(t, "nothing waits for messages to me", func() bool { return listening(lead, "me") == hub.ListenerArmed })
		first := post("SECRET WORDS")
		require.Eventually(t, "no turn is begun", func() bool { return w.count() == 1 })
		if got := w.turns[0]; !strings.HasPrefix(got, "th-1: There are new messages for you") || strings.Contains(got, "SECRET") {
			t.Errorf("a turn begins with %q", got)
		}
		turn(hub.TurnWorking)
		told(first)

		second := post("during the turn")
		require.Eventually(t, "it does not look for the end of the turn", func() bool { return listening(lead, "me") == hub.ListenerNone })
		looked := looks(t, lead)
		require.Eventually(t, "it does not look again and again", func() bool { return looks(t, lead) >= looked+3 || w.count() > 1 })
		if w.count() != 1 {
			t.Errorf("a turn was begun during another: %q", w.turns)
		}
		told(second) // by a hook
		require.Eventually(t, "it does not wait again", func() bool { return listening(lead, "me") == hub.ListenerArmed })
		third := post("at the end of the turn")
		turn(hub.TurnIdle)
		require.Eventually(t, "no second turn is begun", func() bool { return w.count() == 2 })
		turn(hub.TurnWorking)
		told(third)
		require.Eventually(t, "it does not wait again", func() bool { return listening(lead, "me") == hub.ListenerArmed })
		if w.count() != 2 {
			t.Errorf("it has begun the turns %q", w.turns)
		}
	})
}

// TestTurnsAreBegunAtAPace: a session whose messages never end is not woken without end.
func TestTurnsAreBegunAtAPace(t *testing.T) {
	t.Parallel()
	w := &woken{}
	codexSession(t, "user", w, func(lead *rig, _ hub.RoomID) {
		ctx, began := context.Background(), time.Now()
		for i := 1; i <= 11; i++ {
			_, err := lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
			require.NoError(t, err)
			_, err = lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "thank you"})
			require.NoError(t, err)
			require.Eventually(t, "no turn is begun", func() bool { return w.count() == i })
			if most := 8 + int(time.Since(began)/(2500*time.Millisecond)) + 1; i > most {
				t.Fatalf("%d turns were begun in %s", i, time.Since(began))
			}
			_, err = lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: hub.TurnWorking})
			require.NoError(t, err)
			a, err := lead.hub.Attention(ctx, hub.AttentionQuery{Agent: "me"})
			require.NoError(t, err)
			_, err = lead.hub.Tell(ctx, hub.ToldInput{AgentID: "me", ToldID: a.HeadID})
			require.NoError(t, err)
		}
	})
}

// TestSessionWithAnInputFileIsWoken: a session of Qwen Code gets a text of the hub's own
// when a message comes, if it was begun with a means for that. Any other is not woken.
func TestSessionWithAnInputFileIsWoken(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]bool{"with one": true, "without": false} {
		w := &woken{}
		h, dir := testhub.Start(t), t.TempDir()
		lead := bridgeTo(t, h, in(dir, "lead"))
		bound(t, lead, dir)
		lead.must("hub_whoami", nil, nil)
		spokenTo(t, h, func(c *Config) {
			in(dir, "me")(c)
			c.Harness = "qwen-code"
			if takes {
				c.Input = func(ctx context.Context, text string) error { return w.begin(ctx, "", text) }
			}
		}, func(_ *bridge, say func(string), next func() spokenLine) {
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"qwen","version":"1"}}}`)
			next()
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami"}}`)
			next()
			_, err := lead.hub.NoteTurn(context.Background(), hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
			require.NoError(t, err)
			if takes {
				require.Eventually(t, name+": nothing waits for messages", func() bool { return listening(lead, "me") == hub.ListenerArmed })
			}
			_, err = lead.hub.Post(context.Background(), hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "SECRET"})
			require.NoError(t, err)
			if !takes {
				for range 100 {
					if got := listening(lead, "me"); got != hub.ListenerNone {
						t.Fatalf("%s: me is %s", name, got)
					}
				}
				return
			}
			require.Eventually(t, name+": no turn is begun", func() bool { return w.count() == 1 })
			if got := w.turns[0]; strings.Contains(got, "SECRET") {
				t.Errorf("a turn begins with %q", got)
			}
		})
	}
}

// TestSessionThatEndsWithItsTurnIsNotWoken: nothing claims to wake codex exec.
func TestSessionThatEndsWithItsTurnIsNotWoken(t *testing.T) {
	t.Parallel()
	w := &woken{}
	codexSession(t, "exec", w, func(lead *rig, _ hub.RoomID) {
		_, err := lead.hub.NoteTurn(context.Background(), hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
		require.NoError(t, err)
		_, err = lead.hub.Post(context.Background(), hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "x"})
		require.NoError(t, err)
		for range 100 { // a bridge that waited would be seen at the first or second look
			if got := listening(lead, "me"); got != hub.ListenerNone || w.count() != 0 {
				t.Fatalf("me is %s, and the turns %q were begun", got, w.turns)
			}
		}
	})
}

// TestWakeThatFailsEnds: a bridge that cannot begin a turn stops to wait for messages, so
// that nobody believes that the agent is woken.
func TestWakeThatFailsEnds(t *testing.T) {
	t.Parallel()
	w := &woken{fails: true}
	codexSession(t, "user", w, func(lead *rig, _ hub.RoomID) {
		_, err := lead.hub.NoteTurn(context.Background(), hub.TurnInput{AgentID: "me", Turn: hub.TurnIdle})
		require.NoError(t, err)
		_, err = lead.hub.Post(context.Background(), hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "x"})
		require.NoError(t, err)
		require.Eventually(t, "it has not tried three times", func() bool { return w.count() == 3 })
		require.Eventually(t, "it waits on", func() bool { return listening(lead, "me") == hub.ListenerNone })
	})
}

// TestBrokenTurnIsNoReasonToSleep: Codex calls no hook when its user breaks a turn off. After
// a while without a call a message begins another turn, once.
func TestBrokenTurnIsNoReasonToSleep(t *testing.T) {
	t.Parallel()
	w := &woken{}
	codexSession(t, "user", w, func(lead *rig, _ hub.RoomID) {
		ctx := context.Background()
		_, err := lead.hub.NoteTurn(ctx, hub.TurnInput{AgentID: "me", Turn: hub.TurnWorking})
		require.NoError(t, err)
		_, err = lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "x"})
		require.NoError(t, err)
		for range 100 {
			if listening(lead, "me"); w.count() != 0 {
				t.Fatal("a turn is begun while another is under way")
			}
		}
		w.later.Store(int64(3 * time.Minute))
		require.Eventually(t, "no turn is begun", func() bool { return w.count() == 1 })
		a, err := lead.hub.Attention(ctx, hub.AttentionQuery{Agent: "me"})
		require.NoError(t, err)
		_, err = lead.hub.Tell(ctx, hub.ToldInput{AgentID: "me", ToldID: a.HeadID})
		require.NoError(t, err)
		_, err = lead.hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "me", Body: "in the same turn"})
		require.NoError(t, err)
		for range 100 {
			if listening(lead, "me"); w.count() != 1 {
				t.Fatal("another turn is begun in the same one")
			}
		}
	})
}

// streaming shows me its messages by a stream, as a monitor does, until stop is called.
func streaming(t *testing.T, lead *rig, room hub.RoomID) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for after := hub.MessageID(0); ctx.Err() == nil; {
			got, err := lead.hub.Watch(ctx, hub.WatchQuery{
				Agent: "me", Room: room, Until: []hub.Condition{{Kind: hub.UntilForMe, Text: "for-me"}}, Label: "monitor", Stream: true, After: after, Wait: time.Minute,
			})
			if err != nil {
				return
			}
			after = got.HeadID
		}
	}()
	return func() { cancel(); <-ended }
}

// TestChannelOfClaudeCode: a session of Claude Code that was begun for the channel of the hub is
// offered it, and gets one notification for messages while it is idle: one that says where they are, and
// none of their words. No other session is offered one, and beside a stream nothing is sent.
func TestChannelOfClaudeCode(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}}}`
	for name, tt := range map[string]struct{ flag, stream bool }{"a flag": {true, false}, "no flag": {false, false}, "a stream": {true, true}} {
		t.Run(name, func(t *testing.T) {
			h, dir := testhub.Start(t), t.TempDir()
			lead := bridgeTo(t, h, in(dir, "lead"))
			room := bound(t, lead, dir)
			lead.must("hub_whoami", nil, nil)
			spokenTo(t, h, func(c *Config) {
				in(dir, "me")(c)
				c.Harness, c.Channels = "claude-code", tt.flag
			}, func(_ *bridge, say func(string), next func() spokenLine) {
				say(hello)
				if got := next(); strings.Contains(string(got.Result), `"experimental":{"claude/channel":{},"claude/channel/permission":{}}`) != tt.flag {
					t.Errorf("the server says it can %s", got.Result)
				}
				say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami"}}`)
				next()
				note := func(turn hub.Turn) {
					_, err := lead.hub.NoteTurn(t.Context(), hub.TurnInput{AgentID: "me", Turn: turn})
					require.NoError(t, err)
				}
				note(hub.TurnIdle)
				if tt.stream {
					stop := streaming(t, lead, room)
					defer stop()
				}
				if tt.flag {
					require.Eventually(t, "a watch is armed", func() bool { return listening(lead, "me") == hub.ListenerArmed })
				}
				lead.must("hub_dm", map[string]any{"to_agent": "me", "body": "SECRET words"}, nil)
				if tt.flag && !tt.stream {
					got := next()
					if got.Method != "notifications/claude/channel" || !strings.Contains(string(got.Params), `{"content":"There are new messages for you on the hub.`) {
						t.Errorf("the client gets %+v", got)
					}
				} else {
					time.Sleep(time.Second)
				}
				// The next line that the client gets is the answer, and no second notification.
				say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hub_poll_messages","arguments":{"timeout_seconds":0}}}`)
				if got := next(); got.Method != "" || !strings.Contains(string(got.Result), "SECRET words") {
					t.Errorf("then the client gets %+v", got)
				}
			})
		})
	}
}
