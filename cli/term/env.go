package term

import (
	"context"
	"io"
	"net"
	"os"
	"time"

	"hubcli/cli/daemon"
	"hubcli/hub"
)

// Env holds what commands use of their surroundings. Version, Stdin, Stdout,
// Stderr, Getenv, Now and Executable are required.
type Env struct {
	Version     string
	Built       string     // from which commit it was built, in words
	StoreFormat func() int // the newest format of a store that this program knows; nil: it is not told

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv     func(string) string
	Now        func() time.Time
	Executable func() (string, error) // the executable that ensure starts as the daemon

	// Terminal reports whether a human answers on Stdin; nil says no.
	Terminal func() bool
	// StdoutTerminal reports whether Stdout is a terminal; nil says no.
	StdoutTerminal func() bool
	// StdoutSize returns the columns and rows of the terminal at Stdout; nil or zero
	// stands for 80 and 24.
	StdoutSize func() (width, height int)
	// StderrTerminal reports whether Stderr is a terminal; nil says no.
	StderrTerminal func() bool
	// HideTyping has the terminal at Stdin hide the typing of a person until restore is
	// called; nil: it cannot.
	HideTyping func() (restore func(), err error)

	// StartHarness starts a harness that speaks over its standard files, in a group of
	// processes that ends with this one; nil: it cannot.
	StartHarness func(c HarnessCommand, ended func(hub.SpawnEnd)) (HarnessProcess, error)
	// TakeSignals hands the signals that usually end a command to the caller; nil: it cannot.
	TakeSignals func() <-chan os.Signal
	// BecomeHarness replaces this process by a program, or runs it and returns its exit
	// code. What was not started is an error; nil: it cannot.
	BecomeHarness func(c HarnessCommand) (exit int, err error)

	// HookBudget bounds the time of a hook's calls; 0 is the usual budget.
	// Tests give more, because machines are slow at times.
	HookBudget time.Duration
	// ResumeEvery is the time between two starts of a session that sleeps; 0 is the usual
	// one. Tests give less.
	ResumeEvery time.Duration
	// LiveBudget bounds the look-ups of a completion in the same way.
	LiveBudget time.Duration

	// BrowserPins are those of the engine to install; nil: the embedded ones. Tests give
	// others.
	BrowserPins *browserPins

	// LostCache returns the folder that should hold this program and does not, so that it runs
	// from memory at each start; it is empty if the user has no such folder. nil, or lost is
	// false: it runs from where it belongs.
	LostCache func() (folder string, lost bool)

	// Daemon serves until ctx ends, then stops cleanly and returns nil. An error
	// means that it did not start or had to give up; a *Failure carries its exit
	// code, anything else is ExitStore.
	Daemon func(ctx context.Context, cfg DaemonConfig) error
	// InspectStore looks at a store folder without changing it. The error is
	// daemon.ErrNoStore if there is nothing, a *Failure if it is not a store.
	InspectStore func(dir string) (daemon.StoreInfo, error)
	// ExamineStore reads through a store that no hub serves, and changes nothing. The
	// error is daemon.ErrNoStore or a *Failure.
	ExamineStore func(dir, root string) (daemon.Examined, error)
	// SalvageStore makes a store in the folder to of everything whole in another, which it
	// does not change. The error is daemon.ErrNoStore or a *Failure.
	SalvageStore func(from, to string, o daemon.Origin) (daemon.Salvaged, error)
	// DeleteStore deletes a store that no hub serves. The error is a *Failure.
	// The remark names files in the folder that did not belong to the store.
	DeleteStore func(dir string) (remark string, err error)
	// CheckBackup reads a backup through and says what it holds. The error is a
	// *Failure.
	CheckBackup func(r io.Reader) (daemon.Backup, error)
	// RestoreStore makes a store in dir of a backup. The error is a *Failure.
	RestoreStore func(file io.ReadSeeker, dir string, moveAside bool, o daemon.Origin) (daemon.Restored, error)
	// Port is what OwnPort returns, and PortUnusable its error; 0: it looks anew.
	Port         int
	PortUnusable error

	// ShowLicense looks at the license that a data root keeps. It writes nothing and needs
	// neither a hub nor a network.
	ShowLicense func(ctx context.Context, dataRoot string) (hub.License, error)
}

// HarnessCommand is how a harness is started.
type HarnessCommand struct {
	Args []string // the first is the absolute path of the executable
	Env  []string
	Dir  string

	// Remove is a folder that StartHarness removes when the harness has ended, also if this
	// process is killed; empty: none.
	Remove string
}

// HarnessProcess is a harness that runs.
type HarnessProcess struct {
	In   io.ReadCloser  // what it writes
	Out  io.WriteCloser // what it reads; its end asks the harness to end
	PID  int
	Stop func(why string)
}

// Machine is what starting and stopping a hub knows of the world.
func (e *Env) Machine() *daemon.Machine {
	return &daemon.Machine{Root: e.DataRoot, Now: e.Now, Executable: e.Executable, Inspect: e.InspectStore, Note: e.Note}
}

// DaemonConfig configures a daemon. The daemon owns Listener and closes it.
// Paths are absolute.
type DaemonConfig struct {
	Listener    net.Listener // bound at Host and Port
	Host        string       // as given
	Port        int          // as given; 0 was any
	Storage     string       // the store folder
	AllowRemote bool         // callers beyond loopback are allowed
	Quiet       bool         // log warnings and errors only
	DataRoot    string       // of the user; empty if there is none
	NotedIn     string       // the data root in which programs find the hub; empty: nowhere
	MarkedIn    string       // the data root whose key marks the store
	// DataRootGiven says that an environment variable has moved DataRoot, so a
	// process with another environment would not find it.
	DataRootGiven bool
	SpoolDir      string
	// SpoolGiven says that the operator has named the spool. It is made if it is missing,
	// and served whoever made it. Any other is served only if this hub has done so before.
	SpoolGiven bool
	Limits     hub.Limits
	// AutoEnsureAdapters asks to install or repair detected harness adapters.
	AutoEnsureAdapters bool
	// AutoRooms lets a bridge make a room for the repository of an agent that needs one.
	AutoRooms bool
	// AcceptTruncated opens a store that has lost acknowledged records.
	AcceptTruncated bool
	// Adopt takes over a store that no hub of this user has made.
	Adopt bool

	Version string
	Log     io.Writer // one line per write; never a body or a secret
	// LogFile is the path of the file behind Log, or empty for stderr.
	LogFile string
	// Ready is called once, with the bound address, when the daemon answers
	// calls.
	Ready func(addr string)
}
