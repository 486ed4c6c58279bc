//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// What the README says is so, and its samples do what a reader is told that they do.

// maxReadme bounds the lines of the README: a reader sees what the hub is for, and begins.
const maxReadme = 160

func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(readPage(t, "README.md"), "\n"); n > maxReadme {
		t.Errorf("the README has %d lines, at most %d are meant: what concerns few readers belongs into docs", n, maxReadme)
	}
}

// TestReadmeNamesEachHarness: the table has a row for each program in which agents run, with the name of its adapter.
func TestReadmeNamesEachHarness(t *testing.T) {
	page := readPage(t, "README.md")
	for _, facts := range hub.AllHarnessFacts() {
		if facts.ID == hub.HarnessGeneric || facts.ID == hub.HarnessGit {
			continue
		}
		row := regexp.MustCompile(`(?m)^\|[^|]*\b` + regexp.QuoteMeta(facts.Title) + `\b[^|]*\|[^|]*` + "`" + regexp.QuoteMeta(string(facts.ID)) + "`")
		if !row.MatchString(page) {
			t.Errorf("the README has no row for %s with its adapter %s", facts.Title, facts.ID)
		}
	}
}

// TestReadmeTimesAreMeasured: each time stands in docs/harnesses.md, which says how it was measured.
func TestReadmeTimesAreMeasured(t *testing.T) {
	measured := readPage(t, "docs/harnesses.md")
	times := regexp.MustCompile(`(\d+) ms`).FindAllStringSubmatch(readPage(t, "README.md"), -1)
	for _, found := range times {
		if !regexp.MustCompile(`\b` + found[1] + ` (and \d+ )?ms`).MatchString(measured) {
			t.Errorf("docs/harnesses.md does not say %s", found[0])
		}
	}
	if len(times) < 5 {
		t.Errorf("only %d times were found", len(times))
	}
}

// TestReadmeSamplesPrintWhatTheySay: every console sample, in the order of the page, in one shell of a user who has two
// harnesses and a repository. The harnesses are stand-ins that end at once. Their bridges are real: the test makes the
// calls of tools that the prompts of the page ask for.
func TestReadmeSamplesPrintWhatTheySay(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	home, current, temporary := t.TempDir(), t.TempDir(), t.TempDir()
	t.Cleanup(func() { end(port, home) })
	programs := filepath.Join(home, "programs")
	require.NoError(t, os.Mkdir(programs, 0o700))
	for _, name := range []string{"claude", "codex"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\nexit 0\n"), 0o700))
	}
	// No room is made in the folder for temporary files, so that is another one.
	environment := append(readmeEnvironment(home, port), "TMPDIR="+temporary, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	bash := startShell(t, current, environment)
	if out, exit, err := bash.run("git init -q shop"); err != nil || exit != 0 {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	prompts := pageBlocks(t, "README.md", "text")
	if len(prompts) != 1 || strings.Count(prompts[0], "\n") != 3 {
		t.Fatalf("the README has the prompts %q", prompts)
	}
	bridge := func(agent, harness string) *wire {
		cmd := exec.Command("hubcli", "mcp", "--harness", harness)
		cmd.Dir, cmd.Env = filepath.Join(current, "shop"), append(slices.Clone(environment), "HUB_AGENT="+agent)
		return startWire(t, cmd).shake()
	}
	var team promptedTeam
	after := map[string]func(){
		"hubcli run codex --as dev ": func() {
			team = promptedTeam{lead: bridge("lead", "claude-code"), dev: bridge("dev", "codex")}
			team.obey(t, bash)
		},
		"hubcli say --to dev ": func() { team.finish(t) },
	}
	all := shownOn(t, "README.md", port)
	for i := range all { // the folder of a test may be so long that the line is cut before the file
		all[i].output = strings.ReplaceAll(all[i].output, "…/shop/NOTES.md", "…")
	}
	typed := strings.NewReplacer("&& hubcli init\n", "&& hubcli init --yes\n") // nobody is there to be asked
	runShown(t, bash, "README.md", all, typed, after)
	if len(after) > 0 {
		t.Errorf("the README does not say %v", after)
	}
}

// promptedTeam are the two agents of the README.
type promptedTeam struct {
	lead, dev *wire
	locked    int // the call of dev that waits for the lock
}

// obey makes the calls that the prompts ask for, up to the question to the operator.
func (p *promptedTeam) obey(t *testing.T, bash *shell) {
	t.Helper()
	p.lead.works("hub_start", nil)
	p.lead.works("hub_plan", map[string]any{"title": "NOTES.md", "tasks": []map[string]any{
		{"title": "What it does", "assignee": "lead"}, {"title": "How to use it", "assignee": "dev"},
	}})
	p.lead.works("hub_take", map[string]any{"files": []string{"NOTES.md"}})
	p.dev.works("hub_start", nil)
	p.dev.works("hub_take", nil)
	p.locked = p.dev.ask("tools/call", map[string]any{"name": "hub_lock", "arguments": map[string]any{"file_path": "NOTES.md", "wait_seconds": 40}})
	p.lead.works("hub_ask_human", map[string]any{"question": "Commit NOTES.md?", "options": []string{"yes", "no"}})
	if err := until(func() bool {
		out, _, err := bash.run("hubcli status")
		return err == nil && strings.Contains(out, "dev  waits for lead")
	}); err != nil {
		t.Errorf("dev does not wait for the lock: %v", err)
	}
}

// finish reads what the operator has said, and ends the task of lead.
func (p *promptedTeam) finish(t *testing.T) {
	t.Helper()
	if said := p.lead.works("hub_poll_messages", map[string]any{"timeout_seconds": 0}); !strings.Contains(said, "yes") {
		t.Errorf("lead does not read the answer: %s", said)
	}
	p.lead.works("hub_done", map[string]any{"note": "written"})
	if r, err := p.dev.await(p.locked); err != nil || !bytes.Contains(r.Result, []byte(`"acquired":true`)) {
		t.Errorf("the lock does not pass to dev: %v, %s", err, r.Result)
	}
	if said := p.dev.works("hub_poll_messages", map[string]any{"timeout_seconds": 0}); !strings.Contains(said, "keep your part below ten lines") {
		t.Errorf("dev does not read what the operator said: %s", said)
	}
}

// works calls a tool that has to succeed, and returns what it says.
func (w *wire) works(tool string, args any) string {
	w.t.Helper()
	answer, text := w.call(tool, args)
	if answer.IsError {
		w.t.Fatalf("%s: %s", tool, text)
	}
	return text + string(answer.Data)
}

// TestReadmeEntryIsTaken: the entry for other harnesses is whole, and what it names
// serves.
func TestReadmeEntryIsTaken(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	root := t.TempDir()
	t.Cleanup(func() { end(port, root) })
	var file struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	entries := regexp.MustCompile("`({\"mcpServers\".*?)`").FindAllStringSubmatch(readPage(t, "README.md"), -1)
	if len(entries) != 1 || json.Unmarshal([]byte(entries[0][1]), &file) != nil || len(file.Servers) != 1 {
		t.Fatalf("the README has the entries %q", entries)
	}
	entry := file.Servers["hub"]
	cmd := exec.CommandContext(t.Context(), entry.Command, entry.Args...)
	cmd.Env = append(os.Environ(), "HUB_DATA_ROOT="+root, "HUB_BASE_URL=http://127.0.0.1:"+port)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	_, werr := stdin.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"readme","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`))
	// The bridge starts a hub: only one that has come can be stopped.
	err = errors.Join(werr, until(func() bool { return answers(port) }), stdin.Close(), cmd.Wait())
	if err != nil || !bytes.Contains(out.Bytes(), []byte(`"name":"hub_whoami"`)) {
		t.Errorf("%v:\n%s", err, out.String())
	}
	stop := exec.CommandContext(t.Context(), "hubcli", "stop", "--port", port)
	stop.Env = cmd.Env
	if out, err := stop.CombinedOutput(); err != nil {
		t.Errorf("stop: %v\n%s", err, out)
	}
}

// TestReadmeCommandsAreKnown: what stands in the README to be typed and is no console sample is one of these, each of
// which a test runs.
func TestReadmeCommandsAreKnown(t *testing.T) {
	want := []string{"go run ./cmd/hubcli", "make test"} // internal/archtest
	var got []string
	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(readPage(t, "README.md"), "")
	for _, found := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(prose, -1) {
		got = append(got, found[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the README has the commands\n%q, want\n%q", got, want)
	}
}

func TestReadmeBuild(t *testing.T) {
	const line = "go run ./internal/pack -o ~/.local/bin/hubcli"
	for _, page := range []string{"README.md", "docs/install.md"} {
		if !strings.Contains(readPage(t, page), line) {
			t.Errorf("%s does not say %s", page, line)
		}
	}
	home := t.TempDir()
	build := exec.CommandContext(t.Context(), "bash", "-c", line+" && ~/.local/bin/hubcli --version")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "HOME="+home)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		dir, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		require.NoError(t, err)
		build.Env = append(build.Env, name+"="+strings.TrimSpace(string(dir)))
	}
	if out, err := build.CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("hubcli ")) {
		t.Errorf("%v:\n%s", err, out)
	}
}
