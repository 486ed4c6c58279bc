package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"hubcli/cli/term"
)

// becomeHarness runs a harness, which gets the Ctrl-C of the console too.
func becomeHarness(c term.HarnessCommand) (exit int, err error) {
	signal.Ignore(os.Interrupt)
	cmd := &exec.Cmd{Path: c.Args[0], Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return 0, err
}
