package identity

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// processes is a machine's, by their numbers.
type processes map[int]process.Process

func (p processes) look(pid int) (process.Process, bool) {
	at, ok := p[pid]
	return at, ok
}

// spawn adds a process.
func (p processes) spawn(pid, parent int, began string) process.Process {
	p[pid] = process.Process{PID: pid, Parent: parent, Began: began}
	return p[pid]
}

// run says which program a process is.
func (p processes) run(name string, at process.Process) {
	at.Name = name
	p[at.PID] = at
}

// never is a session of which nobody knows that it goes on anywhere.
func never(process.Process) bool { return false }

// desk is a terminal (10) with two harnesses (20, 30), of which each has a bridge
// (21, 31) and a hook below a shell (23 below 22, 33 below 32).
func desk(t *testing.T) (processes, Notes) {
	t.Helper()
	p := processes{}
	p.spawn(1, 0, "1")
	p.spawn(10, 1, "10")
	for _, harness := range []int{20, 30} {
		p.spawn(harness, 10, "20")
		p.spawn(harness+1, harness, "21")
		p.run("bash", p.spawn(harness+2, harness, "22"))
		p.spawn(harness+3, harness+2, "23")
	}
	return p, NotesOf(t.TempDir(), p.look)
}

func leave(t *testing.T, n Notes, at process.Process, note Note) {
	t.Helper()
	require.NoError(t, n.Leave(at, note))
}

func TestHooksFindTheBridgeOfTheirHarness(t *testing.T) {
	p, n := desk(t)
	leave(t, n, p[20], Note{AgentID: "one", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[21]})
	leave(t, n, p[30], Note{AgentID: "two", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[31]})
	check := func(why string, pid int, harness hub.Harness, session string, want hub.AgentID) {
		t.Helper()
		got, ok := n.OfBridge(pid, harness, session, never)
		if got.AgentID != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", why, got.AgentID, ok, want)
		}
	}
	check("the first harness", 23, hub.HarnessCodex, "", "one")
	check("the second harness", 33, hub.HarnessCodex, "", "two")
	check("another harness", 23, hub.HarnessClaudeCode, "", "")
	check("a process that is not there", 99, hub.HarnessCodex, "", "")

	// It has become another.
	leave(t, n, p[20], Note{AgentID: "joined", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[21]})
	check("after a join", 23, hub.HarnessCodex, "", "joined")

	// A second bridge in one harness: nobody is guessed.
	second := p.spawn(24, 20, "24")
	leave(t, n, p[20], Note{AgentID: "other", BaseURL: "u", Harness: hub.HarnessCodex, Session: "s2", Bridge: second})
	check("two bridges", 23, hub.HarnessCodex, "", "")
	check("two bridges, one of the session", 23, hub.HarnessCodex, "s2", "other")

	// The first has ended without a word, and its number is another's now.
	p.spawn(21, 20, "99")
	check("a bridge that is gone", 23, hub.HarnessCodex, "", "other")
	n.Take(p[20], second)
	check("none is left", 23, hub.HarnessCodex, "", "")

	// So is the number of a harness.
	p.spawn(30, 10, "77")
	check("a harness that is gone", 33, hub.HarnessCodex, "", "")
}

// A hook goes by the bridge of its own harness and by no other: not by that of a
// harness in which its harness was started, whoever of them tells a session.
func TestWhoseNoteCounts(t *testing.T) {
	const claude, codex = hub.HarnessClaudeCode, hub.HarnessCodex
	note := func(h hub.Harness, session string) Note { return Note{Harness: h, Session: session} }
	lines := map[string][]string{ // programs between the harness with the note and the hook, the nearest last
		"direct": {}, "shell": {"bash"}, "two shells": {"bash.exe", "bash.exe"}, "Windows": {"CMD.EXE"},
		"nested": {"claude"}, "nested, its shell": {"claude", "sh"}, "in a shell": {"zsh", "claude"}, "script": {"bash", "bash"},
	}
	for _, tt := range []struct {
		line    string
		note    Note
		harness hub.Harness
		session string
		goesOn  bool
		want    bool
	}{
		// The hook's own harness.
		{"direct", note(claude, ""), claude, "", false, true},
		{"direct", note(claude, ""), claude, "s", false, true},
		{"direct", note(claude, "s"), claude, "", false, true},
		{"direct", note(claude, "s"), claude, "s", false, true},
		{"direct", note(claude, "s"), claude, "later", false, true}, // nothing lies between them
		{"shell", note(claude, ""), claude, "", false, true},
		{"shell", note(claude, ""), claude, "s", false, true},
		{"shell", note(claude, "s"), claude, "", false, true},
		{"shell", note(claude, "s"), claude, "s", false, true},
		{"shell", note(claude, "s"), claude, "later", true, true},
		{"shell", note(claude, "s"), claude, "later", false, false},
		{"two shells", note(claude, ""), claude, "s", false, true},
		{"two shells", note(claude, "s"), claude, "later", true, true},
		{"Windows", note(hub.HarnessGeneric, ""), codex, "s", false, true},
		{"shell", note(codex, ""), claude, "s", false, false},
		// A harness within a harness.
		{"nested", note(claude, ""), claude, "", true, false},
		{"nested", note(claude, ""), claude, "inner", true, false},
		{"nested", note(claude, "outer"), claude, "", true, false},
		{"nested", note(claude, "outer"), claude, "inner", true, false},
		{"nested", note(hub.HarnessGeneric, ""), codex, "inner", true, false},
		{"nested", note(codex, ""), claude, "inner", true, false},
		{"nested, its shell", note(codex, ""), codex, "inner", true, false},
		{"nested, its shell", note(claude, "outer"), claude, "inner", true, false},
		{"in a shell", note(codex, ""), codex, "", true, false},
		{"in a shell", note(claude, "outer"), claude, "inner", true, false},
		{"script", note(claude, "outer"), claude, "inner", false, false}, // the inner one is a program of a shell
		// A process that runs several sessions.
		{"direct", note(codex, "s"), codex, "s", false, true},
		{"direct", note(codex, ""), codex, "s", false, true},
		{"direct", note(codex, "s"), codex, "another", false, false},
		{"shell", note(codex, "s"), codex, "another", true, false},
		// A worker between a harness and its hooks.
		{"nested, its shell", note(claude, "s"), claude, "s", false, true},
	} {
		p := processes{}
		p.spawn(1, 0, "1")
		harness := p.spawn(20, 1, "20")
		bridge := p.spawn(21, 20, "21")
		n := NotesOf(t.TempDir(), p.look)
		tt.note.AgentID, tt.note.BaseURL, tt.note.Bridge = "a", "u", bridge
		leave(t, n, harness, tt.note)
		last := 20
		for i, name := range lines[tt.line] {
			p.run(name, p.spawn(30+i, last, "30"))
			last = 30 + i
		}
		p.spawn(50, last, "50")
		for _, agent := range []hub.AgentID{"a", "joined"} { // before and after a hub_join
			tt.note.AgentID = agent
			leave(t, n, harness, tt.note)
			got, ok := n.OfBridge(50, tt.harness, tt.session, func(at process.Process) bool { return tt.goesOn && at.PID == 20 })
			if ok != tt.want || ok && got.AgentID != agent {
				t.Errorf("%s: the note %+v counts for %s %q: %v, as %s", tt.line, tt.note, tt.harness, tt.session, ok, got.AgentID)
			}
		}
	}
}

// A hook leaves nothing with what has started its harness.
func TestNotesForABridgeStayWithTheHarness(t *testing.T) {
	p, n := desk(t)
	p.spawn(40, 22, "40")              // a harness in the outer one's shell
	p.run("sh", p.spawn(41, 40, "41")) // its shell
	p.spawn(42, 41, "42")              // its hook
	if got := within(n.above(42)); len(got) != 2 || got[0].PID != 41 || got[1].PID != 40 {
		t.Errorf("the inner hook leaves notes with %+v", got)
	}
}

func TestBridgeFindsWhatAHookHasLeft(t *testing.T) {
	p, n := desk(t)
	for _, at := range within(n.above(23)) {
		leave(t, n, at, Note{AgentID: "one", BaseURL: "u", Harness: hub.HarnessCodex})
	}
	if got, ok := n.OfHook(p[20], hub.HarnessCodex); !ok || got.AgentID != "one" {
		t.Errorf("the bridge of the first harness finds %+v, %v", got, ok)
	}
	for why, at := range map[string]process.Process{"the second harness": p[30], "the number again": {PID: 20, Began: "99"}} {
		if got, ok := n.OfHook(at, hub.HarnessCodex); ok {
			t.Errorf("%s finds %+v", why, got)
		}
	}
	if got, ok := n.OfHook(p[20], hub.HarnessGeminiCLI); ok {
		t.Errorf("another harness finds %+v", got)
	}
}

func TestDamagedNotesCountAsNone(t *testing.T) {
	p, n := desk(t)
	leave(t, n, p[20], Note{AgentID: "one", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[21]})
	path := n.path(p[20], p[21])
	for _, bad := range []string{"", "{", `{"agent_id":"a/b","bridge":{"pid":21,"began":"21"}}`, `[]`} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		if got, ok := n.OfBridge(23, hub.HarnessCodex, "", never); ok {
			t.Errorf("%q is taken for %+v", bad, got)
		}
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path))
	if got, ok := n.OfBridge(23, hub.HarnessCodex, "", never); ok {
		t.Errorf("a link is taken for %+v", got)
	}
}

func TestSweepKeepsTheNotesOfWhatRuns(t *testing.T) {
	p, n := desk(t)
	leave(t, n, p[20], Note{AgentID: "one", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[21]})
	leave(t, n, p[30], Note{AgentID: "two", BaseURL: "u", Harness: hub.HarnessCodex, Bridge: p[31]})
	delete(p, 30)
	n.Sweep(time.Now())
	if names, _ := os.ReadDir(n.Dir); len(names) != 2 {
		t.Errorf("a young note is swept: %v", names)
	}
	n.Sweep(time.Now().Add(2 * keepNotes))
	names, err := os.ReadDir(n.Dir)
	if err != nil || len(names) != 1 || names[0].Name() != filepath.Base(n.path(p[20], p[21])) {
		t.Errorf("what is left: %v, %v", names, err)
	}
	if info, err := os.Stat(n.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

func TestNotesNeedAFolderAndProcesses(t *testing.T) {
	for _, n := range []Notes{{}, NotesOf("", processes{}.look), NotesOf(t.TempDir(), nil)} {
		if err := n.Leave(process.Process{PID: 5, Began: "1"}, Note{AgentID: "a"}); err != nil {
			t.Error(err)
		}
		if _, ok := n.OfBridge(5, hub.HarnessCodex, "", never); ok {
			t.Error("a note is found where none is kept")
		}
		n.Sweep(time.Now())
	}
}

// TestEndedBridges: the notes of bridges that run no more are found, each until something is done
// with it. Those of another namespace of processes, and of a hub that tells no session, are left alone.
func TestEndedBridges(t *testing.T) {
	p, n := desk(t)
	leave(t, n, p[20], Note{AgentID: "ended", Bridge: process.Process{PID: 77, Began: "5"}, HubSession: "s1", Space: process.Space()})
	leave(t, n, p[20], Note{AgentID: "again", Bridge: process.Process{PID: 31, Began: "another"}, HubSession: "s2", Space: process.Space()})
	leave(t, n, p[20], Note{AgentID: "runs", Bridge: p[21], HubSession: "s3", Space: process.Space()})
	leave(t, n, p[20], Note{AgentID: "elsewhere", Bridge: process.Process{PID: 78, Began: "5"}, HubSession: "s4", Space: "another machine"})
	leave(t, n, p[30], Note{AgentID: "old", Bridge: process.Process{PID: 79, Began: "5"}, Space: process.Space()})
	found := func(done bool) (agents []hub.AgentID) {
		n.Ended(func(note Note) bool {
			agents = append(agents, note.AgentID)
			return done
		})
		slices.Sort(agents)
		return agents
	}
	for _, done := range []bool{false, true} {
		if got := found(done); !slices.Equal(got, []hub.AgentID{"again", "ended"}) {
			t.Errorf("found %v", got)
		}
	}
	if got := found(true); len(got) > 0 {
		t.Errorf("%v are found again", got)
	}
	if left, err := os.ReadDir(n.Dir); err != nil || len(left) != 3 {
		t.Errorf("%d notes are left, %v", len(left), err)
	}
}
