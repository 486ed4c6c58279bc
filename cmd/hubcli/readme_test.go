//go:build unix

package main

import (
	"bytes"
	"context"
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
	"time"

	"hubcli/internal/require"
)

// The samples of the README do what a reader is told that they do. The walk has
// tests of its own, and the Python samples are run in examples/tests.

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

// shown is a command of a console sample and what the README says that it prints.
type shown struct{ command, output string }

func shownIn(block string) []shown {
	var all []shown
	more := false // the line before ended in a backslash
	for line := range strings.Lines(block) {
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case begins:
			all = append(all, shown{command: command})
		case more:
			all[len(all)-1].command += line
		case len(all) > 0:
			all[len(all)-1].output += line
		}
		more = (begins || more) && strings.HasSuffix(line, "\\\n")
	}
	return all
}

var spaces = regexp.MustCompile(`(?m) +$`)

// pattern matches what a sample shows: … within a line is anything, alone in a line
// any number of lines.
func (s shown) pattern() *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(s.output) {
		if line == "…\n" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		b.WriteString(strings.Join(parts, `.*?`) + `\n`)
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// TestReadmeSamplesPrintWhatTheySay: every console sample, in the order of the page,
// by a user who has nothing but a harness.
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
	if len(all) < 10 || all[0].command != "hubcli ensure\n" || all[len(all)-1].command != "hubcli stop\n" {
		t.Fatalf("the README begins with %+v, ends with %+v", all[0], all[len(all)-1])
	}
	for _, s := range all {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		bash := exec.CommandContext(ctx, "bash", "-c", s.command)
		bash.Dir = current
		bash.Env = append(os.Environ(), "HOME="+home, "HUB_DATA_ROOT="+filepath.Join(home, ".local", "share", "hubcli"),
			"HUB_BASE_URL=http://127.0.0.1:"+port)
		out, err := bash.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%s: %v", s.command, err)
		}
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, '\n') // as curl leaves it
		}
		out = spaces.ReplaceAll(out, nil) // of tables, at the ends of lines
		if !s.pattern().Match(out) {
			t.Errorf("$ %sprinted\n%s\nthe README says\n%s", s.command, out, s.output)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(current, "*")); len(left) > 0 {
		t.Errorf("the samples have left %v", left)
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
	if out, err := exec.CommandContext(t.Context(), "hubcli", "stop", "--port", port).CombinedOutput(); err != nil {
		t.Errorf("stop: %v\n%s", err, out)
	}
}

// TestReadmeCommandsAreKnown: what stands in the README to be typed and is no console
// sample is one of these, each of which a test runs.
func TestReadmeCommandsAreKnown(t *testing.T) {
	want := []string{
		"go build -o ~/bin/hubcli ./cmd/hubcli", // below
		"go run ./cmd/hubcli", "make test",      // internal/archtest
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
	build := exec.CommandContext(t.Context(), "bash", "-c", "go build -o ~/bin/hubcli ./cmd/hubcli && ~/bin/hubcli --version")
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
