package files

import (
	"encoding/json"
	"io/fs"
	"time"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// Scope says for whom an adapter is installed.
type Scope string

// The scopes.
const (
	Global  Scope = "global"  // for all projects of the user
	Project Scope = "project" // for one folder
)

// Owner is an adapter as it is installed somewhere: what is ours is always some
// owner's. An entry that two owners need in the same way is shared, and goes when
// the last of them goes.
type Owner struct {
	Harness hub.Harness `json:"harness"`
	Scope   Scope       `json:"scope"`
	Path    string      `json:"path,omitempty"` // the project's folder; empty for Global
}

// Entry is one thing that an adapter wants in one file.
type Entry struct {
	Owner  Owner
	Part   string // mcp, hooks, instructions: for reports only
	Root   string // the folder that the file, all links followed, must lie in: home or project
	File   string // absolute
	Format edit.Format
	At     edit.Pointer
	// Value is what encoding/json makes of it, members in order; for Markdown and
	// Whole a JSON string.
	Value json.RawMessage
	// Mode is that of a file which is made, less the umask; 0 is 0600, and 0644 in a
	// project. A file that is there
	// keeps its own.
	Mode fs.FileMode
	// Rewrites says that the harness rewrites the file while it runs, as Claude Code
	// does with ~/.claude.json. A plan then stays valid as long as its own change to
	// the file stays the same, whatever else changes in it.
	Rewrites bool
}

// State is what there is of an entry.
type State string

// The states of an entry.
const (
	Absent     State = "absent"     // nothing in its place
	Installed  State = "installed"  // ours, as it should be
	Outdated   State = "outdated"   // ours and untouched, but another than an install would write now
	Drifted    State = "drifted"    // ours, changed by somebody since
	Adoptable  State = "adoptable"  // what an install would write, but not recorded as ours: the ledger was lost
	Conflict   State = "conflict"   // something in its place that is not ours
	Unreadable State = "unreadable" // the file or the ledger cannot be read or may not be touched
)

// Status is the state of one entry.
type Status struct {
	Entry Entry
	State State
	Err   error // why it is Unreadable or a Conflict
	// Have is the entry as it stands in the file, in canonical form (see edit.Get):
	// the very bytes of which State tells. Nil where there is none.
	Have []byte
	// Known says that the ledger has the entry: Absent and Known means that somebody
	// took it out.
	Known     bool
	Version   string    // of the program that installed it
	Installed time.Time // when
	Backup    string    // path of what the file held before; empty if there was none
}

// Mode is how far a plan may go.
type Mode int

// The modes, each with what those before it do.
const (
	// Keep writes what is absent or outdated, and takes over what is adoptable. Drifted entries and conflicts are
	// errors.
	Keep Mode = iota
	// Repair puts drifted entries right.
	Repair
)

// Change is what a plan does to one file.
type Change struct {
	File    string // as the entries name it
	Target  string // the file itself, all links followed
	Before  []byte // nil: there is none
	After   []byte // nil: it is deleted
	Entries []Entry
	// Notes say what a reader of the diff should know: that an entry was changed
	// by somebody, that a file is restored as it was.
	Notes []string
}
