// Command hubcli is the hub, its daemon and its tools in one program. This
// package only ties the others together and turns the end of a command into an
// exit code.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hubcli/cli"
	"hubcli/persistence"
)

// hookBudget names the environment variable that gives hooks another time than
// theirs. The build of the tests sets it; as delivered it is empty, and none does.
var hookBudget string

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
	takeHome()
	log.SetFlags(0)
	log.SetOutput(standardLog{os.Stderr, os.Exit})
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, so that the program outlives its terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		// The next signal has its usual effect: a stop that takes too long can
		// be broken off.
		signal.Stop(signals)
		cancel(cli.ErrInterrupted())
	}()
	return cli.Run(ctx, &cli.Env{
		Version: version(), StoreFormat: persistence.LatestFormat,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, Executable: os.Executable,
		Terminal: func() bool { return cli.IsTerminal(os.Stdin.Fd()) },

		HookBudget:     hooksHave(),
		BrowserPins:    pinsToUse(),
		StdoutTerminal: func() bool { return cli.IsTerminal(os.Stdout.Fd()) },
		StdoutSize:     func() (int, int) { return cli.TerminalSize(os.Stdout.Fd()) },
		StderrTerminal: func() bool { return cli.IsTerminal(os.Stderr.Fd()) },
		HideTyping:     func() (func(), error) { return cli.HideTyping(os.Stdin.Fd()) },

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

// hooksHave is the time that hooks have; 0 is theirs.
func hooksHave() time.Duration {
	if hookBudget == "" {
		return 0
	}
	d, err := time.ParseDuration(os.Getenv(hookBudget))
	if err != nil {
		return 0
	}
	return d
}
