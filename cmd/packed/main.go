//go:build unix

// Command packed is hubcli as it is delivered: one file with the commands that agents and their harnesses run
// all the time, which carries the whole program. Any other command, such as the hub itself, is run by the
// whole program, which is unpacked once into the user's cache.
//
// The two are apart because the system reads a program by pages and Go runs the beginning of each package: a
// hook that needs a tenth of the whole would pay for all of it. Without the build tag carries the package holds
// no program, so that tools can read it; internal/pack builds it.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"time"

	"hubcli/cli"
	"hubcli/cli/term"
	"hubcli/internal/program"
)

// digest is the SHA-256 of the carried program in hexadecimal digits. The builder sets it.
var digest string

func main() { os.Exit(run()) }

// run is main without the exit, so that its deferred calls happen.
func run() int {
	if cli.Short(os.Args[1:]) {
		runtime.GOMAXPROCS(1) // it waits for a hub; each further processor costs a thread and its waking
	}
	program.TakeHome()
	if !cli.Short(os.Args[1:]) || os.Getpid() == 1 {
		return whole()
	}
	log.SetOutput(io.Discard) // the standard library remarks there on odd servers
	ctx, signals := program.Interrupted(term.ErrInterrupted, cli.Brief(os.Args[1:]))
	defer signals.Stop()
	return cli.Run(ctx, &term.Env{
		Version: program.Version(),
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, Executable: program.Self,
		Terminal: func() bool { return term.IsTerminal(os.Stdin.Fd()) },

		StdoutTerminal: func() bool { return term.IsTerminal(os.Stdout.Fd()) },
		StdoutSize:     func() (int, int) { return term.TerminalSize(os.Stdout.Fd()) },
		StderrTerminal: func() bool { return term.IsTerminal(os.Stderr.Fd()) },
		HideTyping:     func() (func(), error) { return term.HideTyping(os.Stdin.Fd()) },
	}, os.Args[1:])
}

// whole becomes the whole program, with the same arguments. It returns only if that fails.
func whole() int {
	err := becomeWhole()
	fmt.Fprintf(os.Stderr, "hubcli: the hub's own program could not be unpacked and started: %v\n"+
		"fix: give the folder of the user's cache (XDG_CACHE_HOME, or ~/.cache) room and the right to run programs; on Linux /proc must be mounted\n", err)
	return term.ExitRefused
}
