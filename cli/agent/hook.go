package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/hubfile"
	"hubcli/internal/process"
)

// A hook has two seconds in all, the start of the process included, because the
// harness waits for it. Its calls of the hub share HookCalls. At HookLimit the
// hook ends even if something hangs, such as a file system.
const (
	HookStdin   = 1000 * time.Millisecond
	HookCalls   = 1600 * time.Millisecond
	HookLimit   = 1800 * time.Millisecond
	HookConnect = 300 * time.Millisecond
)

// A hook that waits for the operator's answer to a permission prompt gets more time, once
// the hub has said so. hookMore is what is left after its calls to print the answer.
const hookMore = 200 * time.Millisecond

// hookBudget bounds the parts of a hook.
type hookBudget struct{ stdin, calls, limit, connect time.Duration }

func budgetOfHook(e *term.Env) hookBudget {
	if d := e.HookBudget; d > 0 {
		return hookBudget{d, d, d, d}
	}
	return hookBudget{HookStdin, HookCalls, HookLimit, HookConnect}
}

type hookOptions struct {
	opt.BaseURL
	harness  string
	dataRoot string
	tools    bool
}

// NewHook makes the command hook.
func NewHook(env *term.Env) *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use:   "hook session-start|prompt|tool|before-edit|before-call|before-commit|permission|own-tool|notice|subagent-start|subagent-stop|stop|failure|compact|task-created|task-completed|session-end",
		Short: "Harness hook entrypoints (hook payload JSON on stdin)",
		Long: `Answer a hook of the program in which an agent runs. The program calls it with
its payload as JSON on stdin; the answer on stdout has the form that the program
takes. It is meant for a settings file, not for typing.

session-start tells the agent its id, the work in the room that its folder is
bound to, and how to wait. Without HUB_AGENT it registers an agent for the
session and remembers it in the data root.

prompt and tool show the agent, within a turn, the messages that ask something of
it. A message is shown once, by whichever hook comes first.

before-edit says who holds the lock on a file that a tool is about to change. Where
the room wants it (hubcli room locks), the tool is refused.

before-call tells the bridge of a session which sub-agent calls a tool of the hub, so
that a sub-agent is an agent of its own there. Where it cannot, it refuses a sub-agent
the tools that read the messages of its main agent or end its tasks.

subagent-start tells a sub-agent who it is. subagent-stop releases what it holds, and
ends its session with the hub.

before-commit is for Git: a pre-commit hook that calls it says who holds the lock on a
file of the commit, and fails where the room wants it. "hubcli adapter install git"
writes one.

permission notes that the program asks its user whether a tool may run: the status
of the room shows it. Where the operator wants it (hubcli app permissions), a rule or
the operator's answer decides in Claude Code, Codex and Copilot CLI. Only this hook may
take longer than two seconds, while a question to the operator is open.

own-tool allows the tools of the hub in Copilot CLI. notice notes that it draws a
question. stop holds the turn once for messages that ask something of the agent, and never
while a watch of the agent is armed.

failure notes that a turn ended because the model failed. compact has the text of
session-start shown again, after the program has put a summary in place of it.

task-created and task-completed have the program's own tasks stand in the room, if
HUB_MIRROR_TASKS is 1. session-end ends the session with the hub if a hook began it.

If there is nothing to say, no hub runs or the folder is bound to no room, the
hook prints nothing and ends with 0, within two seconds. The reason is in hook.log
in the data root. HUB_AGENT and HUB_BASE_URL name the agent and the hub; without
them the hook uses the remembered ones. A mistake in the command line ends with 1,
because 2 would hold a turn.`,
		Example: `  echo '{"session_id": "s1"}' | hubcli hook session-start   in a bound folder

  {"hooks": {
    "SessionStart": [{"hooks": [
      {"type": "command", "command": "hubcli hook session-start", "timeout": 5}]}],
    "Stop": [{"hooks": [
      {"type": "command", "command": "hubcli hook stop", "timeout": 5}]}]}}`,
		Args: func(cmd *cobra.Command, args []string) error { return harmless(hookArgs(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			base := ""
			if cmd.Flags().Changed("base-url") {
				if err := client.CheckBaseURL(o.URL); err != nil {
					return harmless(opt.AsUsage(err))
				}
				base = o.URL
			}
			if cmd.Flags().Changed("data-root") {
				root, err := opt.Absolute("--data-root", o.dataRoot)
				if err != nil {
					return harmless(err)
				}
				o.dataRoot = root
			}
			return runHook(cmd.Context(), env, hook.Event(args[0]), base, &o)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return harmless(opt.FlagFailure(cmd, err)) })
	o.add(env, cmd)
	return cmd
}

// add adds the flags. Adapters write those that are hidden.
func (o *hookOptions) add(env *term.Env, cmd *cobra.Command) {
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().StringVar(&o.harness, "harness", "", "`name` of the program that calls; otherwise told from the payload")
	cmd.Flags().StringVar(&o.dataRoot, "data-root", "", "`folder` of the user's data, if the environment does not name it")
	cmd.Flags().BoolVar(&o.tools, "tools", false, "the program gives the agent the tools of the bridge")
	for _, name := range []string{"harness", "data-root", "tools"} {
		_ = cmd.Flags().MarkHidden(name) // it exists
	}
}

// hookArgs takes one event.
func hookArgs(cmd *cobra.Command, args []string) error {
	if err := opt.Arity("event")(cmd, args); err != nil {
		return err
	}
	if !slices.Contains(hook.Events(), hook.Event(args[0])) {
		return term.Usage("name session-start, prompt, tool, before-edit, before-call, before-commit, permission, own-tool, notice, subagent-start, subagent-stop, stop, failure, compact, task-created, task-completed or session-end", "there is no hook for the event %q", args[0])
	}
	return nil
}

// harmless gives an error an exit code that no harness takes for an answer.
func harmless(err error) error {
	var f *term.Failure
	if errors.As(err, &f) {
		f.Exit = term.ExitRefused
	}
	return err
}

// runHook always answers within the budget.
func runHook(ctx context.Context, env *term.Env, event hook.Event, base string, o *hookOptions) error {
	budget := budgetOfHook(env)
	all := ctx
	ctx, cancel := context.WithTimeout(all, budget.calls)
	defer cancel()
	// A missing data root is no reason to fail.
	root := o.dataRoot
	if root == "" {
		root, _ = env.DataRoot()
	}
	c := hookConfig(ctx, env, budget.connect, base, root, o)
	more := make(chan time.Duration, 1)
	c.Longer = func(d time.Duration) (context.Context, context.CancelFunc) {
		more <- d
		return context.WithTimeout(all, d)
	}
	answered := make(chan hook.Answer, 1)
	go func() {
		defer func() {
			// The exit code of a Go program that panics is 2, which holds a turn.
			if recover() != nil {
				answered <- c.Silence(event, nil)
			}
		}()
		answered <- answerHook(ctx, env, c, event)
	}()
	limit := time.NewTimer(budget.limit)
	defer limit.Stop()
	for {
		select {
		case a := <-answered:
			return printAnswer(env, a)
		case d := <-more:
			limit.Reset(d + hookMore)
		case <-limit.C:
			return printAnswer(env, c.Silence(event, nil))
		}
	}
}

// hookConfig is what a hook works with. Its connections are closed when ctx ends.
func hookConfig(ctx context.Context, env *term.Env, connect time.Duration, base, root string, o *hookOptions) *hook.Config {
	dir, _ := os.Getwd() // a missing one is no reason to fail
	return &hook.Config{
		Flag: o.harness, Tools: o.tools, Program: program(), BaseURL: base, DefaultBaseURL: hubfile.BaseURL(root),
		DataRoot: root, Dir: dir, Staged: hook.Staged(dir), Getenv: env.Getenv, Now: env.Now, Process: process.Look, Arguments: process.Arguments, PID: os.Getpid(),
		Dial: func(url string) (hook.Service, error) {
			if err := client.CheckBaseURL(url); err != nil {
				return nil, err
			}
			c := client.New(client.Config{BaseURL: url, DataRoot: root, Connect: connect})
			context.AfterFunc(ctx, c.Close)
			return hookHub{c.Judge(func() (string, error) { return client.NotedToken(root, url) })}, nil
		},
	}
}

// hookHub is the hub as a hook calls it: the first call is part of connecting.
type hookHub struct{ client.Judge }

// Info is the first call of a hook.
func (h hookHub) Info(ctx context.Context) (hub.Info, error) { return h.Meet(ctx) }

func answerHook(ctx context.Context, env *term.Env, c *hook.Config, event hook.Event) hook.Answer {
	var payload []byte
	if event != hook.BeforeCommit && (env.Terminal == nil || !env.Terminal()) { // Git gives no payload, and a person types none
		in := newIntake(env.Stdin)
		whole := in.wait(ctx, budgetOfHook(env).stdin)
		payload = in.taken()
		if p := hook.Parse(payload); !whole && (p.Damaged || len(payload) == 0) {
			return c.Silence(event, payload)
		}
	}
	return c.Run(ctx, event, payload)
}

// printAnswer prints only the text for the harness.
func printAnswer(env *term.Env, a hook.Answer) error {
	if _, err := io.WriteString(env.Stdout, a.Stdout); err != nil {
		return err
	}
	if _, err := io.WriteString(env.Stderr, a.Stderr); err != nil {
		return err
	}
	if a.Exit != 0 {
		return &term.Failure{Exit: a.Exit}
	}
	return nil
}

// intake reads a payload, to its end if that comes. Its goroutine ends with the
// stream, or with the process.
type intake struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	came  chan struct{} // signaled when more input has come
	ended chan struct{}
}

func newIntake(r io.Reader) *intake {
	in := &intake{came: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(in.ended)
		// The whole stream is read, so that the writer does not get a broken
		// pipe.
		_, _ = io.Copy(in, r)
	}()
	return in
}

// Write keeps as many bytes as a payload may have.
func (in *intake) Write(b []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.buf.Write(b[:min(len(b), hook.MaxPayload-in.buf.Len())])
	select {
	case in.came <- struct{}{}:
	default:
	}
	return len(b), nil
}

// wait reports whether the stream has ended in time, or the input so far is a
// whole payload. It does not wait for a program that leaves the stream open, so
// that the calls of the hub have the time.
func (in *intake) wait(ctx context.Context, most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	for {
		select {
		case <-in.ended:
			return true
		case <-in.came:
			if b := bytes.TrimSpace(in.taken()); bytes.HasPrefix(b, []byte("{")) && json.Valid(b) {
				return true
			}
		case <-t.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// taken returns the input so far.
func (in *intake) taken() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return bytes.Clone(in.buf.Bytes())
}

// program is the path by which this executable was started, if it is absolute: an adapter's entry and its
// rule for permissions name it so.
func program() string {
	if filepath.IsAbs(os.Args[0]) {
		return os.Args[0]
	}
	return ""
}
