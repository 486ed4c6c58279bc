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

// Owner is one installation of an adapter; each entry of ours has at least one
// owner. Owners share an entry that they need in the same form. It is removed
// with the last of them.
type Owner struct {
	Harness hub.Harness `json:"harness"`
	Scope   Scope       `json:"scope"`
	Path    string      `json:"path,omitempty"` // folder of the project; empty for Global
}

// Entry is one value that an adapter wants in one file.
type Entry struct {
	Owner  Owner
	Part   string // mcp, hooks or instructions; used only in reports
	Root   string // the home folder or the project; only links of the user's own lead out of it, and none in a project
	File   string // absolute
	Format edit.Format
	At     edit.Pointer
	// Value is JSON text; its members are written in their order. For formats
	// of text it is a JSON string.
	Value json.RawMessage
	// Mode is the mode of a new file before the umask; 0 means 0600, or 0644 in
	// a project. An existing file keeps its mode.
	Mode fs.FileMode
	// Rewrites says that the harness rewrites the file while it runs, as Claude
	// Code does with ~/.claude.json. A plan then stays valid while its own
	// change to the file stays the same, even if the rest of the file changes.
	Rewrites bool
}

// State is the state of an entry in its file.
type State string

// The states of an entry.
const (
	Absent     State = "absent"     // nothing in its place
	Installed  State = "installed"  // ours, and as an install would write it now
	Outdated   State = "outdated"   // ours and untouched, but an install would write another value now
	Drifted    State = "drifted"    // ours, but somebody has changed it
	Adoptable  State = "adoptable"  // as an install would write it, but not recorded as ours: the ledger was lost
	Conflict   State = "conflict"   // something that is not ours is in its place
	Unreadable State = "unreadable" // the file or the ledger cannot be read or may not be touched
)

// Status is the state of one entry.
type Status struct {
	Entry Entry
	State State
	Err   error // why State is Unreadable or Conflict
	// Have is the entry in the file, in canonical form (see edit.Get); nil if
	// there is none. State was computed from these bytes.
	Have []byte
	// Known says that the ledger has the entry. If it is also Absent, somebody
	// removed it.
	Known     bool
	Version   string    // of the program that installed it
	Installed time.Time // when it was installed
	Backup    string    // path of the file's old content; empty if there was no file
	Outside   string    // where the file is if links lead out of the root; else empty
}

// Mode limits the changes that a plan may make.
type Mode int

// The modes. Each allows all that the mode before it allows.
const (
	// Keep writes absent and outdated entries and takes over adoptable ones.
	// Drifted entries and conflicts are errors.
	Keep Mode = iota
	// Repair also rewrites drifted entries.
	Repair
)

// Change is a plan's change to one file.
type Change struct {
	File    string // path as the entries name it
	Target  string // path with all links followed
	Before  []byte // nil: there is no file
	After   []byte // nil: the file is deleted
	Entries []Entry
	// Notes are remarks for a reader of the diff, for example that somebody
	// changed an entry, or that a file is restored to its original.
	Notes []string
}
