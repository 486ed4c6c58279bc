// Package doctor looks at how the hub is set up on this machine and says what is
// wrong and what to do. It looks at the program, the hub and its store, the files
// in the data root, the adapters and the disk.
//
// An examination changes nothing: it starts, stops, writes and deletes nothing, and
// makes no folder. The one trace of it is that it takes the lock of a store, to see
// whether a hub holds it, and while it reads a store that none holds. It runs other executables named hubcli in
// the PATH, to ask for their version. It may run beside anything else.
//
// The package knows no command and no flag. What it finds is text of files and of
// the hub: the caller that prints it must make it safe for a terminal.
package doctor

import (
	"context"

	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/process"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // it works, but not as it should
	Fail Level = "fail" // it does not work
)

// Finding is one thing that was looked at.
type Finding struct {
	Level Level  `json:"level"`
	Check string `json:"check"` // what was looked at: program, path, hub, …
	Text  string `json:"text"`  // one sentence
	Fix   string `json:"fix,omitempty"`
}

// Machine is what an examination looks at.
type Machine struct {
	Version    string
	Executable func() (string, error)
	Getenv     func(string) string
	DataRoot   string // empty: it cannot be told
	Store      string // folder of the store
	StoreNamed bool   // the operator named it: it need not be the store of the hub
	BaseURL    string // address at which the hub should be
	Named      bool   // the address comes from HUB_BASE_URL or from a flag
	Inspect    func(dir string) (daemon.StoreInfo, error)
	Examine    func(dir, root string) (daemon.Examined, error) // of a store that no hub serves, for one of this data root; nil: it is not read
	Stopped    func(baseURL string) bool                       // somebody has stopped the hub at the address
	Look       func(pid int) (process.Process, bool)
	LostCache  func() (folder string, lost bool) // see cli.Env; nil: it is not lost
	FixOf      func(error) string                // the way out that an error of Inspect carries
}

// exam is an examination under way.
type exam struct {
	Machine
	found  []Finding
	hub    *hub.Info // nil: no hub answers
	proved bool      // it has proved to be one of this user
}

func (x *exam) ok(check, text string)        { x.add(OK, check, text, "") }
func (x *exam) warn(check, text, fix string) { x.add(Warn, check, text, fix) }
func (x *exam) fail(check, text, fix string) { x.add(Fail, check, text, fix) }

func (x *exam) add(level Level, check, text, fix string) {
	x.found = append(x.found, Finding{Level: level, Check: check, Text: text, Fix: fix})
}

// Examine looks at everything. It ends early when ctx does.
func Examine(ctx context.Context, m Machine) []Finding {
	x := &exam{Machine: m}
	for _, look := range []func(context.Context){
		x.program, x.cache, x.path, x.port, x.address, x.store, x.otherHubs, x.ledger, x.adapters, x.leftovers, x.slots,
	} {
		if ctx.Err() != nil {
			break
		}
		look(ctx)
	}
	return x.found
}
