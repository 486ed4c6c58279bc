//go:build unix

package main

import (
	"syscall"

	"hubcli/cli/term"
)

// becomeHarness replaces this process by a harness, which has its terminal, its signals and
// its exit code then.
func becomeHarness(c term.HarnessCommand) (exit int, err error) {
	if err := syscall.Chdir(c.Dir); err != nil {
		return 0, err
	}
	return 0, syscall.Exec(c.Args[0], c.Args, c.Env)
}
