//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hubcli/internal/require"
)

// The samples of the README do what a reader is told that they do. The walk has
// tests of its own.

func readReadme(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	return string(readme)
}

// readmeBlocks returns the fenced blocks of a language.
func readmeBlocks(t *testing.T, language string) []string {
	t.Helper()
	var blocks []string
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(readReadme(t), -1) {
		blocks = append(blocks, found[1])
	}
	return blocks
}

// readmeWays says for each kind of fenced block by what it is run. A block of another
// kind is not run, and does not belong on the page.
var readmeWays = map[string]string{
	"console": "TestReadmeSamplesPrintWhatTheySay",
	"bash":    "TestReadmeWalk",
	"json":    "TestReadmeEntryIsTaken",
	"python":  "TestReadmePython; the one of sandboxed agents needs a mounted folder: examples/tests runs it with another",
}

func TestReadmeBlocksAreAllRun(t *testing.T) {
	for _, found := range regexp.MustCompile("(?ms)^```(\\w*)\n.*?^```$").FindAllStringSubmatch(readReadme(t), -1) {
		if readmeWays[found[1]] == "" {
			t.Errorf("nothing runs the block\n%s", found[0])
		}
	}
	for _, block := range readmeBlocks(t, "console") {
		if !strings.HasPrefix(block, "$ ") {
			t.Errorf("a sample does not begin with a command:\n%s", block)
		}
	}
}

// TestReadmeSamplesPrintWhatTheySay: every console sample, in the order of the page, in
// one shell of a user who has nothing but a harness.
func TestReadmeSamplesPrintWhatTheySay(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	home, current := t.TempDir(), t.TempDir()
	t.Cleanup(func() { end(port, home) })
	require.NoError(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	var all []shown
	for _, block := range readmeBlocks(t, "console") {
		all = append(all, shownIn(strings.ReplaceAll(block, "6969", port))...)
	}
	if len(all) < 25 || all[0].command != "hubcli ensure\n" || all[len(all)-1].command != "hubcli stop\n" {
		t.Fatalf("the README begins with %+v, ends with %+v", all[0], all[len(all)-1])
	}
	bash := startShell(t, current, readmeEnvironment(home, port))
	ids := sampleIDs{}
	for _, s := range all {
		out, exit, err := bash.run(ids.command(s.command))
		if err != nil || !ids.match(s.output, out) {
			// What follows rests on it. A hub of somebody else is not to be worked on.
			t.Fatalf("$ %sprinted (%v)\n%s\nthe README says\n%s", s.command, err, out, s.output)
		}
		if refused := strings.Contains(s.output, "\nfix: ") || strings.HasPrefix(s.output, "fix: "); (exit != 0) != refused {
			t.Errorf("%s: exit code %d", s.command, exit)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(current, "*", "*")); len(left) > 0 {
		t.Errorf("the samples have left %v", left)
	}
}

// readmeEnvironment is that of a reader with an empty home and a free port.
func readmeEnvironment(home, port string) []string {
	return append(os.Environ(), "HOME="+home, "HUB_DATA_ROOT="+filepath.Join(home, ".local", "share", "hubcli"),
		"HUB_BASE_URL=http://127.0.0.1:"+port)
}

// TestReadmePython: the program runs as it stands, and shows what the command that it
// names posts.
func TestReadmePython(t *testing.T) {
	// By its own path: what stands in PATH may look for the interpreter in the home.
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	require.NoError(t, err)
	port, err := freePort()
	require.NoError(t, err)
	home := t.TempDir()
	t.Cleanup(func() { end(port, home) })
	client, err := filepath.Abs(filepath.Join("..", "..", "python", "src"))
	require.NoError(t, err)
	program := exec.CommandContext(t.Context(), strings.TrimSpace(string(python)), "-u", "-c", readmeBlocks(t, "python")[0])
	program.Dir = t.TempDir()
	program.Env = append(readmeEnvironment(home, port), "PYTHONPATH="+client, "PYTHONDONTWRITEBYTECODE=1")
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	var complaints bytes.Buffer
	program.Stderr = &complaints
	require.NoError(t, program.Start())
	lines := bufio.NewScanner(out)
	read := func() string { lines.Scan(); return lines.Text() }
	if got := read(); got != "dev-a has the parser" {
		t.Errorf("it prints %q", got)
	}
	_, command, named := strings.Cut(read(), "in another terminal: ")
	if err := until(func() bool { return parked(port, 1) }); err != nil {
		t.Errorf("it does not wait: %v", err)
	}
	other := exec.CommandContext(t.Context(), "bash", "-c", command)
	other.Env = readmeEnvironment(home, port)
	if posted, err := other.CombinedOutput(); err != nil || !named {
		t.Errorf("%s: %v\n%s", command, err, posted)
	}
	if got := read(); got != "you hello" {
		t.Errorf("it prints %q", got)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("%v\n%s", err, complaints.String())
	}
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
	blocks := readmeBlocks(t, "json")
	if len(blocks) != 1 || json.Unmarshal([]byte(blocks[0]), &file) != nil || len(file.Servers) != 1 {
		t.Fatalf("the README has the entries %q", blocks)
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

// TestReadmeCommandsAreKnown: what stands in the README to be typed and is no console
// sample is one of these, each of which a test runs.
func TestReadmeCommandsAreKnown(t *testing.T) {
	want := []string{
		"go run ./internal/pack -o ~/bin/hubcli", // below
		"go run ./cmd/hubcli", "make test",       // internal/archtest
		"hubcli app demo", "cd your-repository && hubcli init", // TestDemo, the script init.txt
		"python3 -m venv .venv && .venv/bin/pip install ./python", // the tests in Python, with the package as pip installs it
		"hubcli relay --spool-dir /srv/sandbox/spool",             // below
	}
	var got []string
	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(readReadme(t), "")
	for _, found := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(prose, -1) {
		got = append(got, found[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the README has the commands\n%q, want\n%q", got, want)
	}
}

func TestReadmeBuild(t *testing.T) {
	home := t.TempDir()
	build := exec.CommandContext(t.Context(), "bash", "-c", "go run ./internal/pack -o ~/bin/hubcli && ~/bin/hubcli --version")
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

func TestReadmeRelay(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "spool")
	line := replaceOnce(t, "hubcli relay --spool-dir /srv/sandbox/spool", "/srv/sandbox/spool", spool)
	relay := exec.CommandContext(t.Context(), "bash", "-c", "exec "+line)
	relay.Env = append(os.Environ(), "HUB_BASE_URL=http://127.0.0.1:1")
	require.NoError(t, relay.Start())
	err := until(func() bool { _, err := os.Stat(filepath.Join(spool, "requests")); return err == nil })
	_ = relay.Process.Signal(syscall.SIGINT)
	if ended := relay.Wait(); err != nil || ended != nil {
		t.Errorf("%v, %v", err, ended)
	}
}
