package term

import (
	"context"
	"errors"

	"hubcli/hub"
)

// The exit codes of the contract.
const (
	ExitOK          = 0
	ExitRefused     = 1   // the hub answered an error, or this machine refused what was asked
	ExitUsage       = 2   // usage or bad input
	ExitUnreachable = 3   // the hub cannot be reached, or none can be started
	ExitWaitOver    = 4   // a wait ran out
	ExitStore       = 70  // the store failed; one that another process has did not
	ExitInterrupted = 130 // interrupted
)

// ExitOf returns the exit code for the error of a command. The table of hub/code.go
// gives that of each error of the hub. If a wait runs out, its command returns a
// Failure with ExitWaitOver itself.
func ExitOf(err error) int {
	var f *Failure
	var h *hub.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &f):
		return f.Exit
	case errors.As(err, &h):
		return hub.InfoOf(h.Code).Exit
	default:
		return ExitRefused
	}
}
