//go:build unix

package forwarder

import (
	"strings"
	"testing"

	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
)

// TestTwoHubsDoNotShareASpool: of two hubs with one spool, one serves all of
// it, and the other takes over when the first has ended.
func TestTwoHubsDoNotShareASpool(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	owner := func(c *Config) { c.Owner = true }
	stop := b.forward(owner)
	other := *b
	other.url, other.log = testhub.Start(t).URL, &testlog.Buffer{}
	ready, _ := other.forwardUnready(owner)
	other.until("the other says why it does not serve", func() bool { return strings.Contains(other.log.String(), errServed.Error()) })
	b.onceEach(b.posts("all", 30))
	if n := len(other.bodies()); n != 0 {
		t.Errorf("%d posts came to the hub that does not serve the spool", n)
	}
	select {
	case <-ready:
		t.Error("two hubs serve the spool")
	default:
	}
	stop()
	other.onceEach(other.posts("rest", 3))
}
