package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"hubcli/hub"
)

// Env is what commands know of the world. Version, Stdin, Stdout, Stderr,
// Getenv, Now and Executable are required.
type Env struct {
	Version string

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv     func(string) string
	Now        func() time.Time
	Executable func() (string, error) // what ensure starts as the daemon

	// Terminal reports whether a human answers on Stdin; nil says no.
	Terminal func() bool
	// StdoutTerminal reports whether Stdout is a terminal; nil says no.
	StdoutTerminal func() bool

	// HookBudget is the time that a hook's calls have; 0 is the one of delivery.
	// Tests of what hooks say give them more, because machines are slow at times.
	HookBudget time.Duration

	// Daemon serves until ctx ends, then stops cleanly and returns nil. An error
	// means that it did not start or had to give up; a *Failure carries its exit
	// code, anything else is ExitStore.
	Daemon func(ctx context.Context, cfg DaemonConfig) error
	// InspectStore looks at a store folder without changing it. The error is
	// ErrNoStore if there is nothing, a *Failure if it is not a store.
	InspectStore func(dir string) (StoreInfo, error)
	// DeleteStore deletes a real store that nobody serves; else a *Failure. The
	// remark tells of what lay in the folder and was not the store's.
	DeleteStore func(dir string) (remark string, err error)
}

// ErrNoStore says that there is nothing at the path of a store.
var ErrNoStore = errors.New("there is no store")

// StoreInfo is what can be learnt about a store from outside.
type StoreInfo struct {
	Instance hub.InstanceID
	Messages int64 // rows stored; -1 if that cannot be told from outside
	Held     bool  // a process has it open now
	Holder   StoreHolder
}

// StoreHolder names the process that has a store open. It is a hint from the
// lock file; unknown fields are zero.
type StoreHolder struct {
	PID     int
	Address string // what the hub listens on, as host:port
}

// DaemonConfig is how a daemon is to run. The daemon owns Listener and closes
// it. Paths are absolute.
type DaemonConfig struct {
	Listener    net.Listener // bound at Host and Port
	Host        string       // as asked for
	Port        int          // as asked for; 0 was any
	Storage     string       // the store folder
	AllowRemote bool         // addresses beyond loopback may call
	Quiet       bool         // log warnings and errors only
	DataRoot    string       // of the user; empty if there is none
	// DataRootGiven: an environment variable has moved DataRoot, so that a process
	// with another environment would not find it.
	DataRootGiven bool
	SpoolDir      string
	SpoolGiven    bool // --spool-dir was given: serve it even before it exists
	Limits        hub.Limits
	// AutoEnsureAdapters asks to install or repair detected harness adapters.
	AutoEnsureAdapters bool
	// AcceptTruncated opens a store that has lost acknowledged records.
	AcceptTruncated bool

	Version string
	Log     io.Writer // one line per write; never a body or a secret
	// LogFile is where Log ends up, or empty: then it is stderr.
	LogFile string
	// Ready is called once when calls are answered, with the bound address.
	Ready func(addr string)
}
