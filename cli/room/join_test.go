package room

import (
	"bytes"
	"strings"
	"testing"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// TestJoinedSaysWhatCanBeDone: no suggested command displaces a live agent. On
// another machine the suggested commands work there.
func TestJoinedSaysWhatCanBeDone(t *testing.T) {
	j := hub.Joined{
		Session: hub.Session{SessionID: "s1.secret"}, ResumeKey: "key", Seat: hub.Seat{AgentID: "dev-2", Role: "any\x1b[1m"},
		Room: hub.Room{RoomID: "r_1", Name: "Hall", Channel: "room-r_1"}, Project: hub.Project{ProjectID: "p_1", Name: "P"}, Requested: "dev",
	}
	live := j
	live.Live, live.ResumeKey, live.Session.SessionID, live.Requested = true, "", "s1", ""
	for name, c := range map[string]struct {
		joined    hub.Joined
		local     bool
		want, not string
	}{
		"here":       {j, true, "  hubcli post --agent dev-2 --channel room-r_1 --base-url http://192.0.2.7:6969 \"hello\"\n", "secret"},
		"taken":      {j, true, "The id dev is taken, so yours is dev-2.\n", "key"},
		"live":       {live, true, "dev-2 is live already. If that is not you, join again with another --agent or none.\n", "hubcli "},
		"elsewhere":  {j, false, "  X-Hub-Session: s1.secret\nWith --json", "--agent"},
		"live there": {live, false, "dev-2 is live already.", "X-Hub-Session"},
	} {
		var out bytes.Buffer
		o := joinOptions{BaseURL: opt.BaseURL{URL: "http://192.0.2.7:6969"}}
		if err := printJoined(&term.Env{Stdout: &out}, &o, &c.joined, c.local); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, c.want) || strings.Contains(got, c.not) || strings.Contains(got, "\x1b") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
