package term

import (
	"bytes"
	"testing"

	"hubcli/hub"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{Usage("", "no"), "hubcli: no\n"},
		{Usage("do\nthis", "no\x1b[2J"), "hubcli: no\\x1b[2J\nfix: do\\nthis\n"},
		{hub.NewError(hub.CodeNotFound, "gone").WithFix("look elsewhere"), "hubcli: gone\nfix: look elsewhere\n"},
		{hub.NewError("x", "broke off").With("outcome", "unknown"), "hubcli: broke off; whether the call took effect is unknown\n"},
		{hub.NewError(hub.CodeBodyTooLarge, "too large").With("limit", 5.0).With("size", 6.0), "hubcli: too large (6, the limit is 5)\nfix: keep the text with hubcli artifact add --file FILE and post its id, or post less\n"},
		{ErrInterrupted, "hubcli: interrupted\n"},
	} {
		var b bytes.Buffer
		if Report(&b, tt.err); b.String() != tt.want {
			t.Errorf("report(%v) = %q, want %q", tt.err, b.String(), tt.want)
		}
	}
}
