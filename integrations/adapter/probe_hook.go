package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
)

// tryHooks calls the installed hooks. Only those that show messages must say
// something. At the other events a message waits, and they must mention it.
func (t *trial) tryHooks(ctx context.Context, w wanted, agent hub.AgentID, dir string) {
	for _, ev := range events {
		name := "hook " + string(ev)
		argv, err := t.hook(w, ev)
		switch {
		case errors.Is(err, errNotOnPath):
			t.failed(name, err, "put hubcli into a folder of PATH")
			continue
		case err != nil:
			t.failed(name, err, t.way("repair"))
			continue
		}
		if argv == nil && (t.harness == hub.HarnessGit || ev != eventStart && ev != eventStop) {
			continue // there is no such event
		}
		if argv == nil {
			t.skipped(name, "the harness itself has to be run for it")
			continue
		}
		said := ""
		if ev == eventPrompt || ev == eventTool || ev == eventStop {
			k := canary{from: agent + "-canary", to: agent, nonce: nonce(8)}
			if err := k.post(ctx, t.config.Hub); err != nil {
				t.failed(name, err, "see that the hub takes writes")
				continue
			}
			if said = k.nonce; ranks(t.harness.HookForm(), ev) { // such a hook names a message without its words
				said = "from " + string(k.from) + " "
			}
		}
		env := environment(t.config.World.Getenv, map[string]string{"HUB_AGENT": string(agent)})
		got, err := tried(ctx, hookAnswer, argv, dir, env, payload(t.harness, ev, "adapter-verify-"+nonce(4), dir))
		if err == nil {
			err = got.check(t.harness, said)
		}
		if err != nil {
			t.failed(name, err, "see hook.log in the data root, and that this answers: "+shellWord(argv[0])+" hook "+string(ev))
			continue
		}
		t.passed(name, "answered as the harness takes it", got.took)
	}
}

// ranks reports whether the harness takes what its hook says at an event that shows messages
// for its user's or its developer's words.
func ranks(form *hub.HookForm, ev event) bool {
	return ev == eventPrompt && form.Prompt.Ranks || ev == eventTool && form.Tool.Ranks || ev == eventStop && form.Stop.Ranks
}

// errNotOnPath says that a hook, which names no path, finds no program.
var errNotOnPath = errors.New("hubcli is not on PATH, so the hook does nothing")

// hook returns the command by which a part calls the hook of an event, split as
// a shell splits its line; nil if the part does not call it.
func (t *trial) hook(w wanted, ev event) ([]string, error) {
	for _, e := range w.entries {
		if lines := linesOf(e.Value, ev); len(lines) > 0 {
			line := lines[0]
			if line == sharedLine { // the person's own hubcli runs it
				if _, err := t.program("hubcli", t.search); err != nil {
					return nil, errNotOnPath
				}
				line = t.entry.commitHook()
			}
			argv, err := wordsOf(strings.TrimSuffix(line, orElse), t.entry.GOOS)
			if err == nil && (len(argv) < 3 || filepath.FromSlash(argv[0]) != t.entry.Command || argv[1] != "hook" || argv[2] != string(ev)) {
				err = fmt.Errorf("a shell would not run the hook with this line: %q", argv)
			}
			return argv, err
		}
	}
	return nil, nil
}

// hookAnswer bounds the time of a hook, its start included.
const hookAnswer = 2 * time.Second

// maxAnswer bounds, in bytes, the output that is read of a tried process.
const maxAnswer = 1 << 20

// answered tells how a tried process ended.
type answered struct {
	stdout, stderr string
	exit           int
	took           time.Duration
}

// tried runs a command until it ends or the time is over.
func tried(ctx context.Context, limit time.Duration, argv []string, dir string, env []string, stdin string) (answered, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bounded
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, dir, strings.NewReader(stdin), &out, &errs
	cmd.WaitDelay = 100 * time.Millisecond
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd); return nil }
	began := time.Now()
	err := cmd.Run()
	endGroup(cmd)
	a := answered{stdout: out.String(), stderr: errs.String(), exit: cmd.ProcessState.ExitCode(), took: time.Since(began)}
	if ctx.Err() != nil {
		return a, fmt.Errorf("the process did not end within %s", limit)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return a, err
	}
	return a, nil
}

// bounded keeps the first maxAnswer bytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if left := maxAnswer - b.Len(); left > 0 {
		b.Buffer.Write(p[:min(len(p), left)])
	}
	return len(p), nil
}

// payload is the input that a harness gives a hook. It has the members by which
// the hook recognizes the harness if the line names none.
func payload(h hub.Harness, ev event, session, dir string) string {
	call, name := h.HookForm().Call, "SessionStart"
	switch ev {
	case eventStart:
	case eventPrompt:
		name = call.Prompt
	case eventTool:
		name = call.Tool
	case eventEdit:
		name = call.Edit
	case eventCall:
		name = call.Call
	case eventCommit: // Git gives no payload
		return ""
	case eventPermit, eventOwn:
		name = call.Permission
	case eventNotice:
		name = call.Notice
	case eventFail:
		name = call.Failure
	case eventFold:
		name = call.Compact
	case eventTask:
		name = call.TaskCreated
	case eventDone:
		name = call.TaskDone
	case eventSub:
		name = call.SubStart
	case eventSubEnd:
		name = call.SubStop
	case eventStop:
		name = call.Stop
	case eventEnd:
		name = call.End
	}
	line := strings.NewReplacer("$session", quote(session), "$folder", quote(dir), "$event", quote(name)).Replace(call.JSON)
	if ev == eventStart {
		line = strings.Replace(line, "{", `{"source":"startup",`, 1)
	}
	return line
}

// quote writes a text as a JSON string.
func quote(s string) string { return strings.TrimSuffix(text(s), "\n") }

// check returns an error if the answer is wrong. If words is not empty, the
// answer must hold it.
func (a answered) check(h hub.Harness, words string) error {
	form := h.HookForm()
	said := strings.TrimSpace(a.stdout)
	plain := form.Start.Text || form.Stop.Text // such a harness accepts no JSON
	if plain {
		said += a.stderr
	}
	switch {
	case a.exit != 0 && (a.exit != form.Stop.Exit || words == ""):
		return fmt.Errorf("the hook ended with exit code %d: %s", a.exit, firstLine(a.stderr))
	case !plain && said != "" && !isObject(said):
		return errors.New("the hook printed something other than a JSON object: " + firstLine(said))
	case words != "" && !strings.Contains(said, words):
		return errors.New("the hook did not mention a message that waits for the agent")
	}
	return nil
}

func isObject(s string) bool {
	var o map[string]any
	return json.Unmarshal([]byte(s), &o) == nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 200)]
}
