package wake

import "testing"

// TestChannelIsNamedByAFlag: only a session whose command line names the server takes its channel.
func TestChannelIsNamedByAFlag(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"claude", "--channels", "server:hub"}, true},
		{[]string{"claude", "--channels=server:hub"}, true},
		{[]string{"claude", "--channels", "plugin:x@y", "server:hub"}, true},
		{[]string{"claude", "--channels", "plugin:x@y,server:hub", "go"}, true},
		{[]string{"claude", "--dangerously-load-development-channels", "server:hub"}, true},
		{[]string{"claude", "--channels", "server:hubs"}, false},
		{[]string{"claude", "--channels", "plugin:x@y", "-p", "server:hub"}, false},
		{[]string{"claude", "-p", "server:hub"}, false},
		{[]string{"claude", "--", "--channels", "server:hub"}, false},
	} {
		if got := takesChannel(tt.args, "hub"); got != tt.want {
			t.Errorf("%q: %v", tt.args, got)
		}
	}
	if Channel(1<<30, "hub") {
		t.Error("a process that is not there takes the channel")
	}
}
