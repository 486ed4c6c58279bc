//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"hubcli/internal/require"
)

// The samples of the pages do what a reader is told that they do. readme_test.go, cli_page_test.go and day_test.go have more.

// readPage returns a page of the project.
func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	require.NoError(t, err)
	return string(text)
}

// pageBlocks returns the fenced blocks of a language on a page.
func pageBlocks(t *testing.T, page, language string) []string {
	t.Helper()
	var blocks []string
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(readPage(t, page), -1) {
		blocks = append(blocks, found[1])
	}
	return blocks
}

// shownOn returns the console samples of a page in their order, with a port that is free.
func shownOn(t *testing.T, page, port string) []shown {
	t.Helper()
	var all []shown
	for _, block := range pageBlocks(t, page, "console") {
		all = append(all, shownIn(strings.ReplaceAll(block, "6969", port))...)
	}
	return all
}

// pageWays says for each kind of fenced block by what it is run. A block of another kind is not run, and does not
// belong on the page.
var pageWays = map[string]map[string]string{
	"README.md": {
		"console": "TestReadmeSamplesPrintWhatTheySay",
		"text":    "the prompts, whose calls of tools the same test makes",
	},
	"docs/by-hand.md":  {"console": "TestByHandSamplesPrintWhatTheySay"},
	"python/README.md": {"python": "TestPythonSample"},
}

func TestPageBlocksAreAllRun(t *testing.T) {
	for page, ways := range pageWays {
		for _, found := range regexp.MustCompile("(?ms)^```(\\w*)\n.*?^```$").FindAllStringSubmatch(readPage(t, page), -1) {
			if ways[found[1]] == "" {
				t.Errorf("%s: nothing runs the block\n%s", page, found[0])
			}
		}
		for _, block := range pageBlocks(t, page, "console") {
			if !strings.HasPrefix(block, "$ ") {
				t.Errorf("%s: a sample does not begin with a command:\n%s", page, block)
			}
		}
	}
}

// runShown types the samples of a page one after the other, and compares what they print. typed says what is typed in the
// place of the page's words. What after has for the beginning of a command is done behind it, once.
func runShown(t *testing.T, bash *shell, page string, all []shown, typed *strings.Replacer, after map[string]func()) {
	t.Helper()
	ids := sampleIDs{}
	for _, s := range all {
		out, exit, err := bash.run(typed.Replace(ids.command(s.command)))
		if err != nil || !ids.match(s.output, out) {
			// What follows rests on it. A hub of somebody else is not to be worked on.
			t.Fatalf("$ %sprinted (%v)\n%s\n%s says\n%s", s.command, err, out, page, s.output)
		}
		if refused := strings.Contains(s.output, "\nfix: ") || strings.HasPrefix(s.output, "fix: "); (exit != 0) != refused {
			t.Errorf("%s: exit code %d", s.command, exit)
		}
		for begin, do := range after {
			if strings.HasPrefix(s.command, begin) {
				delete(after, begin)
				do()
			}
		}
	}
}

// readmeEnvironment is that of a reader with an empty home and a free port.
func readmeEnvironment(home, port string) []string {
	return append(os.Environ(), "HOME="+home, "HUB_DATA_ROOT="+filepath.Join(home, ".local", "share", "hubcli"),
		"HUB_BASE_URL=http://127.0.0.1:"+port)
}

// TestIndexNamesEachPage: docs/README.md leads to every page of the folder.
func TestIndexNamesEachPage(t *testing.T) {
	index := readPage(t, "docs/README.md")
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
	if len(pages) < 30 {
		t.Errorf("only %d pages were found", len(pages))
	}
}

// TestByHandSamplesPrintWhatTheySay: every console sample of docs/by-hand.md, in the order of the page, in one shell of a
// user who has nothing but a harness.
func TestByHandSamplesPrintWhatTheySay(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	home, current := t.TempDir(), t.TempDir()
	t.Cleanup(func() { end(port, home) })
	require.NoError(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	all := shownOn(t, "docs/by-hand.md", port)
	if len(all) < 25 || all[0].command != "hubcli ensure\n" || all[len(all)-1].command != "hubcli stop\n" {
		t.Fatalf("docs/by-hand.md begins with %+v, ends with %+v", all[0], all[len(all)-1])
	}
	runShown(t, startShell(t, current, readmeEnvironment(home, port)), "docs/by-hand.md", all, strings.NewReplacer(), nil)
	if left, _ := filepath.Glob(filepath.Join(current, "*", "*")); len(left) > 0 {
		t.Errorf("the samples have left %v", left)
	}
}

// TestPythonSample: the program of python/README.md runs as it stands, and shows what the command that it
// names posts.
func TestPythonSample(t *testing.T) {
	// By its own path: what stands in PATH may look for the interpreter in the home.
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	require.NoError(t, err)
	port, err := freePort()
	require.NoError(t, err)
	home := t.TempDir()
	t.Cleanup(func() { end(port, home) })
	client, err := filepath.Abs(filepath.Join("..", "..", "python", "src"))
	require.NoError(t, err)
	program := exec.CommandContext(t.Context(), strings.TrimSpace(string(python)), "-u", "-c", pageBlocks(t, "python/README.md", "python")[0])
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

// TestRelayLine: the line of docs/relay.md with which an operator begins makes a spool. examples/tests runs the program
// beside it.
func TestRelayLine(t *testing.T) {
	const line = "    hubcli relay --spool-dir ./spool\n"
	if !strings.Contains(readPage(t, "docs/relay.md"), "\n"+line) {
		t.Fatalf("docs/relay.md does not say %s", line)
	}
	folder := t.TempDir()
	spool := filepath.Join(folder, "spool")
	relay := exec.CommandContext(t.Context(), "bash", "-c", "exec "+strings.TrimSpace(line))
	relay.Dir = folder
	relay.Env = append(os.Environ(), "HUB_BASE_URL=http://127.0.0.1:1")
	require.NoError(t, relay.Start())
	err := until(func() bool { _, err := os.Stat(filepath.Join(spool, "requests")); return err == nil })
	_ = relay.Process.Signal(syscall.SIGINT)
	if ended := relay.Wait(); err != nil || ended != nil {
		t.Errorf("%v, %v", err, ended)
	}
}
