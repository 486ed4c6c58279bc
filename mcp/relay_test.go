package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// relaying is a session of Claude Code, agent me, that was begun for the channel of the hub.
type relaying struct {
	t        *testing.T
	operator *client.Client
	say      func(string)
	next     func() spokenLine
}

// relayed talks as such a session. The operator wants to be asked, with some rules.
func relayedTo(t *testing.T, change func(*Config), policy *hub.PermissionPolicyInput, talk func(r *relaying)) {
	t.Helper()
	h, dir := testhub.Start(t), t.TempDir()
	operator := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	defer operator.Close()
	if policy != nil {
		_, err := operator.SetPermissionPolicy(t.Context(), *policy)
		require.NoError(t, err)
	}
	spokenTo(t, h, func(c *Config) {
		in(dir, "me")(c)
		c.Harness, c.Channels, c.DataRoot = "claude-code", true, h.DataRoot
		if change != nil {
			change(c)
		}
	}, func(_ *bridge, say func(string), next func() spokenLine) {
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}}}`)
		next()
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami"}}`)
		next()
		talk(&relaying{t, operator, say, next})
	})
}

// prompts has the harness ask its user about a tool, and relay that.
func (r *relaying) prompts(id, tool, preview string) {
	r.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":{"request_id":%q,"tool_name":%q,"description":"Do the thing","input_preview":%s}}`,
		id, tool, mustJSON(r.t, preview)))
}

func (r *relaying) asks(state hub.AskState) []hub.Ask {
	rows, _, err := r.operator.AsOperator().Asks(r.t.Context(), hub.AsksQuery{State: state, Limit: hub.MaxPageRows})
	require.NoError(r.t, err)
	return rows
}

// asked waits for the one open question.
func (r *relaying) asked() hub.Ask {
	r.t.Helper()
	require.Eventually(r.t, "no question is in the inbox", func() bool { return len(r.asks(hub.AskOpen)) > 0 })
	rows := r.asks(hub.AskOpen)
	if len(rows) != 1 {
		r.t.Fatalf("the inbox has %+v", rows)
	}
	return rows[0]
}

func (r *relaying) note(turn hub.Turn) {
	_, err := r.operator.NoteTurn(r.t.Context(), hub.TurnInput{AgentID: "me", Turn: turn})
	require.NoError(r.t, err)
}

// silent expects that the harness has been told nothing: the next line is the answer to a call.
func (r *relaying) silent() {
	r.t.Helper()
	r.say(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	if got := r.next(); got.Method != "" {
		r.t.Errorf("the harness is told %s %s", got.Method, got.Params)
	}
}

var asking = hub.PermissionPolicyInput{On: true, AnswerSec: 30}

// TestPromptOfAChannel: a permission prompt that Claude Code relays is in the inbox with its tool, its description and
// the beginning of its input, and without what looks like a secret. The operator's answer goes back with the id of the prompt.
func TestPromptOfAChannel(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"allow", "deny"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			relayedTo(t, nil, &asking, func(r *relaying) {
				r.prompts("abcde", "Bash", `{"command":"deploy --password=hunter2hunter2"}`)
				a := r.asked()
				if a.AgentID != "me" || a.Permission == nil || a.Permission.Tool != "Bash" || !strings.Contains(a.Question, "Do the thing\n") ||
					!strings.Contains(a.Question, "deploy") || strings.Contains(a.Question, "hunter2") {
					t.Errorf("the inbox has %+v", a)
				}
				// No agent answers it, the one that runs least of all.
				for _, agent := range []hub.AgentID{"me", "other"} {
					_, err := client.New(client.Config{BaseURL: r.operator.BaseURL(), DataRoot: t.TempDir()}).As(agent, "").AnswerAsk(t.Context(), a.AskID, hub.AskAnswerInput{Answer: "allow"})
					if err == nil {
						t.Errorf("%s may answer", agent)
					}
				}
				r.silent()
				_, err := r.operator.AnswerAsk(t.Context(), a.AskID, hub.AskAnswerInput{Answer: answer})
				require.NoError(t, err)
				got := r.next()
				var params map[string]string
				require.NoError(t, json.Unmarshal(got.Params, &params))
				if got.Method != "notifications/claude/channel/permission" || len(params) != 2 || params["request_id"] != "abcde" || params["behavior"] != answer {
					t.Errorf("the harness is told %s %s", got.Method, got.Params)
				}
			})
		})
	}
}

// TestPromptOfAChannelAnsweredElsewhere: the question leaves the inbox as soon as the session's work goes on, and with the
// session, and nothing is told to the harness.
func TestPromptOfAChannelAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	for name, sign := range map[string]func(*relaying){
		"the hooks tell that the turn goes on": func(r *relaying) { r.note(hub.TurnWorking) },
		"the hooks tell that the turn is over": func(r *relaying) { r.note(hub.TurnIdle) },
		"a tool is called": func(r *relaying) {
			r.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hub_whoami"}}`)
			r.next()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relayedTo(t, nil, &asking, func(r *relaying) {
				r.prompts("abcde", "Write", `{"file_path":"/x"}`)
				r.note(hub.TurnAtPrompt)
				a := r.asked()
				time.Sleep(600 * time.Millisecond) // real time: so that the bridge has seen the prompt
				if rows := r.asks(hub.AskOpen); len(rows) != 1 {
					t.Fatalf("the inbox has %+v", rows)
				}
				sign(r)
				require.Eventually(t, "the question stays", func() bool { return len(r.asks(hub.AskOpen)) == 0 })
				_, err := r.operator.AnswerAsk(t.Context(), a.AskID, hub.AskAnswerInput{Answer: "allow"})
				if !errors.Is(err, &hub.Error{Code: hub.CodeAskClosed}) {
					t.Errorf("a late answer gets %v", err)
				}
				r.silent()
			})
		})
	}
}

// TestPromptOfAChannelIsAskedOnce: where the hook of the session asks about a prompt, the bridge does not. A prompt that is
// relayed twice is one question, and of a flood of them few are open.
func TestPromptOfAChannelIsAskedOnce(t *testing.T) {
	t.Parallel()
	t.Run("a hook", func(t *testing.T) {
		t.Parallel()
		relayedTo(t, nil, &asking, func(r *relaying) {
			r.note(hub.TurnWorking)
			r.prompts("abcde", "Write", `{"file_path":"/x"}`)
			time.Sleep(300 * time.Millisecond) // real time: a hook is a process, and begins later
			p, err := r.operator.RequestPermission(t.Context(), hub.PermissionInput{AgentID: "me", Tool: "Write", About: "by the hook"})
			require.NoError(t, err)
			time.Sleep(3 * time.Second) // longer than the bridge waits for the hook
			if a := r.asked(); p.AskID == nil || a.AskID != *p.AskID {
				t.Errorf("the inbox has %+v", a)
			}
			r.silent()
		})
	})
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		relayedTo(t, nil, &asking, func(r *relaying) {
			r.prompts("same", "Write", "")
			r.prompts("same", "Write", "")
			r.asked()
			for i := range 40 {
				r.prompts(fmt.Sprint("p", i), fmt.Sprint("Tool", i), "")
			}
			require.Eventually(t, "they are not asked", func() bool { return len(r.asks(hub.AskOpen)) == 16 })
			time.Sleep(500 * time.Millisecond)
			if n := len(r.asks(hub.AskOpen)); n != 16 {
				t.Errorf("%d are open", n)
			}
		})
	})
}

// TestPromptOfAChannelStaysWithItsUser: without the operator's wish nothing is asked, and without the proof that the hub is this
// user's neither. No rule allows by the beginning of an input; one that denies does. What is no prompt is ignored.
func TestPromptOfAChannelStaysWithItsUser(t *testing.T) {
	t.Parallel()
	quiet := func(t *testing.T, change func(*Config), policy *hub.PermissionPolicyInput) {
		relayedTo(t, change, policy, func(r *relaying) {
			r.prompts("abcde", "Bash", `{"command":"ls"}`)
			time.Sleep(time.Second)
			if all := r.asks(""); len(all) != 0 {
				t.Errorf("the inbox has %+v", all)
			}
			r.silent()
		})
	}
	t.Run("off", func(t *testing.T) { t.Parallel(); quiet(t, nil, nil) })
	t.Run("another hub", func(t *testing.T) {
		t.Parallel()
		root := t.TempDir()
		quiet(t, func(c *Config) { c.DataRoot = root }, &asking)
	})
	t.Run("no channel", func(t *testing.T) {
		t.Parallel()
		quiet(t, func(c *Config) { c.Channels = false }, &asking)
	})
	t.Run("rules", func(t *testing.T) {
		t.Parallel()
		policy := asking
		policy.Rules = []hub.PermissionRule{{Decision: hub.PermissionDeny, Tool: "Bash", Words: []string{"git", "push"}}, {Decision: hub.PermissionAllow, Tool: "Bash"}}
		relayedTo(t, nil, &policy, func(r *relaying) {
			for _, bad := range []string{`[]`, `{"request_id":5}`, `{"request_id":"","tool_name":"Bash"}`, `{"request_id":"x","tool_name":""}`, `{"request_id":"` + strings.Repeat("x", 300) + `","tool_name":"Bash"}`} {
				r.say(`{"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":` + bad + `}`)
			}
			r.prompts("deny1", "Bash", `{"command":"cd /x && git push"}`)
			if got := r.next(); !strings.Contains(string(got.Params), `"behavior":"deny"`) || !strings.Contains(string(got.Params), "deny1") {
				t.Errorf("the harness is told %s %s", got.Method, got.Params)
			}
			r.prompts("ask11", "Bash", `{"command":"ls"}`)
			if a := r.asked(); !strings.Contains(a.Question, "ls") {
				t.Errorf("the inbox has %+v", a)
			}
			r.silent()
		})
	})
}

// TestPromptOfAChannelEndsWithItsSession: nobody is asked for a session that has gone.
func TestPromptOfAChannelEndsWithItsSession(t *testing.T) {
	t.Parallel()
	h, dir := testhub.Start(t), t.TempDir()
	operator := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	defer operator.Close()
	_, err := operator.SetPermissionPolicy(context.Background(), asking)
	require.NoError(t, err)
	spokenTo(t, h, func(c *Config) {
		in(dir, "me")(c)
		c.Harness, c.Channels, c.DataRoot = "claude-code", true, h.DataRoot
	}, func(_ *bridge, say func(string), next func() spokenLine) {
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}}}`)
		next()
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		r := &relaying{t, operator, say, next}
		r.prompts("abcde", "Write", "")
		r.asked()
	})
	require.Eventually(t, "the question stays", func() bool {
		rows, _, err := operator.AsOperator().Asks(t.Context(), hub.AsksQuery{State: hub.AskOpen})
		return err == nil && len(rows) == 0
	})
}
