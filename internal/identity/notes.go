package identity

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/process"
)

// shells are the programs through which harnesses call hooks. The first process
// above a hook that is none of them is its harness. What is above the harness has
// started it, and may be another harness.
var shells = []string{"sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "cmd", "powershell", "pwsh"}

func isShell(p process.Process) bool {
	return slices.Contains(shells, strings.TrimSuffix(strings.ToLower(p.Name), ".exe"))
}

// Note says which agent the sessions of a harness process are. A bridge leaves one
// with the process that has started it. It decides, because the tools of the session
// act as that agent. A hook leaves one with the processes above it, for a bridge
// that starts later.
type Note struct {
	AgentID    hub.AgentID     `json:"agent_id"`
	BaseURL    string          `json:"base_url"`
	InstanceID hub.InstanceID  `json:"instance_id"`
	Harness    hub.Harness     `json:"harness"`
	Session    string          `json:"session,omitempty"` // Key of the harness session, where its environment tells
	Bridge     process.Process `json:"bridge"`            // the bridge that left it; zero: a hook left it
	// Thread is the id of the harness session itself. A hook leaves it where the bridge needs it to wake an
	// agent that "hubcli run" has named.
	Thread string `json:"thread,omitempty"`
	// Left is when a hook left it, in ms since 1970, and Resumes that its session goes on with what an earlier process began.
	Left    hub.Time `json:"left,omitempty"`
	Resumes bool     `json:"resumes,omitempty"`
	// Calls: the bridge is told the id of each call of a tool, so that NoteCall reaches it.
	Calls bool `json:"calls,omitempty"`

	// HubSession is the id of the bridge's session with the hub, without the secret, and Space where its processes have their
	// numbers (process.Space). By them the hub ends sessions that have ended while it was down.
	HubSession hub.SessionID `json:"hub_session,omitempty"`
	Space      string        `json:"space,omitempty"`
}

// Notes keeps notes in files, one for each process and each bridge or hook:
//
//	<data root>/bridges/<pid>-<began>.<pid of the bridge>.json
//	<data root>/bridges/<pid>-<began>.hook.json
//
// A note counts while the processes that it names run.
type Notes struct {
	// Dir is NotesFolder of a data root; it is made with the first note. Empty
	// keeps nothing.
	Dir string
	// Look returns a process that runs; nil knows none.
	Look func(pid int) (process.Process, bool)
	// Tell is called with what is ignored because others could have written it. It may
	// be nil.
	Tell func(error)
}

// Limits of the folder of notes.
const (
	notesFolder = "bridges"
	maxLevels   = 3 // processes above a hook that are looked at: shells, the harness
	keepNotes   = time.Hour
)

// NotesOf returns the notes in a data root, which may be empty.
func NotesOf(dataRoot string, look func(pid int) (process.Process, bool)) Notes {
	if dataRoot == "" {
		return Notes{}
	}
	return Notes{Dir: filepath.Join(dataRoot, notesFolder), Look: look}
}

// Usable reports whether notes can be kept.
func (n Notes) Usable() bool { return n.Dir != "" && n.Look != nil }

func stem(at process.Process) string { return fmt.Sprintf("%d-%s.", at.PID, at.Began) }

func (n Notes) path(at, bridge process.Process) string {
	who := "hook"
	if bridge.PID != 0 {
		who = fmt.Sprint(bridge.PID)
	}
	return filepath.Join(n.Dir, stem(at)+who+".json")
}

// Leave leaves a note with the process at, in place of an earlier one of the same
// bridge or of a hook.
func (n Notes) Leave(at process.Process, note Note) error {
	if !n.Usable() {
		return nil
	}
	return replace(n.Dir, n.path(at, note.Bridge), note)
}

// Take takes the note of a bridge away.
func (n Notes) Take(at, bridge process.Process) {
	if n.Usable() {
		_ = os.Remove(n.path(at, bridge)) // it may be gone
	}
}

// OfHook returns what a hook has left with the process at.
func (n Notes) OfHook(at process.Process, harness hub.Harness) (Note, bool) {
	if !n.Usable() {
		return Note{}, false
	}
	note, ok := n.read(n.path(at, process.Process{}))
	return note, ok && note.Bridge.PID == 0 && note.Harness == harness
}

// OfBridge returns what the bridge has left that runs in the same harness as the
// process pid, whose harness session has that key; the key may be empty. A note of
// that very session counts wherever it lies. Of others only those count that lie
// with the harness itself, and one that names another session only if goesOn says
// that the session has come after that one in the same process; in a harness of which
// one process runs several sessions none such does. Of several bridges
// of one process none is taken, unless they agree or one is of that very session.
func (n Notes) OfBridge(pid int, harness hub.Harness, session string, goesOn func(process.Process) bool) (Note, bool) {
	if !n.Usable() {
		return Note{}, false
	}
	above := n.above(pid)
	near := len(within(above))
	shared := len(harness.Facts().SessionMembers) > 0 // its process may run other sessions too
	for i, at := range above {
		notes := slices.DeleteFunc(n.bridgesAt(at, harness), func(a Note) bool {
			switch {
			case session != "" && a.Session == session:
				return false
			case shared && session != "" && a.Session != "":
				return true
			case i >= near:
				return true
			case session == "" || a.Session == "" || i == 0:
				return false
			}
			return !goesOn(at)
		})
		if len(notes) > 0 {
			return agreed(notes, session)
		}
	}
	return Note{}, false
}

// above lists the processes above a process, the nearest first, as far as its
// harness may be among them.
func (n Notes) above(pid int) []process.Process {
	var list []process.Process
	for at, ok := n.Look(pid); ok && len(list) < maxLevels; list = append(list, at) {
		if at, ok = n.Look(at.Parent); !ok || at.PID <= 1 {
			break
		}
	}
	return list
}

// Harness returns the processes above a process up to its harness, which is the
// last one.
func (n Notes) Harness(pid int) []process.Process {
	if !n.Usable() {
		return nil
	}
	return within(n.above(pid))
}

// within cuts a list of above behind the harness.
func within(above []process.Process) []process.Process {
	i := slices.IndexFunc(above, func(p process.Process) bool { return !isShell(p) })
	if i < 0 {
		return above
	}
	return above[:i+1]
}

// bridgesAt returns the notes of bridges that run, left with the process at.
func (n Notes) bridgesAt(at process.Process, harness hub.Harness) []Note {
	entries, _ := os.ReadDir(n.Dir) // those that could be read
	var list []Note
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stem(at)) {
			continue
		}
		note, ok := n.read(filepath.Join(n.Dir, e.Name()))
		if !ok || note.Bridge.PID == 0 || note.Harness != harness && note.Harness != hub.HarnessGeneric {
			continue
		}
		if now, runs := n.Look(note.Bridge.PID); runs && now.Began == note.Bridge.Began {
			list = append(list, note)
		}
	}
	return list
}

func agreed(notes []Note, session string) (Note, bool) {
	same := func(a Note) bool { return a.AgentID == notes[0].AgentID && a.BaseURL == notes[0].BaseURL }
	if !slices.ContainsFunc(notes, func(a Note) bool { return !same(a) }) {
		return notes[0], true
	}
	i := slices.IndexFunc(notes, func(a Note) bool { return session != "" && a.Session == session })
	if i < 0 {
		return Note{}, false
	}
	return notes[i], true
}

// Ended calls done with the notes of bridges that have ended without taking their notes away, and whose
// processes have their numbers where this program has its own. A bridge takes its note away when the hub has heard of its end. A
// note with which done is done is removed.
func (n Notes) Ended(done func(Note) bool) {
	if !n.Usable() || !trusts(n.Dir, n.Tell) {
		return
	}
	entries, _ := os.ReadDir(n.Dir) // those that could be read
	space := process.Space()
	for _, e := range entries[:min(len(entries), maxSwept)] {
		path := filepath.Join(n.Dir, e.Name())
		note, ok := n.read(path)
		if !ok || note.Bridge.PID == 0 || note.HubSession == "" || note.Space != space {
			continue
		}
		if now, runs := n.Look(note.Bridge.PID); (!runs || now.Began != note.Bridge.Began) && done(note) {
			_ = os.Remove(path) // the next start finds the session ended
		}
	}
}

// Sweep removes the notes of processes that are gone.
func (n Notes) Sweep(now time.Time) {
	if !n.Usable() || !trusts(n.Dir, n.Tell) {
		return
	}
	sweep(n.Dir, func(name string, info fs.FileInfo) bool { return age(info, now) >= keepNotes && !n.runs(name) })
}

// runs reports whether the process runs that a file is named after.
func (n Notes) runs(name string) bool {
	var at process.Process
	name, _, _ = strings.Cut(name, ".")
	if _, err := fmt.Sscanf(name, "%d-%s", &at.PID, &at.Began); err != nil {
		return false
	}
	now, ok := n.Look(at.PID)
	return ok && now.Began == at.Began
}

func (n Notes) read(path string) (note Note, ok bool) {
	if !load(n.Dir, path, n.Tell, &note, &note.AgentID) {
		return Note{}, false
	}
	return note, true
}
