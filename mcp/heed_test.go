package mcp

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// Made-up processes: that of the harness with a number, and that of a hook below it.
const (
	harnessPID = 1 << 20
	hookPID    = 1 << 21
)

// lookUp knows the made-up processes, and the test's own as that of all bridges.
func lookUp(pid int) (process.Process, bool) {
	switch {
	case pid == os.Getpid():
		return process.Process{PID: pid, Began: "bridge"}, true
	case pid >= hookPID:
		return process.Process{PID: pid, Parent: pid - hookPID + harnessPID, Name: "hubcli", Began: "hook"}, true
	case pid >= harnessPID:
		return process.Process{PID: pid, Parent: 1, Name: "harness", Began: "harness"}, true
	}
	return process.Process{}, false
}

// desk is a hub with a folder that is bound to a room, and a data root.
type desk struct {
	*testhub.Hub
	t            *testing.T
	root, folder string
}

func newDesk(t *testing.T) *desk {
	d := &desk{Hub: testhub.Start(t), t: t, root: t.TempDir(), folder: t.TempDir()}
	c := client.New(client.Config{BaseURL: d.URL, DataRoot: d.DataRoot})
	defer c.Close()
	p, err := c.CreateProject(t.Context(), hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := c.CreateRoom(t.Context(), hub.RoomInput{Project: string(p.Row.ProjectID), Name: "Till"})
	require.NoError(t, err)
	_, err = c.BindRoom(t.Context(), room.Row.RoomID, hub.BindingInput{Path: d.folder})
	require.NoError(t, err)
	return d
}

// hook calls a hook of a session in the n-th process of a harness.
func (d *desk) hook(n int, harness hub.Harness, event hook.Event, session, source string) string {
	c := &hook.Config{
		Flag: string(harness), Tools: true, BaseURL: d.URL, DefaultBaseURL: d.URL, DataRoot: d.root, Dir: d.folder,
		Getenv: func(string) string { return "" }, Now: time.Now, Process: lookUp, PID: hookPID + n,
		Dial: func(url string) (hook.Service, error) {
			return client.New(client.Config{BaseURL: url, DataRoot: d.DataRoot}), nil
		},
	}
	return c.Run(d.t.Context(), event, fmt.Appendf(nil, `{"session_id":%q,"cwd":%q,"source":%q}`, session, d.folder, source)).Stdout
}

// bridge starts the bridge of the n-th process of a harness, which may tell it the id of a session.
func (d *desk) bridge(n int, harness hub.Harness, session string) *rig {
	return bridgeTo(d.t, d.Hub, kept(d.root, func(c *Config) {
		c.Harness, c.Process, c.Parent = string(harness), lookUp, func() int { return harnessPID + n }
		c.Getenv = func(name string) string {
			if name == harness.Facts().SessionVariable {
				return session
			}
			return ""
		}
	}))
}

// agents returns who is there.
func (d *desk) agents() (list []hub.AgentID) {
	c := client.New(client.Config{BaseURL: d.URL, DataRoot: d.DataRoot})
	defer c.Close()
	rows, _, err := c.Agents(d.t.Context(), hub.AgentsQuery{Limit: hub.MaxPageRows})
	require.NoError(d.t, err)
	for _, row := range rows {
		list = append(list, row.AgentID)
	}
	return list
}

// TestResumedSessionIsTheSameAgent: a session that goes on in another process of its harness is the agent that it
// was, with what came meanwhile, though its bridge began before anybody said which session goes on.
func TestResumedSessionIsTheSameAgent(t *testing.T) {
	for _, harness := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessGeminiCLI, hub.HarnessOpenCode, hub.HarnessQwenCode} {
		t.Run(string(harness), func(t *testing.T) {
			d := newDesk(t)
			d.hook(1, harness, hook.SessionStart, "one", "startup")
			first := d.bridge(1, harness, "one")
			agent, _ := whoamiLine(first)
			first.end()
			d.hook(1, harness, hook.SessionEnd, "one", "")

			second := d.bridge(2, harness, "a-new-id")
			require.Eventually(t, "the bridge has a session", func() bool { return second.bridge.link.Current() != nil })
			if s := second.bridge.link.Current(); s.Agent == agent {
				t.Fatalf("the bridge is %s before anybody has said which session goes on", agent)
			}
			_, err := second.hub.Post(t.Context(), hub.PostInput{FromAgent: "ben", ToAgent: agent, Body: "what came meanwhile"})
			require.NoError(t, err)
			said := d.hook(2, harness, hook.SessionStart, "one", "resume")
			if !strings.Contains(said, "You are agent "+string(agent)+" ") || !strings.Contains(said, "from ben") {
				t.Errorf("the session goes on with %s", said)
			}
			if id, _ := whoamiLine(second); id != agent {
				t.Errorf("the bridge is %s, want %s", id, agent)
			}
			if there := d.agents(); len(there) != 1 {
				t.Errorf("there are %v", there)
			}

			// One that has served its agent stays who it is, whatever begins in its process.
			d.hook(3, harness, hook.SessionStart, "two", "startup")
			d.hook(3, harness, hook.SessionEnd, "two", "")
			d.hook(2, harness, hook.SessionStart, "two", "resume")
			if id, _ := whoamiLine(second); id != agent {
				t.Errorf("another session of its process makes the bridge %s", id)
			}
		})
	}
}

// TestHookAndBridgeThatBeginAtOnceAreOneAgent, however the two overtake each other.
func TestHookAndBridgeThatBeginAtOnceAreOneAgent(t *testing.T) {
	const starts = 50
	d := newDesk(t)
	var all sync.WaitGroup
	bridges := make([]*rig, starts)
	for n := range starts {
		harness := []hub.Harness{hub.HarnessKimi, hub.HarnessDroid}[n%2]
		all.Go(func() { d.hook(n, harness, hook.SessionStart, fmt.Sprint("session-", n), "startup") })
		all.Go(func() { bridges[n] = d.bridge(n, harness, "") })
	}
	all.Wait()
	for n, r := range bridges {
		known, ok := identity.SessionsOf(d.root).Load(fmt.Sprint("session-", n))
		agent := func() hub.AgentID {
			if s := r.bridge.link.Current(); s != nil {
				return s.Agent
			}
			return ""
		}
		require.Eventually(t, "the bridge is the agent of the hook", func() bool { return agent() == known.AgentID })
		if id, _ := whoamiLine(r); !ok || id != known.AgentID {
			t.Errorf("%d: the bridge is %s, the hook's agent %s", n, id, known.AgentID)
		}
	}
	if there := d.agents(); len(there) != starts {
		t.Errorf("there are %d agents: %v", len(there), there)
	}
}
