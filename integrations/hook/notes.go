package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// Process is a running process. Began tells it from another that gets the same
// number later; it consists of digits. Name is that of its program, where the
// system tells it.
type Process struct {
	PID    int    `json:"pid"`
	Began  string `json:"began"`
	Parent int    `json:"-"`
	Name   string `json:"-"`
}

// shells are the programs through which harnesses call hooks. What stands above a
// hook and is none of them is its harness: beyond that begins what has started the
// harness, which may be another one.
var shells = []string{"sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "cmd", "powershell", "pwsh"}

func (p Process) shell() bool {
	return slices.Contains(shells, strings.TrimSuffix(strings.ToLower(p.Name), ".exe"))
}

// Note says which agent the sessions of a harness process are. A bridge leaves one
// with the process that has started it; its word counts, because it is whom the
// tools act as. A hook leaves one with the processes above it, for a bridge that
// starts later.
type Note struct {
	AgentID    hub.AgentID    `json:"agent_id"`
	BaseURL    string         `json:"base_url"`
	InstanceID hub.InstanceID `json:"instance_id"`
	Harness    hub.Harness    `json:"harness"`
	Session    string         `json:"session,omitempty"` // Key of the harness session, where its environment tells
	Bridge     Process        `json:"bridge"`            // who left it; zero: a hook
}

// Notes keeps notes in files, one for a process and who left it:
//
//	<data root>/bridges/<pid>-<began>.<pid of the bridge>.json
//	<data root>/bridges/<pid>-<began>.hook.json
//
// A note counts while the processes that it names run, if nobody else can have left
// it: it chooses whom a hook speaks as, and to which hub.
type Notes struct {
	// Dir is NotesFolder of a data root; it is made with the first note. Empty
	// keeps nothing.
	Dir string
	// Look returns a process that runs; nil knows none.
	Look func(pid int) (Process, bool)
	// Tell is told of what is ignored because others could have written it; nil
	// tells nobody.
	Tell func(error)
}

// Limits of the folder of notes.
const (
	notesFolder = "bridges"
	maxLevels   = 3 // processes above a hook that are looked at: shells, the harness
	keepNotes   = time.Hour
)

// NotesOf returns the notes in a data root, which may be empty.
func NotesOf(dataRoot string, look func(pid int) (Process, bool)) Notes {
	if dataRoot == "" {
		return Notes{}
	}
	return Notes{Dir: filepath.Join(dataRoot, notesFolder), Look: look}
}

func (n Notes) usable() bool { return n.Dir != "" && n.Look != nil }

func stem(at Process) string { return fmt.Sprintf("%d-%s.", at.PID, at.Began) }

func (n Notes) path(at, bridge Process) string {
	who := "hook"
	if bridge.PID != 0 {
		who = fmt.Sprint(bridge.PID)
	}
	return filepath.Join(n.Dir, stem(at)+who+".json")
}

// Leave leaves a note with the process at, in place of an earlier one of the same
// bridge or of a hook.
func (n Notes) Leave(at Process, note Note) error {
	if !n.usable() {
		return nil
	}
	temp, err := writeBeside(n.Dir, note)
	if err != nil {
		return err
	}
	if err = os.Rename(temp, n.path(at, note.Bridge)); err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// Take takes the note of a bridge away.
func (n Notes) Take(at, bridge Process) {
	if n.usable() {
		_ = os.Remove(n.path(at, bridge)) // it may be gone
	}
}

// OfHook returns what a hook has left with the process at.
func (n Notes) OfHook(at Process, harness hub.Harness) (Note, bool) {
	if !n.usable() {
		return Note{}, false
	}
	note, ok := n.read(n.path(at, Process{}))
	return note, ok && note.Bridge.PID == 0 && note.Harness == harness
}

// OfBridge returns what the bridge has left that runs in the same harness as the
// process pid, whose harness session has that key; the key may be empty. A note of
// that very session counts wherever it lies. Of others only those count that lie
// with the harness itself, and one that names another session only if goesOn says
// that the session has come after that one in the same process. Of several bridges
// of one process none is taken, unless they agree or one is of that very session.
func (n Notes) OfBridge(pid int, harness hub.Harness, session string, goesOn func(Process) bool) (Note, bool) {
	if !n.usable() {
		return Note{}, false
	}
	above := n.above(pid)
	near := len(within(above))
	for i, at := range above {
		notes := slices.DeleteFunc(n.bridgesAt(at, harness), func(a Note) bool {
			switch {
			case session != "" && a.Session == session:
				return false
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
func (n Notes) above(pid int) []Process {
	var list []Process
	for at, ok := n.Look(pid); ok && len(list) < maxLevels; list = append(list, at) {
		if at, ok = n.Look(at.Parent); !ok || at.PID <= 1 {
			break
		}
	}
	return list
}

// within cuts a list of above behind the harness.
func within(above []Process) []Process {
	i := slices.IndexFunc(above, func(p Process) bool { return !p.shell() })
	if i < 0 {
		return above
	}
	return above[:i+1]
}

// bridgesAt returns the notes of bridges that run, left with the process at.
func (n Notes) bridgesAt(at Process, harness hub.Harness) []Note {
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

// Sweep removes the notes of processes that are gone.
func (n Notes) Sweep(now time.Time) {
	if !n.usable() {
		return
	}
	dir, err := os.Open(n.Dir)
	if err != nil {
		return
	}
	if !trusts(n.Dir, n.Tell) {
		_ = dir.Close()
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxSwept) // those that could be read
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < keepNotes {
			continue
		}
		var at Process
		name, _, _ := strings.Cut(e.Name(), ".")
		if _, err := fmt.Sscanf(name, "%d-%s", &at.PID, &at.Began); err == nil {
			if runs, ok := n.Look(at.PID); ok && runs.Began == at.Began {
				continue
			}
		}
		_ = os.Remove(filepath.Join(n.Dir, e.Name()))
	}
}

func (n Notes) read(path string) (Note, bool) {
	if !trusts(n.Dir, n.Tell) || !trusts(path, n.Tell) {
		return Note{}, false
	}
	b, err := readSmall(path)
	var note Note
	if err != nil || json.Unmarshal(b, &note) != nil || hub.CheckSender("agent_id", note.AgentID) != nil {
		return Note{}, false
	}
	return note, true
}

// readSmall reads a regular file of at most maxSavedBytes.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxSavedBytes:
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// writeBeside writes a value as JSON into a new file of a folder that it makes. A
// folder that others can write to is an error.
func writeBeside(dir string, value any) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := Trust(dir, Written); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
