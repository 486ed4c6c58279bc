//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// startDemo runs the demo with a temporary folder of its own and returns a client of its
// hub, once it has printed the address of its console.
func startDemo(t *testing.T) (cmd *exec.Cmd, tmp string, c *client.Client) {
	t.Helper()
	tmp = t.TempDir()
	root := t.TempDir()
	cmd = exec.Command("hubcli", "app", "demo", "--every", "50ms", "--print")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HUB_DATA_ROOT="+root, "HUB_AGENT=")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url, code, found := strings.Cut(strings.TrimSpace(line), "/ui/#code=")
	if !found || code == "" {
		t.Fatalf("the demo printed %q", line)
	}
	c = client.New(client.Config{BaseURL: url, DataRoot: root}).AsOperator()
	t.Cleanup(c.Close)
	return cmd, tmp, c
}

func TestDemo(t *testing.T) {
	cmd, tmp, c := startDemo(t)
	agents, _, err := c.Agents(t.Context(), hub.AgentsQuery{})
	if err != nil || len(agents) != 6 {
		t.Fatalf("%d agents, %v", len(agents), err)
	}
	asks, _, err := c.Asks(t.Context(), hub.AsksQuery{State: hub.AskOpen})
	if err != nil || len(asks) != 1 {
		t.Fatalf("%d questions are open, %v", len(asks), err)
	}
	said := func(from hub.AgentID, words string) func() bool {
		return func() bool {
			page, err := c.Log(t.Context(), hub.LogQuery{Agent: from, Direct: true, Tail: true, Limit: hub.MaxPageRows})
			require.NoError(t, err)
			for _, row := range page.Rows {
				if m, err := row.Decode(); err == nil && m.FromAgent == from && strings.Contains(m.Body, words) {
					return true
				}
			}
			return false
		}
	}
	_, err = c.AnswerAsk(t.Context(), asks[0].AskID, hub.AskAnswerInput{Answer: "keep it"})
	require.NoError(t, err)
	require.NoError(t, until(said(asks[0].AgentID, "that settles it")))
	_, err = c.Post(t.Context(), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: "writer", Body: "Friday at noon, please."})
	require.NoError(t, err)
	require.NoError(t, until(said("writer", "Understood")))
	require.NoError(t, until(func() bool {
		runs, _, err := c.Runs(t.Context(), hub.RunsQuery{Limit: hub.MaxPageRows})
		require.NoError(t, err)
		return len(runs) > 1 && runs[len(runs)-1].Status == hub.RunComplete
	}))
	require.NoError(t, until(said("reviewer", "and wait until")))

	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 0 {
		t.Errorf("the demo left %v, %v", left, err)
	}
}
