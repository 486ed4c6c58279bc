// Command hubcli is the hub, its daemon and its tools in one program. This
// package only ties the others together and turns the end of a command into an
// exit code.
package main

import (
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/cli"
	"hubcli/cli/term"
	"hubcli/internal/program"
)

// hookBudget names the environment variable that gives hooks another time than
// theirs. The build of the tests sets it; as delivered it is empty, and none does.
var hookBudget string

// resumePause names the environment variable that gives sleeping sessions another pause between two
// starts. It is set and empty like hookBudget.
var resumePause string

// browserPins names the environment variable with a file of other pins of browser engines.
// It is set and empty like hookBudget.
var browserPins string

func main() { os.Exit(run()) }

// run is main without the exit, so that its deferred calls happen.
func run() int {
	if isKeeper() {
		return keep()
	}
	if code, done := asInit(); done {
		return code
	}
	program.TakeHome()
	log.SetFlags(0)
	log.SetOutput(standardLog{os.Stderr, os.Exit})
	if cli.Short(os.Args[1:]) {
		runtime.GOMAXPROCS(1) // see cmd/packed
	}
	ctx, signals := program.Interrupted(term.ErrInterrupted, cli.Brief(os.Args[1:]))
	defer signals.Stop()
	return cli.Run(ctx, &term.Env{
		Version: program.Version(), Built: program.Built(), StoreFormat: storedir.LatestFormat,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, Executable: program.Self,
		Terminal: func() bool { return term.IsTerminal(os.Stdin.Fd()) },

		StartHarness:  startHarness,
		BecomeHarness: becomeHarness,
		TakeSignals: func() <-chan os.Signal {
			signals.Leave()
			own := make(chan os.Signal, 4)
			signal.Notify(own, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			return own
		},

		HookBudget:     timeIn(hookBudget),
		ResumeEvery:    timeIn(resumePause),
		BrowserPins:    pinsToUse(),
		StdoutTerminal: func() bool { return term.IsTerminal(os.Stdout.Fd()) },
		StdoutSize:     func() (int, int) { return term.TerminalSize(os.Stdout.Fd()) },
		StderrTerminal: func() bool { return term.IsTerminal(os.Stderr.Fd()) },
		HideTyping:     func() (func(), error) { return term.HideTyping(os.Stdin.Fd()) },

		LostCache: lostCache,

		Daemon:       serve,
		InspectStore: inspectStore,
		ExamineStore: examineStore,
		SalvageStore: salvageStore,
		DeleteStore:  deleteStore,
		CheckBackup:  checkBackup,
		RestoreStore: restoreStore,
		ShowLicense:  showLicense,
	}, os.Args[1:])
}

// lostCache says where this program should have been unpacked, if it runs from memory instead.
func lostCache() (folder string, lost bool) {
	if !program.InMemory() {
		return "", false
	}
	folder, _ = program.Cache() // a user may have none
	return folder, true
}

// timeIn is the time in a variable that a build of the tests names; 0: the usual one.
func timeIn(variable string) time.Duration {
	if variable == "" {
		return 0
	}
	d, err := time.ParseDuration(os.Getenv(variable))
	if err != nil {
		return 0
	}
	return d
}
