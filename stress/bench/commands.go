package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// commandRuns is how many runs of a command, and of the bare program beside it, one round has.
const commandRuns = 4

// shortCommand is a command that lives for one call.
type shortCommand struct {
	name   string
	args   []string
	stdin  string
	bare   []string // method, address and body of the call of the bare program
	cpu    float64  // times the processor time of the bare program, at most
	memory float64  // MiB of resident memory at the peak, at most
}

// used is what stress/bare tells of a process.
type used struct {
	CPU    int64 `json:"cpu_us"`
	Memory int64 `json:"memory_kib"`
}

// commands measures the processes that agents start all the time: hooks, single commands and
// the start of a bridge. Beside each, run by run, a bare Go program makes the same HTTP call.
func (r *run) commands(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, errors.New("the ceiling has no commands")
	}
	server, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	bare, err := target.BuildBare(ctx, r.dir)
	if err != nil {
		return nil, err
	}
	dir, err := r.boundFolder(ctx, server)
	if err != nil {
		return nil, err
	}
	for _, c := range shortCommands(server, dir) {
		measured, err := r.command(ctx, server, dir, bare, c)
		results = append(results, measured...)
		if err != nil {
			return results, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return results, nil
}

// boundFolder returns a folder that is bound to a room, in which a session of a harness has
// begun.
func (r *run) boundFolder(ctx context.Context, server *target.Process) (dir string, err error) {
	if dir, err = os.MkdirTemp(r.dir, "bound-"); err != nil {
		return "", err
	}
	at := "--base-url=http://" + server.Addr
	for _, step := range []struct {
		args  []string
		stdin string
	}{
		{args: []string{"project", "create", "--name", "bench", at}},
		{args: []string{"room", "create", "--project", "bench", "--name", "hooks", at}},
		{args: []string{"room", "bind", "bench/hooks", at}},
		{args: []string{"hook", "session-start", "--harness", "claude", at}, stdin: hookPayload(dir, "SessionStart", `,"source":"startup"`)},
	} {
		cmd := r.exe.Command(ctx, server, step.args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(step.stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("hubcli %s: %w\n%s", strings.Join(step.args, " "), err, out)
		}
	}
	return dir, nil
}

// hookPayload is what Claude Code gives a hook.
func hookPayload(dir, event, more string) string {
	return fmt.Sprintf(`{"session_id":"bench-1","cwd":%q,"hook_event_name":%q%s}`, dir, event, more)
}

func shortCommands(server *target.Process, dir string) []shortCommand {
	base := "http://" + server.Addr
	at := "--base-url=" + base
	attention := []string{"GET", base + "/v1/attention?agent_id=bare"}
	hook := func(name, event, more string) shortCommand {
		return shortCommand{
			name: "hook " + name, args: []string{"hook", name, "--harness", "claude", at}, stdin: hookPayload(dir, event, more),
			bare: attention, cpu: 2, memory: 16,
		}
	}
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	events := url.Values{"agent_id": {"bare"}, "timeout": {"0"}}
	return []shortCommand{
		hook("prompt", "UserPromptSubmit", `,"prompt":"go on"`),
		hook("tool", "PostToolUse", `,"tool_name":"Read","tool_input":{"file_path":"x.go"},"tool_response":{}`),
		{
			name: "post", args: []string{"post", "--agent", "poster", at, "the build is green"},
			bare: []string{"POST", base + "/v1/messages", `{"from_agent":"bare","channel":"general","body":"the build is green"}`}, cpu: 2, memory: 16,
		},
		{name: "poll", args: []string{"poll", "--agent", "poller", "--timeout", "0", at}, bare: []string{"GET", base + "/v1/events?" + events.Encode()}, cpu: 2, memory: 16},
		{name: "status", args: []string{"status", at}, bare: []string{"GET", base + "/v1/hub-info"}, cpu: 2, memory: 16},
		{name: "mcp, to the end of initialize", args: []string{"mcp", "--agent", "bridge", "--no-ensure", at}, stdin: initialize, bare: []string{"GET", base + "/v1/hub-info"}, cpu: 3, memory: 18},
	}
}

// command runs a command and the bare program in turn.
func (r *run) command(ctx context.Context, server *target.Process, dir, bare string, c shortCommand) ([]Result, error) {
	hub := append([]string{r.exe.Path}, c.args...)
	ceiling := append([]string{bare, "call"}, c.bare...)
	var rounds []Round
	var memory, beside []float64
	for i := range r.Rounds {
		var hubs, ceilings []float64
		for range commandRuns {
			sides := []func() error{
				func() error {
					u, err := r.alone(ctx, server, dir, bare, c.stdin, hub)
					hubs, memory = append(hubs, float64(u.CPU)/1000), append(memory, float64(u.Memory)/1024)
					return err
				},
				func() error {
					u, err := r.alone(ctx, server, dir, bare, "", ceiling)
					ceilings, beside = append(ceilings, float64(u.CPU)/1000), append(beside, float64(u.Memory)/1024)
					return err
				},
			}
			if i%2 == 1 {
				slices.Reverse(sides)
			}
			for _, side := range sides {
				if err := side(); err != nil {
					return nil, err
				}
			}
		}
		rounds = append(rounds, Round{Hub: stat.Median(hubs), Ceiling: stat.Median(ceilings)})
	}
	results := []Result{compared("processor time of hubcli "+c.name, "ms", rounds, atMost(c.cpu, ""),
		fmt.Sprintf("%d runs each, in turn; the bare program makes the same call", r.Rounds*commandRuns))}
	if most := slices.Max(memory); most > 0 {
		results = append(results, absolute("peak memory of hubcli "+c.name, stat.Median(memory), atMost(c.memory, "MiB"),
			fmt.Sprintf("largest %.1f MiB; the bare program %.1f MiB", most, stat.Median(beside))))
	}
	return results, nil
}

// alone runs a program and returns what it has used.
func (r *run) alone(ctx context.Context, server *target.Process, dir, bare, stdin string, command []string) (u used, err error) {
	file := filepath.Join(r.dir, "used.json")
	cmd := exec.CommandContext(ctx, bare, append([]string{"run", file}, command...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, r.exe.Command(ctx, server).Env, strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return u, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, &said)
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	return u, err
}
