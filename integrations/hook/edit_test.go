package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestEditedFiles: the files of an edit are found in the payloads of all harnesses.
func TestEditedFiles(t *testing.T) {
	for payload, want := range map[string][]string{
		`{"tool_name":"Edit","tool_input":{"file_path":"/a b/c.go"}}`:           {"/a b/c.go"},
		`{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb"}}`: {"n.ipynb"},
		`{"tool_name":"write_file","tool_input":{"absolute_path":"/x"}}`:        {"/x"},
		`{"tool_name":"edit","toolInput":{"filePath":"/x"}}`:                    {"/x"},
		`{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n*** Move to: b.go\n*** Add File: c.go\r\n+*** Delete File: not\n*** Delete File: d.go\n*** End Patch"}}`: {"a.go", "b.go", "c.go", "d.go"},
		`{"tool_name":"apply_patch","tool_input":{"command":["apply_patch","*** Update File: a.go\n*** Update File: a.go"]}}`:                                                                                         {"a.go"},
		`{"tool_input":{"command":"ls"}}`:    nil,
		`{"tool_input":"x"}`:                 nil,
		`{"tool_input":{"file_path":["x"]}}`: nil,
		`{"tool_input":{"file_path":"  "}}`:  nil,
		`{}`:                                 nil,
	} {
		if got := Parse([]byte(payload)).Files; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
	many := `{"tool_input":{"patch":"` + strings.Repeat(`*** Add File: x`, 1) + strings.Repeat(`1\n*** Add File: x`, 100) + `"}}`
	if got := Parse([]byte(many)).Files; len(got) > maxEdited {
		t.Errorf("%d files are taken", len(got))
	}
}

// TestBeforeEdit: an agent is warned of a file that another agent has locked, under
// any of the file's names, and its harness is told to refuse the edit if the room
// wants that. Of its own locks nothing is said.
func TestBeforeEdit(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "link")))
	file := filepath.Join(dir, "main.go")
	input := func(path string) []byte {
		return []byte(`{"session_id":"s1","cwd":"` + dir + `","tool_name":"Edit","tool_input":{"file_path":"` + path + `"}}`)
	}
	w := begun(t)
	w.hub.bound[dir] = w.hub.bound["/work/app"]
	w.hub.locks = map[string]hub.AgentID{file: "lead", filepath.Join(dir, "own.go"): agent}
	w.hub.until = hub.TimeOf(w.now.Add(4 * time.Minute))
	for _, path := range []string{file, "main.go", "./sub/../main.go", filepath.Join(dir, "link", "main.go")} {
		got := w.Run(t.Context(), BeforeEdit, input(path))
		if !strings.Contains(got.Stdout, `"hookEventName":"PreToolUse","additionalContext":"Hub: lead holds the lock on `+path+` for at most 4m0s more.`) || got.Exit != 0 {
			t.Errorf("%s: it says %+v", path, got)
		}
	}
	for _, path := range []string{filepath.Join(dir, "own.go"), filepath.Join(dir, "free.go")} {
		if got := w.Run(t.Context(), BeforeEdit, input(path)); got != (Answer{}) {
			t.Errorf("%s: it says %+v", path, got)
		}
	}
	w.hub.bound[dir] = &hub.Room{RoomID: "r_5", Locks: hub.LocksRefuse}
	if got := w.Run(t.Context(), BeforeEdit, input(file)); !strings.Contains(got.Stdout, `"permissionDecision":"deny","permissionDecisionReason":"Hub: lead holds`) {
		t.Errorf("where the room refuses, it says %+v", got)
	}
	sub := strings.Replace(string(input(file)), "{", `{"agent_id":"helper",`, 1)
	if got := w.Run(t.Context(), BeforeEdit, []byte(sub)); !strings.Contains(got.Stdout, "deny") {
		t.Errorf("to a sub-agent it says %+v", got)
	}
	for name, c := range map[string]func() []byte{
		"a hub that is away":   func() []byte { w.hub.fails["locks"] = hub.NewError(hub.CodeOverloaded, "no"); return input(file) },
		"a damaged payload":    func() []byte { return input(file)[:40] },
		"a payload of no file": func() []byte { return []byte("{" + session + "}") },
	} {
		if got := w.Run(t.Context(), BeforeEdit, c()); got != (Answer{}) {
			t.Errorf("%s: it says %+v", name, got)
		}
	}
}

// TestAfterEdit: where a harness shows no warning before a tool, the agent is warned
// after it, once, together with what else is new.
func TestAfterEdit(t *testing.T) {
	w := begun(t)
	w.Flag = string(hub.HarnessQwenCode)
	w.hub.locks = map[string]hub.AgentID{"/work/app/x": "lead"}
	w.hub.until = hub.TimeOf(w.now.Add(time.Minute))
	input := []byte(`{` + session + `,"tool_input":{"file_path":"/work/app/x"}}`)
	if got := w.Run(t.Context(), BeforeEdit, input); got != (Answer{}) {
		t.Errorf("before the edit it says %+v", got)
	}
	got := w.Run(t.Context(), Tool, input)
	if !strings.Contains(got.Stdout, `"additionalContext":"Hub: lead holds the lock on /work/app/x for at most 1m0s more. You have changed it`) {
		t.Errorf("after the edit it says %+v", got)
	}
	w.hub.attention = withDirected(7)
	if got = w.Run(t.Context(), Tool, input); !strings.Contains(got.Stdout, "lead holds the lock") || !strings.Contains(got.Stdout, "#7 from lead") {
		t.Errorf("with a message it says %+v", got)
	}
	w.hub.fails["locks"] = hub.NewError(hub.CodeOverloaded, "no")
	if got = w.Run(t.Context(), Tool, input); got != (Answer{}) {
		t.Errorf("of a hub that cannot say it says %+v", got)
	}
	w.Flag = string(hub.HarnessClaudeCode)
	delete(w.hub.fails, "locks")
	if got = w.Run(t.Context(), Tool, input); got != (Answer{}) {
		t.Errorf("where it was said before the edit, it says %+v", got)
	}
}

// TestRefusingRoomReservesAnEdit: where the room refuses edits of locked files, the
// file is locked for the time of the edit, so that no other agent edits it between the
// answer and the edit. A lock of the agent itself stays.
func TestRefusingRoomReservesAnEdit(t *testing.T) {
	w := begun(t)
	w.Flag = string(hub.HarnessCodex)
	w.hub.bound["/work/app"] = &hub.Room{RoomID: "r_5", Locks: hub.LocksRefuse}
	w.hub.locks = map[string]hub.AgentID{"/work/app/own": agent}
	input := func(files ...string) []byte {
		return []byte(`{` + session + `,"tool_input":{"patch":"*** Update File: ` + strings.Join(files, `\n*** Update File: `) + `"}}`)
	}
	if got := w.Run(t.Context(), BeforeEdit, input("x", "own")); got.Stdout != "{}" || w.hub.locks["/work/app/x"] != agent {
		t.Errorf("it says %+v and has locked %v", got, w.hub.locks)
	}
	if w.Run(t.Context(), Tool, input("x")); w.hub.locks["/work/app/x"] != "" {
		t.Errorf("after the edit these are locked: %v", w.hub.locks)
	}
	w.hub.metadata = nil
	if w.Run(t.Context(), Tool, input("own")); w.hub.locks["/work/app/own"] != agent {
		t.Error("the agent's own lock is released")
	}
	w.hub.locks["/work/app/b"] = "lead"
	if got := w.Run(t.Context(), BeforeEdit, input("a", "b", "c")); !strings.Contains(got.Stdout, "lead holds the lock on b") || len(w.hub.locks) != 2 {
		t.Errorf("it says %+v and has locked %v", got, w.hub.locks)
	}
}

// TestBeforeCommit: a commit of a file that another agent has locked is told of, and
// refused where the room wants that. Own locks and other repositories' locks pass, and so
// does every commit if the hub does not answer.
func TestBeforeCommit(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(top, "sub", "a\nb.go")
	w := newWorld(t)
	room := *w.hub.bound["/work/app"]
	w.hub.bound[top] = &room
	w.hub.until = hub.TimeOf(w.now.Add(time.Minute))
	w.Dir = top
	w.Staged = func(context.Context) (string, []string, error) { return top, []string{"free.go", "sub/a\nb.go"}, nil }
	commit := func() Answer { return w.Run(t.Context(), BeforeCommit, nil) }
	for _, locks := range []map[string]hub.AgentID{{}, {file + "x": "lead"}, {top + "2/free.go": "lead"}} {
		w.hub.locks = locks
		if got := commit(); got != (Answer{}) {
			t.Errorf("with the locks %v: %+v", locks, got)
		}
	}
	w.hub.locks = map[string]hub.AgentID{file: "lead"}
	const says = "Hub: lead holds the lock on sub/a b.go for at most 1m0s more."
	if got := commit(); got.Exit != 0 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, says+" Your commit may undo") {
		t.Errorf("warned: %+v", got)
	}
	room.Locks = hub.LocksRefuse
	if got := commit(); got.Exit != 1 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, says+" Your room refuses such a commit.") {
		t.Errorf("refused: %+v", got)
	}
	w.vars[EnvAgent] = "lead"
	if got := commit(); got != (Answer{}) {
		t.Errorf("its own lock: %+v", got)
	}
	delete(w.vars, EnvAgent)
	for _, call := range []string{"locks", "resolve", "info"} {
		w.hub.fails = map[string]error{call: hub.NewError(hub.CodeOverloaded, "no")}
		if got := commit(); got != (Answer{}) {
			t.Errorf("if %s fails: %+v", call, got)
		}
	}
	w.hub.fails = nil
	w.Staged = func(context.Context) (string, []string, error) { return "", nil, quiet("no Git") }
	if got := commit(); got != (Answer{}) {
		t.Errorf("without Git: %+v", got)
	}
}

// TestHooksKnowLocksOfFolders: before an edit and before a commit a hook tells of the lock on a folder or a
// pattern that covers the file, and of the agent's own such lock nothing.
func TestHooksKnowLocksOfFolders(t *testing.T) {
	for _, locked := range []string{"/work/app/src", "/work/app/**/*.go", "/work"} {
		w := begun(t)
		w.hub.locks = map[string]hub.AgentID{locked: "lead"}
		edit := []byte(`{` + session + `,"tool_input":{"file_path":"src/main.go"}}`)
		got := w.Run(t.Context(), BeforeEdit, edit)
		if want := "lead holds the lock on " + locked + ", which covers src/main.go,"; !strings.Contains(got.Stdout, want) {
			t.Errorf("%s: it says %+v, want %q", locked, got, want)
		}
		w = begun(t)
		w.hub.locks = map[string]hub.AgentID{locked: agent}
		if got := w.Run(t.Context(), BeforeEdit, edit); strings.Contains(got.Stdout, "lock") {
			t.Errorf("%s, which the agent has itself: it says %+v", locked, got)
		}
	}
}
