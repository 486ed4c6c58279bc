//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

const (
	editors = 20 // agents that edit at once
	edits   = 3  // of each agent
)

// editor is an agent whose harness asks the hub before and after each edit.
type editor struct {
	*hooked
	t  *testing.T
	id hub.AgentID
}

// edit adds a line to a file, as a tool does: it reads all and writes all. If the edit
// is refused, the agent waits for the lock, as it was told.
func (e *editor) edit(file, line string) {
	if e.asks("before-edit", file) {
		defer e.asks("tool", file)
	} else {
		got, err := e.Lock(e.t.Context(), hub.LockInput{FilePath: file, AgentID: e.id, TTLSec: 60, WaitSec: 60})
		if err != nil || !got.Acquired {
			e.t.Errorf("%s waits for %s: %+v, %v", e.id, file, got.Row, err)
			return
		}
		defer func() {
			_, _ = e.ReleaseLock(e.t.Context(), hub.LockHoldInput{FilePath: file, AgentID: e.id})
		}()
		if !e.asks("before-edit", file) {
			e.t.Errorf("%s may not edit what it has locked", e.id)
		}
	}
	text, err := os.ReadFile(file)
	if err == nil {
		_, err = e.Info(e.t.Context()) // the model thinks
	}
	if err == nil {
		err = os.WriteFile(file, append(text, line+"\n"...), 0o600)
	}
	if err != nil {
		e.t.Error(err)
	}
}

// asks runs a hook about a file. It reports whether the edit may go on.
func (e *editor) asks(event, file string) bool {
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"tool_input":{"file_path":%q}}`, e.id, e.folder, file)
	out, err := e.command([]string{"HUB_AGENT=" + string(e.id)}, payload, "hook", event, "--harness", "codex").CombinedOutput()
	if err != nil {
		e.t.Errorf("hook %s: %v: %s", event, err, out)
	}
	return !strings.Contains(string(out), `"permissionDecision":"deny"`)
}

// editTogether lets all editors edit a few files at once and returns how many of their
// edits are lost.
func editTogether(t *testing.T, h *hooked, policy hub.LockPolicy) (lost int) {
	t.Helper()
	if _, err := h.AsOperator().SetLocks(t.Context(), h.room.RoomID, hub.LockPolicyInput{Locks: policy}); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(h.folder)
	require.NoError(t, err)
	files := make([]string, 3)
	for i := range files {
		files[i] = filepath.Join(dir, fmt.Sprintf("%s-%d.txt", policy, i))
		require.NoError(t, os.WriteFile(files[i], nil, 0o600))
	}
	var all sync.WaitGroup
	for i := range editors {
		e := &editor{hooked: h, t: t, id: hub.AgentID(fmt.Sprintf("editor-%d", i))}
		all.Go(func() {
			for n := range edits {
				e.edit(files[rand.IntN(len(files))], fmt.Sprintf("%s edit %d", e.id, n))
			}
		})
	}
	all.Wait()
	lost = editors * edits
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lost -= strings.Count(string(text), "\n")
	}
	return lost
}

// TestNoEditIsOverwritten: twenty agents edit the files of one folder at once. Where
// their room refuses edits of locked files, no edit is lost. Where it only warns, agents
// that go on all the same overwrite each other.
func TestNoEditIsOverwritten(t *testing.T) {
	h := startHooked(t)
	if lost := editTogether(t, h, hub.LocksRefuse); lost != 0 {
		t.Errorf("%d of %d edits are lost", lost, editors*edits)
	}
	lost := 0
	for range 3 {
		if lost = editTogether(t, h, hub.LocksWarn); lost > 0 {
			break
		}
	}
	if t.Logf("with warnings alone %d of %d edits are lost", lost, editors*edits); lost == 0 {
		t.Error("no edit is lost without the check: the test cannot fail")
	}
}
