package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/relay"
)

func TestEveryCodeHasAnExit(t *testing.T) {
	codes := hub.Codes()
	for code := range codes {
		if _, ok := exits[code]; !ok {
			t.Errorf("%s has no exit code", code)
		}
	}
	own := map[hub.Code]bool{
		codeUsage: true, codeOtherStore: true, codeWaitOver: true,
		client.CodeUnreachable: true, client.CodeNoAnswer: true, client.CodeBrokeOff: true, client.CodeNotAHub: true,
		relay.CodeSpoolFailed: true, relay.CodeNoAnswer: true, relay.CodeNotRelayed: true,
	}
	for code := range exits {
		if _, ok := codes[code]; !ok && !own[code] {
			t.Errorf("%s is no code of anybody", code)
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
		{fail(codeOtherStore, "", ""), 1},
		{usage("", ""), 2},
		{&hub.Error{Code: client.CodeUnreachable}, 3},
		{&hub.Error{Code: client.CodeNoAnswer}, 3},
		{&hub.Error{Code: client.CodeBrokeOff}, 3},
		{&hub.Error{Code: client.CodeNotAHub}, 3},
		{&hub.Error{Code: relay.CodeSpoolFailed, Status: relay.StatusSpoolFailed}, 3},
		{&hub.Error{Code: relay.CodeNoAnswer, Status: relay.StatusNoAnswer}, 3},
		{&hub.Error{Code: relay.CodeHubUnreachable, Status: relay.StatusHubUnreachable}, 3},
		{&hub.Error{Code: relay.CodeNotRelayed, Status: 403}, 1},
		{fail(codeWaitOver, "", ""), 4},
		{&Failure{Exit: ExitStore}, 70},
		{ErrInterrupted(), 130},
		{context.Canceled, 130},
		{errors.New("something else"), 1},
	} {
		if got := exitOf(tt.err); got != tt.want {
			t.Errorf("exitOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}
