//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// The script examples/day.sh, word for word, with the real executable, a real store
// and a real repository: a team works in a room, two of it change a file under a
// claim and a lock, the third sleeps until they are done, the hub is killed with
// SIGKILL meanwhile, and nothing acknowledged is lost.
func TestDayOfATeam(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	dir := t.TempDir()
	t.Cleanup(func() { end(port, dir) })
	temporary, current, walk := filepath.Join(dir, "tmp"), filepath.Join(dir, "current"), filepath.Join(dir, "kept")
	for _, folder := range []string{temporary, current} {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	// The only other word: what the walk removes at its end is looked at below.
	text := strings.ReplaceAll(dayOfATeam(t), "7979", port)
	text = replaceOnce(t, text, `rm -rf "$walk"`, `cp -R "$walk" '`+walk+`'; rm -rf "$walk"`)
	script := filepath.Join(dir, "walk.sh")
	require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", script)
	bash.Dir = current
	bash.Env = append(os.Environ(), "HUB_DATA_ROOT="+filepath.Join(dir, "data"), "TMPDIR="+temporary)
	out, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("the walk failed: %v\n%s", err, out)
	}
	for _, folder := range []string{temporary, current, filepath.Join(dir, "data")} {
		if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
			t.Errorf("the walk has left %v", left)
		}
	}
	if answers(port) {
		t.Error("the walk has left a hub")
	}
	checkRepository(t, filepath.Join(walk, "repo"))
	for _, want := range []string{
		"as dev-a (implementer)", "as dev-b (implementer)", `"outcome":"matched"`, `is complete"`, "recorded decision",
		": One line per change", "3 seats", "0 open tasks", " 2/2 ",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the walk did not print %s:\n%s", want, out)
		}
	}
	answers := readAnswers(t, filepath.Join(walk, "answers.log"))
	checkLeases(t, answers)
	checkMessages(t, port, filepath.Join(walk, "store"), answers)
}

// TestDayThatFails leaves no more behind than one that succeeds.
func TestDayThatFails(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	temporary := t.TempDir()
	t.Cleanup(func() { end(port, temporary) })
	text := strings.ReplaceAll(dayOfATeam(t), "7979", port)
	text = replaceOnce(t, text, "# One code lets two developers in.\n", "sleep 300 &\nfalse\n")
	bash := exec.CommandContext(t.Context(), "bash", "-c", text)
	bash.Dir, bash.Env = t.TempDir(), append(os.Environ(), "TMPDIR="+temporary)
	if out, err := bash.CombinedOutput(); exitCode(err) != 1 {
		t.Errorf("the walk ended with %v:\n%s", err, out)
	}
	for _, folder := range []string{temporary, bash.Dir} {
		if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
			t.Errorf("the walk has left %v", left)
		}
	}
	if answers(port) {
		t.Error("the walk has left a hub")
	}
}

// dayOfATeam returns the script of the examples.
func dayOfATeam(t *testing.T) string {
	t.Helper()
	return readPage(t, "examples/day.sh")
}

func replaceOnce(t *testing.T, text, old, replacement string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("the text does not say %q once", old)
	}
	return strings.Replace(text, old, replacement, 1)
}

func checkRepository(t *testing.T, repo string) {
	t.Helper()
	changes, err := os.ReadFile(filepath.Join(repo, "CHANGES"))
	require.NoError(t, err)
	log, err := exec.Command("git", "-C", repo, "log", "--stat", "--format=%s").CombinedOutput()
	if err != nil {
		t.Fatalf("git log: %v\n%s", err, log)
	}
	for _, dev := range []string{"dev-a", "dev-b"} {
		if strings.Count(string(changes), "- "+dev+" was here") != 1 || strings.Count(string(log), "CHANGES: "+dev) != 1 {
			t.Errorf("%s has not one line and one commit:\n%s\n%s", dev, changes, log)
		}
	}
	if n := strings.Count(string(log), "1 insertion(+)"); n != 3 {
		t.Errorf("%d commits add one line, want 3: the work was not done one after the other\n%s", n, log)
	}
}

// readAnswers returns the rows that the walk's commands have printed.
func readAnswers(t *testing.T, name string) (all []json.RawMessage) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	// Not by lines: the walk's processes append side by side, an answer and its
	// line end apart.
	for stream := json.NewDecoder(f); ; {
		var row json.RawMessage
		err := stream.Decode(&row)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("an answer of the walk, behind %d others, is none: %v, %s", len(all), err, row)
		}
		all = append(all, row)
	}
}

// checkLeases holds the walk's grants against each other: whoever came second
// was granted after the first had let go, with a higher fence.
func checkLeases(t *testing.T, answers []json.RawMessage) {
	t.Helper()
	var grants, releases []hub.Claim
	for _, row := range answers {
		var c hub.Claim
		if json.Unmarshal(row, &c) != nil || c.ClaimKey == "" {
			continue
		}
		if c.ReleasedAt != nil {
			releases = append(releases, c)
		} else {
			grants = append(grants, c)
		}
	}
	if len(grants) != 2 || len(releases) != 2 {
		t.Fatalf("%d grants and %d releases of the claim, want 2 and 2", len(grants), len(releases))
	}
	first, second := grants[0], grants[1]
	if second.Fence < first.Fence {
		first, second = second, first
	}
	if first.OwnerAgentID == second.OwnerAgentID || first.Fence == second.Fence || second.ClaimedAt < *releases[0].ReleasedAt {
		t.Errorf("two held the claim at once: %+v then %+v, released %v", first, second, releases[0].ReleasedAt)
	}
}

// checkMessages starts the walk's hub again and looks for every message that was
// acknowledged.
func checkMessages(t *testing.T, port, store string, answers []json.RawMessage) {
	t.Helper()
	if out, err := exec.Command("hubcli", "ensure", "--port", port, "--storage", store, "--adopt").CombinedOutput(); err != nil {
		t.Fatalf("ensure: %v\n%s", err, out)
	}
	seen := map[hub.MessageID]bool{}
	for _, said := range answers {
		var posted struct {
			ID hub.MessageID `json:"id"`
		}
		if json.Unmarshal(said, &posted) != nil || posted.ID == 0 {
			continue
		}
		if seen[posted.ID] {
			t.Errorf("message %d was acknowledged twice", posted.ID)
		}
		seen[posted.ID] = true
		row, err := at(port).Message(t.Context(), posted.ID, "lead")
		if err != nil || !bytes.Equal(row, said) {
			t.Errorf("message %d is %s (%v), was acknowledged as %s", posted.ID, row, err, said)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d messages were acknowledged, want 4", len(seen))
	}
}
