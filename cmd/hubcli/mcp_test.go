//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// wire is a bridge as a harness has it: a child on pipes.
type wire struct {
	*exec.Cmd
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Reader
	id    int
}

func (h *hooked) mcp(t *testing.T, vars []string, args ...string) *wire {
	t.Helper()
	cmd := h.command(vars, "", append([]string{"mcp", "--base-url", "http://127.0.0.1:" + h.port}, args...)...)
	return startWire(t, cmd)
}

func startWire(t *testing.T, cmd *exec.Cmd) *wire {
	t.Helper()
	cmd.Stdin = nil
	w := &wire{Cmd: cmd, t: t}
	out, err := cmd.StdoutPipe()
	if err == nil {
		w.in, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	w.lines = bufio.NewReader(out)
	return w
}

// say writes a line; a bridge that is gone is the reader's to notice.
func (w *wire) say(line string) { _, _ = io.WriteString(w.in, line+"\n") }

// ask sends a request and returns its id.
func (w *wire) ask(method string, params any) int {
	w.id++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.id, "method": method, "params": params})
	require.NoError(w.t, err)
	w.say(string(b))
	return w.id
}

type reply struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// next reads one line, which has to be a message.
func (w *wire) next() (reply, error) {
	line, err := w.lines.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		w.t.Fatalf("on stdout there is %q: %v", line, err)
	}
	return r, nil
}

// await reads up to the answer to a request.
func (w *wire) await(id int) (reply, error) {
	for {
		r, err := w.next()
		if err != nil || r.ID != nil && *r.ID == id && r.Method == "" {
			return r, err
		}
	}
}

// shake is the handshake.
func (w *wire) shake() *wire {
	w.t.Helper()
	id := w.ask("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "wire", "version": "1"},
	})
	if _, err := w.await(id); err != nil {
		w.t.Fatalf("initialize: %v", err)
	}
	w.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

type toolAnswer struct {
	Content []struct{ Text string }
	Data    json.RawMessage `json:"structuredContent"`
	IsError bool
}

// call calls a tool and returns what it says.
func (w *wire) call(tool string, args any) (toolAnswer, string) {
	w.t.Helper()
	r, err := w.await(w.ask("tools/call", map[string]any{"name": tool, "arguments": args}))
	var a toolAnswer
	if err == nil {
		err = json.Unmarshal(r.Result, &a)
	}
	if err != nil || len(a.Content) == 0 {
		w.t.Fatalf("%s: %v: %s %s", tool, err, r.Result, r.Error)
	}
	return a, a.Content[0].Text
}

// whoAmI returns the agent that the bridge says it is.
func (w *wire) whoAmI() hub.AgentID {
	w.t.Helper()
	a, text := w.call("hub_whoami", nil)
	var b hub.Bootstrap
	if err := json.Unmarshal(a.Data, &b); err != nil || a.IsError {
		w.t.Fatalf("hub_whoami: %v: %s", err, text)
	}
	return b.AgentID
}

// ends waits until the bridge has ended, with 0.
func (w *wire) ends() {
	w.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, w.lines)
		done <- w.Wait()
	}()
	select {
	case err := <-done:
		if code := exitCode(err); code != 0 {
			w.t.Errorf("it ended with %d", code)
		}
	case <-time.After(patience):
		w.t.Error("it does not end")
	}
}

func (h *hooked) liveAgents(t *testing.T) []hub.AgentID {
	t.Helper()
	rows, _, err := h.Agents(context.Background(), hub.AgentsQuery{})
	require.NoError(t, err)
	var ids []hub.AgentID
	for _, row := range rows {
		ids = append(ids, row.AgentID)
	}
	return ids
}

// However it is told to end, also within a call that waits: it ends at once with
// 0, and its session with it.
func TestMCPEnds(t *testing.T) {
	h := startHooked(t)
	for how, end := range map[string]func(*wire) error{
		"stdin": func(w *wire) error { return w.in.Close() },
		"TERM":  func(w *wire) error { return w.Process.Signal(syscall.SIGTERM) },
		"INT":   func(w *wire) error { return w.Process.Signal(syscall.SIGINT) },
		"HUP":   func(w *wire) error { return w.Process.Signal(syscall.SIGHUP) }, // its terminal has gone
	} {
		t.Run(how, func(t *testing.T) {
			w := h.mcp(t, nil, "--agent", "a").shake()
			w.whoAmI()
			w.ask("tools/call", map[string]any{"name": "hub_poll_messages", "arguments": map[string]any{"timeout_seconds": 50}})
			waitWatches(t, h.Client, 1)
			require.NoError(t, end(w))
			w.ends()
			if live := h.liveAgents(t); len(live) != 0 {
				t.Errorf("live afterwards: %v", live)
			}
		})
	}
}

// A client that has stopped reading is gone.
func TestMCPWithoutReader(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	cmd := h.command(nil, "", "mcp", "--agent", "a", "--base-url", "http://127.0.0.1:"+h.port)
	cmd.Stdin = nil
	r, out, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_, _ = out.Close(), r.Close()
	began := time.Now()
	for range 3 {
		_, _ = io.WriteString(in, "junk\n")
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			t.Errorf("a signal ended it: %v", err)
		}
	case <-time.After(patience):
		t.Errorf("it still runs after %v", time.Since(began))
	}
}

func TestMCPBringsUpAHubThatCrashed(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	w := h.mcp(t, nil, "--agent", "a").shake()
	w.whoAmI()
	status, err := h.AppStatus(t.Context())
	if err == nil {
		err = syscall.Kill(status.PID, syscall.SIGKILL)
	}
	require.NoError(t, err)
	if id := w.whoAmI(); id != "a" {
		t.Errorf("after the crash it is %s", id)
	}
	if live := h.liveAgents(t); fmt.Sprint(live) != "[a]" {
		t.Errorf("live after the crash: %v", live)
	}
}

// Sessions that end while no hub runs are ended by the next one as it starts, whether the bridge was
// told to end or was killed. That of a bridge that runs goes on.
func TestMCPEndsWhileNoHubRuns(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	quit, killed, stays := h.mcp(t, nil, "--agent", "quit").shake(), h.mcp(t, nil, "--agent", "killed").shake(), h.mcp(t, nil, "--agent", "stays").shake()
	for _, w := range []*wire{quit, killed, stays} {
		w.whoAmI()
	}
	if out, err := h.command(nil, "", "stop", "--port", h.port).CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	require.NoError(t, quit.in.Close())
	quit.ends()
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if out, err := h.command(nil, "", "ensure", "--port", h.port).CombinedOutput(); err != nil {
		t.Fatalf("ensure: %v\n%s", err, out)
	}
	if live := h.liveAgents(t); fmt.Sprint(live) != "[stays]" {
		t.Errorf("live after the start: %v", live)
	}
	if id := stays.whoAmI(); id != "stays" {
		t.Errorf("the bridge that runs is %s", id)
	}
}

// A hub that somebody has stopped stays stopped, until somebody starts one.
func TestMCPLeavesAStoppedHubAlone(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	w := h.mcp(t, nil, "--agent", "a").shake()
	w.whoAmI()
	if out, err := h.command(nil, "", "stop", "--port", h.port).CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	if a, text := w.call("hub_whoami", nil); !a.IsError || !strings.Contains(text, "was stopped by a user") || !strings.Contains(text, "hubcli ensure --port "+h.port) {
		t.Errorf("without a hub it says %s", text)
	}
	if out, err := h.command(nil, "", "ensure", "--port", h.port).CombinedOutput(); err != nil {
		t.Fatalf("ensure: %v\n%s", err, out)
	}
	if id := w.whoAmI(); id != "a" {
		t.Errorf("when there is one again it is %s", id)
	}
}

// Whenever a bridge that resumes from a slot is killed, the next one with the slot
// is the same agent.
// An agent that does what a finished watch tells it keeps its bridge: what is unread
// is read through it, and by the command where the agent has none.
func TestMCPWatchLeavesTheBridgeItsName(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	w := h.mcp(t, []string{"CLAUDE_PROJECT_DIR=" + h.folder}, "--agent", "lead").shake()
	if _, err := h.Register(t.Context(), hub.RegisterInput{AgentID: "dev"}); err != nil {
		t.Fatal(err)
	}
	a, text := w.call("hub_watch", map[string]any{"until": []string{"message-from:dev"}, "timeout_seconds": 60, "verbose": true})
	var command struct{ Args []string }
	if err := json.Unmarshal(a.Data, &command); err != nil || len(command.Args) < 2 {
		t.Fatalf("%v: %s", err, text)
	}
	if _, err := h.Post(t.Context(), hub.PostInput{FromAgent: "dev", ToAgent: "lead", Body: "it is done"}); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		out, err := h.command(nil, "", command.Args[1:]...).Output()
		var line struct{ Outcome, Next string }
		if jerr := json.Unmarshal(out, &line); err != nil || jerr != nil || line.Outcome != "matched" {
			t.Fatalf("%v, %v: %s", err, jerr, out)
		}
		return line.Next
	}
	said := next()
	_, given, ok := strings.Cut(said, "hub_poll_messages ")
	var args map[string]any
	if err := json.Unmarshal([]byte(given), &args); !ok || err != nil || strings.Contains(said, "hubcli") {
		t.Fatalf("the watch says %q: %v", said, err)
	}
	if a, text := w.call("hub_poll_messages", args); a.IsError || !strings.Contains(string(a.Data), "it is done") {
		t.Errorf("the call that it names answers %s", text)
	}
	if id := w.whoAmI(); id != "lead" {
		t.Errorf("the bridge is %s", id)
	}
	_ = w.in.Close()
	w.ends()
	if _, err := h.Register(t.Context(), hub.RegisterInput{AgentID: "lead"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Post(t.Context(), hub.PostInput{FromAgent: "dev", ToAgent: "lead", Body: "once more"}); err != nil {
		t.Fatal(err)
	}
	if said := next(); !strings.Contains(said, "hubcli poll --agent lead") {
		t.Errorf("without a bridge the watch says %q", said)
	}
}

func TestMCPSlotSurvivesAnyDeath(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	first := h.mcp(t, nil, "--resume-key", "s").shake()
	if a, text := first.call("hub_join", map[string]any{"agent_id": "builder"}); a.IsError {
		t.Fatal(text)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	for range 25 {
		w := h.mcp(t, nil, "--resume-key", "s").shake()
		w.ask("tools/call", map[string]any{"name": "hub_post_message", "arguments": map[string]any{"body": "x"}})
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) // anywhere between the handshake and the call
		_ = w.Process.Kill()
		_ = w.Wait()
	}
	last := h.mcp(t, nil, "--resume-key", "s").shake()
	if id := last.whoAmI(); id != "builder" {
		t.Errorf("in the end it is %s", id)
	}
}

// Whenever a bridge is killed that joins, the next one with the slot has joined if
// the hub has taken the join, and else can.
func TestMCPJoinSurvivesAnyDeath(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	for n := range 15 {
		slot, handle := fmt.Sprintf("s%d", n), hub.AgentID(fmt.Sprintf("builder-%d", n))
		in, err := h.CreateInvite(t.Context(), hub.InviteInput{Project: "app", Room: string(h.room.RoomID), Handle: handle})
		require.NoError(t, err)
		w := h.mcp(t, nil, "--resume-key", slot).shake()
		w.whoAmI()
		w.ask("tools/call", map[string]any{"name": "hub_join", "arguments": map[string]any{"code": in.Row.Code}})
		time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond) // anywhere within the join
		_ = w.Process.Kill()
		_ = w.Wait()
		seats, err := h.RoomStatus(t.Context(), hub.StatusQuery{RoomID: h.room.RoomID})
		require.NoError(t, err)
		taken := false
		for _, seat := range seats.Seats {
			taken = taken || seat.AgentID == handle
		}
		next := h.mcp(t, nil, "--resume-key", slot).shake()
		id := next.whoAmI()
		if id != handle && !taken {
			if a, text := next.call("hub_join", map[string]any{"code": in.Row.Code}); a.IsError {
				t.Fatalf("round %d: joining again: %s", n, text)
			}
			id = next.whoAmI()
		}
		if id != handle {
			t.Errorf("round %d: the seat is taken: %v, and the bridge is %s", n, taken, id)
		}
		_ = next.Process.Kill()
		_ = next.Wait()
	}
}

// The harness is killed and something else keeps stdin open: the bridge asks
// whether anybody is there, and ends if nobody is.
func TestMCPOfADeadParent(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprintf("client answers %v", answers), func(t *testing.T) {
			cmd := h.command(nil, "", "mcp", "--agent", "a", "--base-url", "http://127.0.0.1:"+h.port)
			cmd.Args = append([]string{"sh", "-c", `"$@" <&3 & wait`, "sh"}, cmd.Args...)
			shell, err := exec.LookPath("sh")
			require.NoError(t, err)
			cmd.Path = shell
			r, in, err := os.Pipe()
			require.NoError(t, err)
			cmd.ExtraFiles = []*os.File{r}
			w := startWire(t, cmd)
			_ = r.Close()
			w.in = in
			w.shake().whoAmI()
			_ = w.Process.Kill()
			ping, err := w.next()
			if err != nil || ping.Method != "ping" {
				t.Fatalf("after the parent's death it says %+v, %v", ping, err)
			}
			if answers {
				w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, *ping.ID))
				if id := w.whoAmI(); id != "a" {
					t.Errorf("it is %s", id)
				}
				_ = in.Close()
			}
			if _, err := io.Copy(io.Discard, w.lines); err != nil {
				t.Errorf("its stdout: %v", err)
			}
			if err := until(func() bool { return len(h.liveAgents(t)) == 0 }); err != nil {
				t.Errorf("its session is live: %v", err)
			}
			_ = in.Close()
		})
	}
}

// The hook of a harness and the bridge in it are one agent, in whichever order
// they start and also after the bridge becomes another. This test's process is
// the harness.
func TestMCPAndHookAreOneAgent(t *testing.T) {
	const start = `{"session_id":"thread-1","cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`
	hooks := func(t *testing.T, h *hooked, session string) string {
		t.Helper()
		payload := strings.Replace(fmt.Sprintf(start, h.folder), "thread-1", session, 1)
		cmd := h.command(nil, payload, "hook", "session-start", "--harness", "codex")
		cmd.Args = append([]string{"sh", "-c", `"$@"; true`, "sh"}, cmd.Args...)
		var err error
		if cmd.Path, err = exec.LookPath("sh"); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		_, rest, ok := strings.Cut(string(out), "You are agent ")
		id, _, _ := strings.Cut(rest, " ")
		if err != nil || !ok {
			t.Fatalf("the hook says %s (%v)", out, err)
		}
		return id
	}
	t.Run("bridge first", func(t *testing.T) {
		h := startHooked(t)
		w := h.mcp(t, nil, "--harness", "codex").shake()
		id := w.whoAmI()
		if !strings.HasPrefix(string(id), "codex-") {
			t.Fatalf("it is %s", id)
		}
		if say := hooks(t, h, "thread-1"); say != string(id) {
			t.Errorf("the bridge is %s, the hook says %s", id, say)
		}
		w.call("hub_join", map[string]any{"agent_id": "joined"})
		if say := hooks(t, h, "thread-2"); say != "joined" {
			t.Errorf("the bridge is joined, the hook says %s", say)
		}
		_ = w.in.Close()
		_ = w.Wait()
		again := h.mcp(t, nil, "--harness", "codex").shake()
		if id := again.whoAmI(); id != "joined" {
			t.Errorf("the bridge that the harness starts again is %s", id)
		}
	})
	t.Run("hook first", func(t *testing.T) {
		h := startHooked(t)
		say := hooks(t, h, "thread-1")
		w := h.mcp(t, nil, "--harness", "codex").shake()
		if id := w.whoAmI(); say != string(id) {
			t.Errorf("the hook says %s, the bridge is %s", say, id)
		}
		if live := h.liveAgents(t); len(live) != 1 {
			t.Errorf("live: %v", live)
		}
	})
	t.Run("another hub", func(t *testing.T) {
		h, other := startHooked(t), startHooked(t)
		w := other.mcp(t, []string{"HUB_DATA_ROOT=" + h.root}, "--harness", "codex").shake()
		id := w.whoAmI()
		cmd := h.command(nil, fmt.Sprintf(start, h.folder), "hook", "session-start", "--harness", "codex", "--base-url", "http://127.0.0.1:"+h.port)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), string(id)+" ") {
			t.Errorf("a hook of another hub says %s (%v)", out, err)
		}
	})
}

// A harness that was started from the shell of another is an agent of its own,
// also where its hooks are called without a shell between.
func TestHookOfAHarnessWithinAHarness(t *testing.T) {
	t.Parallel()
	h := startHooked(t)
	w := h.mcp(t, []string{"CLAUDE_CODE_SESSION_ID=OUTER-1"}, "--harness", "claude-code").shake()
	outer := w.whoAmI()
	hook := func(session, script string) string {
		payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`, session, h.folder)
		cmd := h.command(nil, payload, "hook", "session-start", "--harness", "claude-code")
		cmd.Args = append([]string{"sh", "-c", script, "sh"}, cmd.Args...)
		var err error
		if cmd.Path, err = exec.LookPath("sh"); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if say := hook("OUTER-1", `"$@"; :`); !strings.Contains(say, "You are agent "+string(outer)+" ") || !strings.Contains(say, "the tool hub_poll_messages") || strings.Contains(say, "hubcli poll") {
		t.Errorf("the outer hook says %s", say)
	}
	h.direct(t, outer, "for the outer alone")
	for i, script := range []string{`"$@"; :`, `sh -c '"$@"; :' sh "$@"; :`, `sh -c 'sh -c "\"\$@\"; :" sh "$@"; :' sh "$@"; :`} {
		say := hook(fmt.Sprintf("INNER-%d", i), script)
		if !strings.Contains(say, "You are agent claude-code-") || strings.Contains(say, "You are agent "+string(outer)) || strings.Contains(say, "outer alone") {
			t.Errorf("the inner hook says %s", say)
		}
	}
	if id := w.whoAmI(); id != outer {
		t.Errorf("the bridge is %s", id)
	}
}
