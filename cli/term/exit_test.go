package term

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"hubcli/hub"
	"hubcli/relay"
)

// TestEveryCodeHasAnExit: a row's exit code is one that the command line documents
// for an error that it has heard of. A key that the hub cannot find in its variables is bad
// input by SPEC section 7.
func TestEveryCodeHasAnExit(t *testing.T) {
	for code, info := range hub.CodeInfos() {
		usage := info.Exit == ExitUsage && code == hub.CodeCredentialUnresolved
		if info.Exit != ExitRefused && info.Exit != ExitUnreachable && !usage {
			t.Errorf("%s has the exit code %d", code, info.Exit)
		}
		if info.Exit == ExitUnreachable && !info.Local {
			t.Errorf("%s is a hub's answer, so that the hub was reached", code)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{hub.NewError(hub.CodeChannelNotFound, ""), 1},
		{fmt.Errorf("in a frame: %w", hub.NewError(hub.CodeOverloaded, "")), 1},
		{hub.NewError("a_code_of_the_future", ""), 1},
		{Fail(ExitRefused, "", ""), 1},
		{Usage("", ""), 2},
		{&hub.Error{Code: hub.CodeUnreachable}, 3},
		{&hub.Error{Code: hub.CodeNoAnswer}, 3},
		{&hub.Error{Code: hub.CodeBrokeOff}, 3},
		{&hub.Error{Code: hub.CodeNotAHub}, 3},
		{&hub.Error{Code: hub.CodeSpoolFailed, Status: relay.StatusSpoolFailed}, 3},
		{&hub.Error{Code: hub.CodeRelayTimeout, Status: relay.StatusNoAnswer}, 3},
		{&hub.Error{Code: hub.CodeUnreachable, Status: relay.StatusHubUnreachable}, 3},
		{&hub.Error{Code: hub.CodeNotRelayed, Status: 403}, 1},
		{Fail(ExitWaitOver, "", ""), 4},
		{&Failure{Exit: ExitStore}, 70},
		{ErrInterrupted, 130},
		{context.Canceled, 130},
		{errors.New("something else"), 1},
	} {
		if got := ExitOf(tt.err); got != tt.want {
			t.Errorf("exitOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}
