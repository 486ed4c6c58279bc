package mcp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/require"
)

// TestNamedSessionIsWokenBeforeItsFirstCall: a session whose agent was named for it, as "hubcli run" does, can be
// reached from its beginning. A session that nobody has named is not woken before its agent has called a tool: its user
// may never use the hub. Codex is woken as soon as a hook of the session has told which one it is.
func TestNamedSessionIsWokenBeforeItsFirstCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		harness hub.Harness
		named   bool
		hooked  bool // a hook of the session was called
		driven  bool // "hubcli run" begins its turns
		kept    bool // "hubcli run" keeps it in the background
		woken   string
	}{
		"Qwen Code, named":            {hub.HarnessQwenCode, true, false, false, false, ": "},
		"Qwen Code, not named":        {hub.HarnessQwenCode, false, false, false, false, ""},
		"Qwen Code, driven":           {hub.HarnessQwenCode, true, false, true, false, ""},
		"Codex, named, with its hook": {hub.HarnessCodex, true, true, false, false, "th-9: "},
		"Codex, named, without":       {hub.HarnessCodex, true, false, false, false, ""},
		"Codex, in the background":    {hub.HarnessCodex, true, false, false, true, "th-7: "},
		"Codex, not named":            {hub.HarnessCodex, false, true, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const me = hub.AgentID("me")
			d, w := newDesk(t), &woken{}
			getenv := func(name string) string {
				switch {
				case name == hook.EnvAgent && tt.named:
					return string(me)
				case name == hook.EnvDriven && tt.driven:
					return "1-x"
				case name == "CLAUDE_PROJECT_DIR":
					return d.folder
				}
				return ""
			}
			c := client.New(client.Config{BaseURL: d.URL, DataRoot: d.DataRoot})
			defer c.Close()
			spokenTo(t, d.Hub, kept(d.root, func(c *Config) {
				c.Harness, c.Process, c.Parent, c.Getenv = string(tt.harness), lookUp, func() int { return harnessPID }, getenv
				if c.Agent = me; tt.named {
					c.Agent = ""
				}
				c.Wake = w.begin
				c.Input = func(ctx context.Context, text string) error { return w.begin(ctx, "", text) }
			}), func(_ *bridge, say func(string), next func() spokenLine) {
				say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
				next()
				say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				here := func() bool {
					live, err := hub.LiveAs(t.Context(), c.Agents, me)
					return err == nil && live != nil
				}
				if tt.woken != "" || tt.named && !tt.driven {
					require.Eventually(t, "the agent is not there", here)
				}
				if tt.hooked {
					h := &hook.Config{
						Flag: string(tt.harness), Tools: true, BaseURL: d.URL, DefaultBaseURL: d.URL, DataRoot: d.root, Dir: d.folder,
						Getenv: getenv, Now: time.Now, Process: lookUp, PID: hookPID,
						Dial: func(url string) (hook.Service, error) {
							return client.New(client.Config{BaseURL: url, DataRoot: d.DataRoot}), nil
						},
					}
					h.Run(t.Context(), hook.SessionStart, fmt.Appendf(nil, `{"session_id":"th-9","cwd":%q,"source":"startup"}`, d.folder))
				}
				if tt.kept {
					info, err := c.Info(t.Context())
					require.NoError(t, err)
					kept := identity.Background{AgentID: me, InstanceID: info.InstanceID, Harness: tt.harness, PID: harnessPID, Began: "harness", Session: "th-7"}
					require.NoError(t, identity.BackgroundsOf(d.root).Store(&kept))
				}
				if here() {
					_, err := c.NoteTurn(t.Context(), hub.TurnInput{AgentID: me, Turn: hub.TurnIdle})
					require.NoError(t, err)
				}
				_, err := c.Register(t.Context(), hub.RegisterInput{AgentID: "lead"})
				require.NoError(t, err)
				_, err = c.Post(t.Context(), hub.PostInput{FromAgent: "lead", ToAgent: me, Body: "SECRET"})
				require.NoError(t, err)
				if tt.woken == "" {
					time.Sleep(time.Second) // real time: the bridge waits for a process and a hub
					if w.count() != 0 {
						t.Errorf("the turns %q were begun", w.turns)
					}
					return
				}
				require.Eventually(t, "no turn is begun", func() bool { return w.count() == 1 })
				if got := w.turns[0]; got != tt.woken+"There are new messages for you on the hub. If you do not see them here, read them with hub_poll_messages." {
					t.Errorf("a turn begins with %q", got)
				}
			})
		})
	}
}
