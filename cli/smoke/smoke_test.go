package smoke_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/api/client"
	"hubcli/cli/smoke"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds a run that ought to succeed; it takes a fraction of a second on
// an idle machine.
const patience = 30 * time.Second

// ended is how a role ended.
type ended struct {
	role hub.AgentID
	out  string
	err  error
}

// play runs the roles at once, each with a client of the address that base gives
// it.
func play(t *testing.T, timeout time.Duration, base func(hub.AgentID) string, roles ...hub.AgentID) []ended {
	t.Helper()
	all := make([]ended, len(roles))
	var wg sync.WaitGroup
	for i, role := range roles {
		c := client.New(client.Config{BaseURL: base(role), Agent: role})
		t.Cleanup(c.Close)
		wg.Go(func() {
			var out bytes.Buffer
			err := smoke.Run(t.Context(), config(role, c, timeout, &out))
			all[i] = ended{role, out.String(), err}
		})
	}
	wg.Wait()
	return all
}

func config(role hub.AgentID, c *client.Client, timeout time.Duration, out *bytes.Buffer) smoke.Config {
	return smoke.Config{
		Role: role, Client: c, Sessions: true,
		Channel: smoke.DefaultChannel, Thread: smoke.DefaultThread, Claim: smoke.DefaultClaim,
		Timeout: timeout, PollInterval: 200 * time.Millisecond, Out: out,
	}
}

func same(url string) func(hub.AgentID) string { return func(hub.AgentID) string { return url } }

// succeeds checks that every role did every step.
func succeeds(t *testing.T, all []ended) {
	t.Helper()
	for _, e := range all {
		if e.err != nil {
			t.Errorf("%s: %v\n%s", e.role, e.err, e.out)
			continue
		}
		lines := strings.Split(strings.TrimSpace(e.out), "\n")
		if len(lines) != len(smoke.Steps())+1 {
			t.Errorf("%s printed\n%s", e.role, e.out)
			continue
		}
		for i, name := range smoke.Steps() {
			if !strings.HasPrefix(lines[i], fmt.Sprintf("%s %02d %s: ", e.role, i+1, name)) {
				t.Errorf("%s: line %d is %q, want step %s", e.role, i+1, lines[i], name)
			}
		}
		if want := fmt.Sprintf("%s ok: %d steps, ", e.role, len(smoke.Steps())); !strings.HasPrefix(lines[len(lines)-1], want) {
			t.Errorf("%s ended with %q", e.role, lines[len(lines)-1])
		}
	}
}

func TestAllRoles(t *testing.T) {
	h := testhub.Start(t)
	// Any number of times on one hub, under the same names.
	for range 3 {
		succeeds(t, play(t, patience, same(h.URL), smoke.Roles()...))
	}
}
