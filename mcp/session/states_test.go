package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/mcp/wire"
)

// TestLinkStates holds the states of a link against transcripts: what the hub hears, and
// what calls are told. A step is a call of a tool, "beat" (the link's own look at a
// silent agent) or a wait.
func TestLinkStates(t *testing.T) {
	for name, c := range map[string]struct {
		agent, named hub.AgentID
		script       map[string]string
		steps, want  string
	}{
		"a named agent takes its name": {
			agent: "me", steps: "call",
			want: "register me by force: ok, look at s1: ok, me in s1 acts",
		},
		"the environment's name displaces a hook": {
			named: "dev", script: map[string]string{"register": "session_conflict ok", "owner": "hook"}, steps: "call",
			want: "register dev: session_conflict, register dev by force: ok, look at s2: ok, dev in s2 acts",
		},
		"the environment's name yields to a bridge": {
			named: "dev", script: map[string]string{"register": "session_conflict ok", "owner": "bridge"}, steps: "call",
			want: "register dev: session_conflict, register dev-2: ok, look at s2: ok, dev-2 in s2 acts",
		},
		"a lost answer is asked for again with the same key": {
			agent: "me", script: map[string]string{"register": "lost lost lost ok"}, steps: "call call",
			want: "register me by force: lost, register me by force again: lost, register me by force again: lost, refused: broke_off, " +
				"register me by force again: ok, look at s4: ok, me in s4 acts",
		},
		"a session outlives a restart": {
			agent: "me", script: map[string]string{"look": "away ok"}, steps: "call call",
			want: "register me by force: ok, look at s1: away, me in s1 fails: unreachable, worth repeating: true, look at s1: ok, look at s1: ok, me in s1 acts",
		},
		"an invalid session is resumed": {
			agent: "me", script: map[string]string{"look": "session_invalid session_invalid ok"}, steps: "call call",
			want: "register me by force: ok, look at s1: session_invalid, me in s1 fails: session_invalid, worth repeating: true, " +
				"look at s1: session_invalid, resume s1 by k1: ok, look at s2: ok, me in s2 acts",
		},
		"a denied resume displaces": {
			agent: "me", script: map[string]string{"look": "session_invalid", "resume": "resume_denied"}, steps: "call call call beat",
			want: "register me by force: ok, look at s1: session_invalid, me in s1 fails: session_invalid, worth repeating: true, " +
				"look at s1: session_invalid, resume s1 by k1: resume_denied, refused: session_replaced, refused: session_replaced",
		},
		"the displaced stays displaced": {
			agent: "me", script: map[string]string{"look": "session_replaced"}, steps: "call call beat call",
			want: "register me by force: ok, look at s1: session_replaced, me in s1 fails: session_replaced, worth repeating: false, " +
				"refused: session_replaced, refused: session_replaced",
		},
		"a replaced session is found while the hub comes back": {
			agent: "me", script: map[string]string{"look": "away session_replaced"}, steps: "call call call",
			want: "register me by force: ok, look at s1: away, me in s1 fails: unreachable, worth repeating: true, " +
				"look at s1: session_replaced, refused: session_replaced, refused: session_replaced",
		},
		"a silent agent hears of displacement": {
			agent: "me", script: map[string]string{"look": "ok session_replaced"}, steps: "call beat beat call",
			want: "register me by force: ok, look at s1: ok, me in s1 acts, look at s1: session_replaced, refused: session_replaced",
		},
		"a silent agent's session is not lost while the hub is away": {
			agent: "me", script: map[string]string{"look": "ok away ok"}, steps: "call beat call",
			want: "register me by force: ok, look at s1: ok, me in s1 acts, look at s1: away, look at s1: ok, me in s1 acts",
		},
		"another store registers anew and yields": {
			agent: "me", script: map[string]string{"info": "one two", "look": "session_invalid session_invalid ok", "register": "ok session_conflict ok"}, steps: "call call",
			want: "register me by force: ok, look at s1: session_invalid, me in s1 fails: session_invalid, worth repeating: true, " +
				"look at s1: session_invalid, register me: session_conflict, register me-2: ok, look at s3: ok, me-2 in s3 acts",
		},
		"an error of the hub leaves the session": {
			agent: "me", script: map[string]string{"look": "internal ok"}, steps: "call call",
			want: "register me by force: ok, look at s1: internal, me in s1 fails: internal, worth repeating: false, look at s1: ok, me in s1 acts",
		},
		"a hub that comes is found without a call": {
			agent: "me", script: map[string]string{"info": strings.Repeat("away ", 32) + "store"}, steps: "call beat beat",
			want: "refused: unreachable, register me by force: ok",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scripted{script: c.script}
				l, end := linkTo(t, h, func(cfg *Config) {
					cfg.Agent = c.agent
					cfg.Getenv = func(name string) string { return map[string]string{"HUB_AGENT": string(c.named)}[name] }
				})
				defer end()
				l.Meet("a client")
				for _, step := range strings.Fields(c.steps) {
					if step == "beat" {
						time.Sleep(beat)
						synctest.Wait()
					} else {
						h.call(t, l)
					}
				}
				if got := strings.ReplaceAll(h.transcript(), "\n", ", "); got != c.want {
					t.Errorf("the transcript is\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// A hub that was there gets time to come back before another is started, and a start
// that fails is told to the call.
func TestTheLinkStartsAHubAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scripted{script: map[string]string{}}
		started, fails := 0, true
		l, end := linkTo(t, h, func(cfg *Config) {
			cfg.Ensure = func(context.Context) error { t.Error("Ensure is called of a hub that was there"); return nil }
			cfg.Restart = func(context.Context) error {
				if started++; fails {
					return hub.Errorf(hub.CodeUnreachable, "stopped by somebody")
				}
				h.script["info"] = "store"
				return nil
			}
		})
		defer end()
		l.Meet("a client")
		s, err := l.Session(t.Context())
		require.NoError(t, err)
		h.script["info"] = "away"
		_, _ = l.Lost(s, &hub.Error{Code: hub.CodeUnreachable})
		began := time.Now()
		if _, err := l.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped by somebody") {
			t.Errorf("a start that fails is told as %v", err)
		}
		if waited := time.Since(began); started != 1 || waited < restartGrace || waited > restartGrace+time.Second {
			t.Errorf("%d starts, the first after %s, want one after %s", started, waited, restartGrace)
		}
		fails = false
		if again, err := l.Session(t.Context()); err != nil || again != s || started != 2 {
			t.Errorf("after the second start the session is %+v, %v (%d starts)", again, err, started)
		}
	})
}

// The hub of this user gets another port, because another user's has the one that it had. A bridge
// to which nobody has named an address goes there, at its start and later, as the agent that it is.
// One that was given an address stays there.
func TestTheLinkFollowsItsHub(t *testing.T) {
	const first, second = "http://127.0.0.1:6969", "http://127.0.0.1:6975"
	for name, c := range map[string]struct {
		script  map[string]string
		named   bool // somebody has named the address
		starts  bool // the bridge may start hubs; a start moves the hub to the second address
		moved   bool // another program has moved the hub after the first call
		want    string
		at      string
		started int
	}{
		"at its start": {
			script: map[string]string{"info at port 6969": "other_user"}, starts: true, at: second, started: 1,
			want: "register me by force: ok, look at s1: ok, me in s1 acts, look at s1: ok, me in s1 acts",
		},
		"an impostor at its start": {
			script: map[string]string{"info at port 6969": "impostor"}, starts: true, at: second, started: 1,
			want: "register me by force: ok, look at s1: ok, me in s1 acts, look at s1: ok, me in s1 acts",
		},
		"a named address": {
			script: map[string]string{"info at port 6969": "other_user"}, named: true, starts: true, at: first,
			want: "refused: other_user, refused: other_user",
		},
		"a bridge that starts no hub": {
			script: map[string]string{"info at port 6969": "other_user"}, at: first,
			want: "refused: other_user, refused: other_user",
		},
		"a bridge that starts no hub, later": {
			script: map[string]string{"info at port 6969": "other_user"}, moved: true, at: second,
			want: "refused: other_user, register me by force: ok, look at s1: ok, me in s1 acts",
		},
		"while it runs": {
			script: map[string]string{"look": "ok other_user ok"}, moved: true, at: second,
			want: "register me by force: ok, look at s1: ok, me in s1 acts, look at s1: other_user, me in s1 fails: other_user, worth repeating: true, look at s1: ok, look at s1: ok, me in s1 acts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scripted{script: c.script}
				at, started := first, 0
				l, end := linkTo(t, h, func(cfg *Config) {
					if !c.named {
						cfg.Where = func() string { return at }
					}
					if c.starts {
						cfg.Ensure = func(context.Context) error { started++; at = second; return nil }
						cfg.Restart = cfg.Ensure
					}
				})
				defer end()
				l.Meet("a client")
				h.call(t, l)
				if c.moved {
					at = second
				}
				h.call(t, l)
				if strings.Contains(c.want, "worth repeating: true") {
					h.call(t, l)
				}
				if got := strings.ReplaceAll(h.transcript(), "\n", ", "); got != c.want {
					t.Errorf("the transcript is\n%s\nwant\n%s", got, c.want)
				}
				if got := l.Base().BaseURL(); got != c.at || started != c.started {
					t.Errorf("the bridge is at %s after %d starts, want %s and %d", got, started, c.at, c.started)
				}
				if s := l.Current(); s != nil && s.Client.BaseURL() != c.at {
					t.Errorf("its session is at %s, want %s", s.Client.BaseURL(), c.at)
				}
			})
		})
	}
}

// Any number of calls wait for one attempt, which waits for the client's name, and a
// call that is canceled waits no longer.
func TestCallsWaitForOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scripted{}
		l, end := linkTo(t, h, nil)
		defer end()
		gone := errors.New("canceled by the client")
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if s, err := l.Session(t.Context()); err != nil || s.ID != "s1" {
					t.Errorf("a call has the session %+v, %v", s, err)
				}
			})
		}
		calls.Go(func() {
			if _, err := l.Session(ctx); !errors.Is(err, gone) {
				t.Errorf("a canceled call ends with %v", err)
			}
		})
		synctest.Wait()
		if said := h.transcript(); said != "" {
			t.Errorf("before the client's name is known the hub hears %q", said)
		}
		cancel(gone)
		l.Meet("a client")
		calls.Wait()
		if said := h.transcript(); said != "register me by force: ok" {
			t.Errorf("the hub hears %q", said)
		}
	})
}

// What held in the old store only is forgotten, and the next answer says so once.
func TestAnotherStoreIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scripted{script: map[string]string{"info": "one two", "look": "session_invalid"}}
		l, end := linkTo(t, h, nil)
		defer end()
		l.Meet("a client")
		s, err := l.Session(t.Context())
		require.NoError(t, err)
		l.Homes.join("me", "r_1")
		l.Feeds.Start(wire.FeedOf(&hub.EventsQuery{Agent: "me"}), 7)
		_, _ = l.Lost(s, &hub.Error{Code: hub.CodeUnreachable})
		if s, err = l.Session(t.Context()); err != nil || !strings.Contains(s.Remark, "another store") || s.Instance != "two" {
			t.Fatalf("the session is %+v, %v", s, err)
		}
		if room := l.Homes.of("me"); room != "" {
			t.Errorf("the room is %s", room)
		}
		if at, known := l.Feeds.Known(wire.FeedOf(&hub.EventsQuery{Agent: "me"})); known {
			t.Errorf("the cursor of the old store is left at %d", at)
		}
		if first, second := l.TakeNews(), l.TakeNews(); first != otherStore || second != "" {
			t.Errorf("the news are %q, then %q", first, second)
		}
	})
}

// The hub hears how far the agent has read when no cancellation can cross the answer
// any more. If the hub is away, the next report tells it. Of an answer that was
// canceled it hears nothing.
func TestReadingIsReported(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for name, c := range map[string]struct{ script, then, want string }{
		"heard":     {"ok", "", "s1 has read up to 7: ok"},
		"away once": {"away ok", "", "s1 has read up to 7: away\ns1 has read up to 7: ok"},
		"canceled":  {"ok", cancelled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scripted{script: map[string]string{"read": c.script}}
				l, end := linkTo(t, h, nil)
				defer end()
				l.Meet("a client")
				s, err := l.Session(t.Context())
				require.NoError(t, err)
				h.transcript()
				client := reads(t, l, 5, 7)
				defer client.Close()
				if c.then != "" {
					_, _ = io.WriteString(client, c.then+"\n")
				}
				l.say(t.Context(), s)
				if said := h.transcript(); said != "" {
					t.Errorf("at once the hub hears %q", said)
				}
				for range 3 {
					time.Sleep(2 * l.Feeds.AckDelay)
					l.CatchUp(t.Context(), s)
				}
				if said := h.transcript(); said != c.want {
					t.Errorf("the hub hears %q, want %q", said, c.want)
				}
			})
		})
	}
}

// reads has the agent get the answer to a poll that moves its cursor, over a
// connection whose client's end it returns.
func reads(t *testing.T, l *Link, since, cursor hub.MessageID) io.WriteCloser {
	t.Helper()
	of := wire.FeedOf(&hub.EventsQuery{Agent: "me"})
	l.Feeds.Start(of, since)
	in, client := io.Pipe()
	messages, transport := wire.Open(in, io.Discard, l.Feeds)
	conn, err := transport.Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = errors.Join(messages.Close(), conn.Close()) })
	_, err = io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`+"\n")
	require.NoError(t, err)
	msg, err := conn.Read(t.Context())
	require.NoError(t, err)
	l.Feeds.Stage(1, of, since, cursor)
	require.NoError(t, conn.Write(t.Context(), &jsonrpc.Response{ID: msg.(*jsonrpc.Request).ID, Result: []byte("{}")}))
	return client
}

// A slot that cannot be written costs the bridge its memory and not its session.
func TestASlotThatCannotBeWritten(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &scripted{script: map[string]string{"look": "session_invalid"}}
		l, end := linkTo(t, h, func(cfg *Config) { cfg.DataRoot, cfg.ResumeKey = root, "s" })
		defer end()
		l.Meet("a client")
		s, err := l.Session(t.Context())
		if err != nil || s.Remark != "" {
			t.Fatalf("the session is %+v, %v", s, err)
		}
		require.NoError(t, os.RemoveAll(filepath.Join(root, slotsFolder)))
		_, _ = l.Lost(s, &hub.Error{Code: hub.CodeSessionInvalid})
		if s, err = l.Session(t.Context()); err != nil || s.ID != "s2" || !strings.Contains(s.Remark, "The slot cannot be written") {
			t.Errorf("the session is %+v, %v", s, err)
		}
	})
}
