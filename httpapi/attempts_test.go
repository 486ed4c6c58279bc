package httpapi

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hubcli/hub"
)

// refusal returns for how many seconds a check refuses, 0 if it does not.
func refusal(t *testing.T, err error) int {
	t.Helper()
	var e *hub.Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e) || e.Code != hub.CodeTooManyAttempts || e.RetryAfter < 1:
		t.Fatalf("refused with %v", err)
	}
	return e.RetryAfter
}

// TestAllowances: a burst of wrong codes is allowed, then one more after each
// interval, up to the whole burst again.
func TestAllowances(t *testing.T) {
	for _, s := range []source{{"through dev", ofCaller}, {"loopback", ofAddress}} {
		a, one, now := newAttempts(), []source{s}, time.Unix(1000, 0)
		fill := func(n int) {
			t.Helper()
			for i := range n {
				if sec := refusal(t, a.check(one, now)); sec != 0 {
					t.Fatalf("%s: wrong code %d is refused for %d s", s.name, i+1, sec)
				}
				a.wrong(one, now)
			}
			if sec := refusal(t, a.check(one, now)); sec != 1 {
				t.Fatalf("%s: after %d wrong codes refused for %d s", s.name, n, sec)
			}
		}
		fill(s.burst)
		if now = now.Add(s.every - 1); refusal(t, a.check(one, now)) == 0 {
			t.Errorf("%s: one more before its time", s.name)
		}
		now = now.Add(1)
		fill(1)
		now = now.Add(time.Hour)
		fill(s.burst)
	}
}

// TestGuessersHoldUpNoOthers: each spool has its own allowance; the allowance
// of the machine limits a thousand spools to the rate of one address.
func TestGuessersHoldUpNoOthers(t *testing.T) {
	a, now := newAttempts(), time.Unix(1000, 0)
	spool := func(name string) []source { return []source{{"through " + name, ofCaller}, {"loopback", ofAddress}} }
	for range ofCaller.burst {
		a.wrong(spool("one"), now)
	}
	if refusal(t, a.check(spool("one"), now)) == 0 || refusal(t, a.check(spool("two"), now)) != 0 {
		t.Error("a spool is held up for another")
	}
	for i := range ofAddress.burst - ofCaller.burst {
		a.wrong(spool(fmt.Sprint(i)), now)
	}
	if refusal(t, a.check(spool("new"), now)) == 0 {
		t.Error("a machine with many spools guesses at the pace of all")
	}
	if refusal(t, a.check([]source{{"at 192.0.2.9", ofCaller}, {"192.0.2.9", ofAddress}}, now)) != 0 {
		t.Error("another machine is held up")
	}
}

// TestSourcesAreBounded: only a bounded number of sources is remembered. The
// others share one allowance, and a source with its full allowance is
// forgotten.
func TestSourcesAreBounded(t *testing.T) {
	a, now := newAttempts(), time.Unix(1000, 0)
	from := func(i int) []source {
		at := fmt.Sprint("192.0.", i/256, ".", i%256)
		return []source{{"at " + at, ofCaller}, {at, ofAddress}}
	}
	for i := range 3 * maxSources {
		a.wrong(from(i), now)
	}
	if n := len(a.sources); n > maxSources+2 {
		t.Errorf("%d sources are remembered", n)
	}
	if refusal(t, a.check(from(4*maxSources), now)) == 0 {
		t.Error("the sources that are not remembered have no allowance together")
	}
	if refusal(t, a.check(from(0), now)) != 0 {
		t.Error("a source that is remembered pays for the others")
	}
	now = now.Add(24 * time.Hour)
	a.wrong(from(0), now)
	a.wrong(from(4*maxSources), now)
	if n := len(a.sources); n > 4 {
		t.Errorf("%d sources are remembered a day later", n)
	}
}

func TestAddressOf(t *testing.T) {
	for peer, want := range map[string]string{
		"127.0.0.1:5": "loopback", "127.9.9.9:5": "loopback", "[::1]:5": "loopback", "[::ffff:127.0.0.1]:5": "loopback",
		"192.0.2.9:5": "192.0.2.9", "[::ffff:192.0.2.9]:5": "192.0.2.9",
		"[2001:db8:0:1:2::3]:5": "2001:db8:0:1::/64", "[fe80::1%eth0]:5": "fe80::/64", "": "",
	} {
		if got := addressOf(peer); got != want {
			t.Errorf("%s counts as %q, want %q", peer, got, want)
		}
	}
}
