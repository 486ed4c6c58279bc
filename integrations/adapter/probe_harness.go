package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
	"hubcli/internal/lazy"
)

// harnessAnswer bounds the time of a harness that is asked for its servers.
const harnessAnswer = 20 * time.Second

// question is how a harness is asked whether it takes the hub's entry.
type question struct {
	args   []string
	home   string       // folder below the home folder in which it finds its file
	good   *lazy.Regexp // in its answer if all is well
	means  string       // what good says
	others bool         // it starts every server of its file
}

// The questions. A question that starts the server is better than one that only
// reads the file.
var (
	claudeAsks   = &question{[]string{"mcp", "get", serverName}, "", &lazy.Regexp{Pattern: `(?m)^\s*Status: ✔ Connected$`}, "it connects to the server", false}
	codexAsks    = &question{[]string{"mcp", "get", serverName}, ".codex", &lazy.Regexp{Pattern: `(?m)^\s*enabled: true$`}, "it takes its file and has the server switched on", false}
	geminiAsks   = &question{[]string{"mcp", "list"}, ".gemini", &lazy.Regexp{Pattern: `(?m)✓ hub( \(from hubcli\))?: .* - Connected$`}, "it connects to the server", true}
	qwenAsks     = &question{[]string{"mcp", "list"}, ".qwen", &lazy.Regexp{Pattern: `(?m)✓.* hub: .* - Connected$`}, "it connects to the server", true}
	copilotAsks  = &question{[]string{"mcp", "get", serverName}, ".copilot", &lazy.Regexp{Pattern: `(?m)^\s*Status: Enabled$`}, "it takes its file and has the server switched on", false}
	opencodeAsks = &question{[]string{"mcp", "list"}, ".config/opencode", &lazy.Regexp{Pattern: `✓ hub .*connected`}, "it connects to the server", true}
)

// quiet keeps harnesses from updating themselves and from coloring their answer.
var quiet = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"NO_COLOR": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"OPENCODE_DISABLE_AUTOUPDATE": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
	}
})

// colorCode is an SGR sequence.
var colorCode = lazy.Regexp{Pattern: "\x1b\\[[0-9;]*m"}

// tryHarness asks the harness itself. It reads a copy of its file in a home
// folder of its own, because some harnesses rewrite their files when they start,
// and one of them replaces a file that it cannot read. The copy has no servers
// of others, because harnesses start them all.
func (t *trial) tryHarness(ctx context.Context, r *row, w wanted, agent hub.AgentID, dir string) {
	const name = "harness"
	q := r.asks
	if q == nil || t.owner.Scope != files.Global || t.entry.GOOS == "windows" {
		return
	}
	binary := t.binary(r)
	if binary == "" {
		t.skipped(name, "its executable is neither on your PATH nor on that of the hub")
		return
	}
	if err := trusted(binary); err != nil {
		t.skipped(name, err.Error())
		return
	}
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	at, file := filepath.Join(home, filepath.FromSlash(q.home)), w.entries[len(w.entries)-1].File
	err := errors.Join(os.MkdirAll(at, 0o700), os.MkdirAll(project, 0o700))
	if own := r.global.own; err == nil && own != nil && w.entries[0].Format == edit.Whole {
		err = t.copyOwn(r.global, w, agent, at)
		at = filepath.Join(at, filepath.FromSlash(own.under))
	} else if err == nil {
		err = t.copyFor(q, w.entries[0], agent, at)
	}
	if err != nil {
		t.failed(name, err, "see that there is room for temporary files")
		return
	}
	vars := map[string]string{"HOME": home}
	if t.search != "" { // where the program finds what it is written for, such as node
		vars["PATH"] = t.search
	}
	for key, value := range quiet() {
		vars[key] = value
	}
	got, err := tried(ctx, harnessAnswer, append([]string{binary}, q.args...), project, environment(t.config.World.Getenv, vars), "")
	said := colorCode.ReplaceAllString(got.stdout+"\n"+got.stderr, "") // Gemini CLI prints its list to stderr
	switch {
	case err != nil:
		t.skipped(name, strings.Join(q.args, " ")+": "+err.Error())
	case q.good.MatchString(said):
		t.passed(name, r.title()+" says: "+q.means, got.took)
	case got.exit != 0:
		t.failed(name, errors.New(r.title()+" refuses its file: "+complaint(got, at, file)), "correct "+file)
	default:
		t.failed(name, errors.New(r.title()+" does not connect to the server: "+complaint(got, at, file)), t.way("repair"))
	}
}

// binary returns the path of the harness's executable; empty if there is none.
func (t *trial) binary(r *row) string {
	for _, name := range r.harness.Facts().Programs {
		if path, err := t.program(name, t.search); err == nil {
			return path
		}
	}
	return ""
}

// copyFor writes the copy of a harness's file, whose server acts as a test's
// agent.
func (t *trial) copyFor(q *question, e files.Entry, agent hub.AgentID, at string) error {
	doc, err := files.Read(e.Root, e.File, e.Owner.Scope)
	if err != nil {
		return err
	}
	if q.others {
		if doc, err = withoutOthers(e, doc); err != nil {
			return err
		}
	}
	entry := entryOf(e)
	if entry[variablesOf(entry)], err = json.Marshal(t.actsAs(agent)); err != nil {
		return err
	}
	if doc, err = edit.Replace(e.Format, doc, e.At, entry); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, filepath.Base(e.File)), doc, 0o600)
}

// actsAs are the variables with which a server acts as an agent.
func (t *trial) actsAs(agent hub.AgentID) map[string]string {
	return map[string]string{"HUB_AGENT": string(agent), "HUB_DATA_ROOT": t.config.World.DataRoot}
}

// copyOwn writes the copy of the hub's own files with its server, and of the user's file without the
// servers of others.
func (t *trial) copyOwn(s *setup, w wanted, agent hub.AgentID, at string) error {
	user, err := t.Adapters.entry(&s.mcp[0], t.owner, hub.PartMCP, t.entry)
	if err != nil {
		return err
	}
	doc, err := files.Read(user.Root, user.File, t.owner.Scope)
	if err == nil && len(doc) > 0 {
		if doc, err = withoutOthers(user, doc); err == nil {
			err = os.WriteFile(filepath.Join(at, filepath.Base(user.File)), doc, 0o600)
		}
	}
	for name, content := range s.own.settled {
		name = filepath.Join(at, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600))
	}
	at = filepath.Join(at, filepath.FromSlash(s.own.under))
	err = errors.Join(err, os.MkdirAll(at, 0o700))
	for _, e := range w.entries {
		if err != nil {
			return err
		}
		if doc, err = files.Read(e.Root, e.File, t.owner.Scope); err == nil {
			doc, err = withVariables(doc, t.actsAs(agent))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(at, filepath.Base(e.File)), doc, 0o600)
		}
	}
	return err
}

// withoutOthers returns a document without the servers beside an entry.
func withoutOthers(e files.Entry, doc []byte) ([]byte, error) {
	parent := slices.Clone(e.At.Keys[:len(e.At.Keys)-1])
	all, found, err := edit.Get(e.Format, doc, edit.Pointer{Keys: parent})
	var servers map[string]json.RawMessage
	if err == nil && found {
		err = json.Unmarshal(all, &servers)
	}
	for name := range servers {
		if err == nil && name != serverName {
			doc, err = edit.Remove(e.Format, doc, edit.Pointer{Keys: append(slices.Clone(parent), name)}, edit.Trace{})
		}
	}
	return doc, err
}

// complaint returns the lines of a harness's answer that say most: from the first
// one with a word for a failure, else from the first one, some lines. It names the file and not
// the copy.
func complaint(a answered, folder, file string) string {
	var lines []string
	for l := range strings.Lines(colorCode.ReplaceAllString(a.stderr+"\n"+a.stdout, "")) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	bad := slices.IndexFunc(lines, func(l string) bool {
		low := strings.ToLower(l)
		return slices.ContainsFunc([]string{"error", "fail", "✘", "✗", "invalid", "corrupt"}, func(w string) bool { return strings.Contains(low, w) })
	})
	lines = lines[max(bad, 0):]
	said := strings.Join(lines[:min(len(lines), 4)], " ")
	if len(said) > maxComplaint {
		said = strings.ToValidUTF8(said[:maxComplaint], "")
	}
	return strings.ReplaceAll(said, filepath.Join(folder, filepath.Base(file)), file)
}

// maxComplaint bounds, in bytes, what is shown of a harness's answer.
const maxComplaint = 300

// wakeless says why a message does not wake an idle agent of a harness, and how
// it reaches the agent; empty if a background process, a stream or the bridge wakes it.
func wakeless(r *row, s *setup) string {
	facts := r.harness.Facts()
	if facts.Wakes || facts.Queues || facts.Streams && len(s.hooks) > 0 {
		return ""
	}
	why := r.title() + " begins no turn when a background process ends"
	how := "messages reach it by hub_poll_messages in a turn"
	if len(s.hooks) > 0 && facts.Hooks != nil {
		how = "messages reach it by its hooks, and by hub_poll_messages in a turn"
	}
	return cannotWake + ": " + why + "; " + how
}

// queued says how a harness is woken whose own command begins a turn. Nothing is tried,
// because only a session of the harness can show it.
func queued(r *row) string {
	return "the bridge begins a turn of an idle interactive session of " + r.title() +
		", as soon as its agent has called a tool of the hub once; a session that ends with its turn is not woken. Messages also reach it by its hooks"
}

// cannotWake begins the detail of a check that names no wake.
const cannotWake = "cannot wake"
