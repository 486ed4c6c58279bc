//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// asHarness runs a hook as a harness does whose process is this test's.
func (h *hooked) asHarness(t *testing.T, vars []string, harness, event, payload string) string {
	t.Helper()
	cmd := h.command(vars, payload, "hook", event, "--harness", harness)
	cmd.Args = append([]string{"sh", "-c", `"$@"; true`, "sh"}, cmd.Args...)
	var err error
	if cmd.Path, err = exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s of %s: %v: %s", event, harness, err, out)
	}
	return string(out)
}

// payloads are what two harnesses say when a session begins and when a turn ends,
// and what a hook that has nothing to say prints for them.
var payloads = map[string]struct{ start, stop, silence string }{
	"claude-code": {
		`{"session_id":"s-1","cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`,
		`{"session_id":"s-1","cwd":%q,"hook_event_name":"Stop","prompt_id":"p","stop_hook_active":false,"background_tasks":[]}`, "",
	},
	"codex": {
		`{"session_id":"s-1","cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`,
		`{"session_id":"s-1","turn_id":"t","cwd":%q,"hook_event_name":"Stop","stop_hook_active":false}`, "{}",
	},
}

// TestReadAndAnsweredHoldsNoTurn: an agent that has read a message through its bridge
// ends its turn in peace, whether it has answered or not and however soon; what it
// has not read holds the turn. The hook and the bridge are those of a harness.
func TestReadAndAnsweredHoldsNoTurn(t *testing.T) {
	for harness, says := range payloads {
		t.Run(harness, func(t *testing.T) {
			t.Parallel()
			h := startHooked(t)
			vars := []string{"CLAUDE_PROJECT_DIR=" + h.folder, "CLAUDE_CODE_SESSION_ID=s-1"}
			stop := func() string {
				return h.asHarness(t, vars, harness, "stop", fmt.Sprintf(says.stop, h.folder))
			}
			h.asHarness(t, vars, harness, "session-start", fmt.Sprintf(says.start, h.folder))
			w := h.mcp(t, vars, "--harness", harness).shake()
			agent := w.whoAmI()
			read := func(body string) {
				t.Helper()
				if a, text := w.call("hub_poll_messages", map[string]any{"timeout_seconds": 0}); a.IsError || !strings.Contains(string(a.Data), body) {
					t.Fatalf("the poll of %q says %s: %s", body, text, a.Data)
				}
			}
			w.call("hub_poll_messages", map[string]any{"timeout_seconds": 0})

			h.direct(t, agent, "first")
			read("first")
			if a, text := w.call("hub_dm", map[string]any{"to_agent": "lead", "body": "done", "reply_to": h.last(t, agent)}); a.IsError {
				t.Fatal(text)
			}
			time.Sleep(2 * time.Second) // an agent takes its time
			if said := stop(); said != says.silence {
				t.Errorf("read, answered and some time later the turn is held: %s", said)
			}

			h.direct(t, agent, "second")
			read("second")
			if said := stop(); said != says.silence {
				t.Errorf("read just now, and the turn is held: %s", said)
			}

			h.direct(t, agent, "third")
			third := h.last(t, agent)
			if said := stop(); !names(said, third) || names(said, third-1) || strings.Contains(said, "unread in all") {
				t.Errorf("what was not read does not hold the turn: %s", said)
			}
			read("third")
			if _, text := w.call("hub_whoami", nil); !strings.Contains(text, ". No unread messages") {
				t.Errorf("when all was read hub_whoami says %s", text)
			}
			if _, text := w.call("hub_room_status", nil); !strings.Contains(text, "0 unread for you") {
				t.Errorf("when all was read hub_room_status says %s", text)
			}
		})
	}
}

// names reports whether a hook tells of a message, with its words or without.
func names(said string, id hub.MessageID) bool {
	return strings.Contains(said, fmt.Sprintf("#%d from lead ", id))
}

// last is the id of the latest message to an agent.
func (h *hooked) last(t *testing.T, agent hub.AgentID) hub.MessageID {
	t.Helper()
	a, err := h.Attention(t.Context(), hub.AttentionQuery{Agent: agent})
	require.NoError(t, err)
	return a.HeadID
}

// TestPrintedHoldsNoTurn: what hubcli poll has printed holds no turn either, nor does
// a message that the agent has answered without a poll.
func TestPrintedHoldsNoTurn(t *testing.T) {
	for harness, says := range payloads {
		t.Run(harness, func(t *testing.T) {
			t.Parallel()
			h := startHooked(t)
			h.asHarness(t, nil, harness, "session-start", fmt.Sprintf(says.start, h.folder))
			live := h.liveAgents(t)
			if len(live) != 1 {
				t.Fatalf("live: %v", live)
			}
			stop := func() string {
				return h.asHarness(t, nil, harness, "stop", fmt.Sprintf(says.stop, h.folder))
			}
			run := func(args ...string) string {
				t.Helper()
				out, err := h.command(nil, "", append(args, "--agent", string(live[0]), "--base-url", "http://127.0.0.1:"+h.port)...).Output()
				if err != nil {
					t.Fatalf("%v: %v: %s", args, err, out)
				}
				return string(out)
			}
			h.direct(t, live[0], "first")
			h.direct(t, live[0], "second")
			if out := run("poll", "--timeout", "0"); !strings.Contains(out, "second") {
				t.Fatalf("the poll prints %s", out)
			}
			if said := stop(); said != says.silence {
				t.Errorf("what was printed holds the turn: %s", said)
			}
			h.direct(t, live[0], "third")
			third := h.last(t, live[0])
			run("post", "--channel", string(h.room.Channel), "something else")
			if said := stop(); !names(said, third) || names(said, third-1) {
				t.Errorf("what was not printed does not hold the turn: %s", said)
			}
			h.direct(t, live[0], "fourth")
			h.direct(t, live[0], "fifth")
			fifth := h.last(t, live[0])
			run("post", "--to", "lead", "--reply-to", fmt.Sprint(fifth), "done")
			if said := stop(); !names(said, fifth-1) || names(said, fifth) {
				t.Errorf("of two messages the second was answered, and the turn is held: %s", said)
			}
			h.direct(t, live[0], "sixth")
			run("post", "--to", "lead", "--reply-to", fmt.Sprint(h.last(t, live[0])), "done too")
			if said := stop(); said != says.silence {
				t.Errorf("what was answered holds the turn: %s", said)
			}
		})
	}
}
