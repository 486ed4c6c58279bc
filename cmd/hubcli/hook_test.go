//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// hooked is a hub of its own, and a folder that is bound to a room of it.
type hooked struct {
	*client.Client
	port, root, folder string
	room               hub.Room
}

func startHooked(t *testing.T) *hooked {
	t.Helper()
	port, err := freePort()
	require.NoError(t, err)
	root := t.TempDir()
	h := &hooked{Client: atOf(port, root), port: port, root: root, folder: t.TempDir()}
	t.Cleanup(func() { end(port, h.root) })
	if out, err := h.command(nil, "", "ensure", "--port", port).CombinedOutput(); err != nil {
		t.Fatalf("ensure: %v\n%s", err, out)
	}
	ctx := t.Context()
	if _, err := h.CreateProject(ctx, hub.ProjectInput{Name: "App"}); err != nil {
		t.Fatal(err)
	}
	room, err := h.CreateRoom(ctx, hub.RoomInput{Project: "app", Name: "Build", Topic: "Get it green"})
	require.NoError(t, err)
	h.room = room.Row
	if _, err := h.BindRoom(ctx, h.room.RoomID, hub.BindingInput{Path: h.folder}); err != nil {
		t.Fatal(err)
	}
	return h
}

// command is a process of the executable, with these variables and this stdin.
func (h *hooked) command(vars []string, stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command("hubcli", args...)
	cmd.Dir = h.folder
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HUB_DATA_ROOT=" + h.root, "HUB_BASE_URL=http://127.0.0.1:" + h.port, slowHooks}, vars...)
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

func (h *hooked) direct(t *testing.T, to hub.AgentID, body string) {
	t.Helper()
	if _, err := h.Post(t.Context(), hub.PostInput{FromAgent: "lead", ToAgent: to, Body: body}); err != nil {
		t.Fatal(err)
	}
}

// together runs n processes at once and counts those that say something.
func together(t *testing.T, n int, prepare func(i int) *exec.Cmd) (spoke int) {
	t.Helper()
	commands := make([]*exec.Cmd, n)
	outputs := make([]bytes.Buffer, n)
	for i := range commands {
		commands[i] = prepare(i)
		commands[i].Stdout = &outputs[i]
	}
	for _, cmd := range commands {
		require.NoError(t, cmd.Start())
	}
	for i, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a hook ended with %v", err)
		}
		if outputs[i].Len() > 0 {
			spoke++
		}
	}
	return spoke
}

// TestHooksOfOneEvent: of all processes that run for an event one speaks, and the
// session has one agent, under whatever names the entries call the harness.
func TestHooksOfOneEvent(t *testing.T) {
	h := startHooked(t)
	payload := func(id int) string {
		return fmt.Sprintf(`{"session_id":"s%d","cwd":%q,"source":"startup"}`, id, h.folder)
	}
	names := []string{"claude-code", "vscode", "copilot-cli"}
	for round := range 3 {
		begin := func(i int) *exec.Cmd {
			return h.command(nil, payload(round), "hook", "session-start", "--harness", names[i%len(names)])
		}
		if n := together(t, 4, begin); n != 1 {
			t.Errorf("%d processes spoke when the session began", n)
		}
		live, _, err := h.Agents(t.Context(), hub.AgentsQuery{})
		if err != nil || len(live) != round+1 {
			t.Errorf("%d agents, %v; want one a session", len(live), err)
		}
		for batch := range 2 {
			for _, s := range live {
				h.direct(t, s.AgentID, fmt.Sprintf("batch %d", batch))
			}
			stop := func(i int) *exec.Cmd {
				return h.command(nil, payload(round), "hook", "stop", "--harness", names[i%len(names)])
			}
			if n := together(t, 4, stop); n != 1 {
				t.Errorf("%d processes spoke when the turn ended", n)
			}
			if n := together(t, 1, stop); n != 0 {
				t.Error("the same batch held two turns")
			}
		}
	}
}

// TestSessionStartShowsTheRoom as the hub knows it: what is to be done, what is
// the agent's, and what was asked of it.
func TestSessionStartShowsTheRoom(t *testing.T) {
	h := startHooked(t)
	post := func(in hub.PostInput) {
		t.Helper()
		in.FromAgent = "lead"
		if _, err := h.Post(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	post(hub.PostInput{Channel: h.room.Channel, Kind: hub.KindTask, Body: "Write the docs\nall of them"})
	post(hub.PostInput{ToAgent: "dev-a", Channel: h.room.Channel, Kind: hub.KindTaskRequest, Body: "Review\x1b[2J the parser"})
	post(hub.PostInput{Channel: h.room.Channel, Body: "Is @dev-a here?"})
	if _, err := h.AddDecision(t.Context(), hub.DecisionInput{RoomID: h.room.RoomID, Title: "Use Go", By: "lead"}); err != nil {
		t.Fatal(err)
	}
	payload := fmt.Sprintf(`{"hook_event_name":"SessionStart","cwd":%q}`, h.folder)
	out, err := h.command([]string{"HUB_AGENT=dev-a"}, payload, "hook", "session-start", "--harness", "kiro").Output()
	require.NoError(t, err)
	for _, want := range []string{
		"You are agent dev-a on the hub", `in room "Build" (` + string(h.room.RoomID) + `) of project "App".`, `Topic: "Get it green"`,
		"Unread: 4; for you:\n", `- #2 from lead (direct, task_request): "Review[2J the parser"`, `- #3 from lead (in room-`,
		`Your tasks: #2 "Review[2J the parser" (open)`, `Open for anybody: #1 "Write the docs" (open)`,
		`Decided lately: "Use Go"`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// TestHookOfAFrozenHub: the system takes the connection, and nobody answers.
func TestHookOfAFrozenHub(t *testing.T) {
	h := startHooked(t)
	h.direct(t, "dev-a", "hello")
	status, err := h.AppStatus(context.Background())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(status.PID, syscall.SIGSTOP))
	thaw := func() { _ = syscall.Kill(status.PID, syscall.SIGCONT) }
	t.Cleanup(thaw)
	frozen := func() bool { // the system stops the threads one after the other
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", status.PID))
		return err != nil || strings.Contains(string(stat), ") T ")
	}
	require.NoError(t, until(frozen))
	payload := fmt.Sprintf(`{"session_id":"s","cwd":%q,"turn_id":"t"}`, h.folder)
	for _, event := range []string{"session-start", "stop"} {
		begin := time.Now()
		out, err := h.command([]string{"HUB_AGENT=dev-a", quickHooks}, payload, "hook", event).CombinedOutput()
		if took := time.Since(begin); err != nil || string(out) != "{}" || took > patience {
			t.Errorf("%s: %q, %v after %s", event, out, err, took)
		}
	}
	thaw()
	out, err := h.command([]string{"HUB_AGENT=dev-a"}, payload, "hook", "stop").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `#1 from lead (direct)`) {
		t.Errorf("after the thaw: %s, %v", out, err)
	}
	if found, _ := filepath.Glob(filepath.Join(h.folder, "*")); len(found) != 0 {
		t.Errorf("the hooks left %q in the folder", found)
	}
}
