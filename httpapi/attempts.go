package httpapi

import (
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"hubcli/hub"
)

// Wrong codes of invites: a source may send so many at once, then one more each
// second. At this pace all 2^40 codes take 35,000 years.
const (
	attemptBurst = 10
	attemptEvery = time.Second
	// maxSources is how many sources are remembered. Who has waited long enough is
	// forgotten; sources beyond that share one allowance.
	maxSources = 4096
)

// attempts slows down who guesses codes. Right codes cost nothing, so that a
// team that joins at once is not held up; a burst of wrong ones that are under
// way together is paid for afterwards.
type attempts struct {
	mu      sync.Mutex
	sources map[string]time.Time // until when its wrong codes are being paid for
}

func newAttempts() *attempts { return &attempts{sources: map[string]time.Time{}} }

// others is the source of all that are not remembered by themselves.
const others = ""

// sourceOf names where a call comes from: this machine is one source, all spools
// together are another, and so is the network of an address in IPv6.
func (c *call) sourceOf() string {
	if c.caller.Relay != "" {
		return "relay"
	}
	peer, err := netip.ParseAddrPort(c.r.RemoteAddr)
	if err != nil {
		return others
	}
	addr := peer.Addr().Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return "loopback"
	case addr.Is6():
		net, _ := addr.Prefix(64)
		return net.String()
	}
	return addr.String()
}

// check refuses a source that has wrong codes to pay for. too_many_attempts.
func (a *attempts) check(source string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	until, known := a.sources[source]
	if !known && len(a.sources) >= maxSources {
		until = a.sources[others]
	}
	free := until.Add(-(attemptBurst - 1) * attemptEvery)
	if !free.After(now) {
		return nil
	}
	sec := int(math.Ceil(free.Sub(now).Seconds()))
	return hub.NewError(hub.CodeTooManyAttempts, "too many wrong codes came from here").
		WithRetryAfter(sec).WithFix("check the code, and send it again after the time in Retry-After")
}

// wrong charges a source for a wrong code.
func (a *attempts) wrong(source string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until, known := a.sources[source]
	if !known && len(a.sources) >= maxSources {
		a.forget(now)
		if len(a.sources) >= maxSources {
			source = others
			until = a.sources[others]
		}
	}
	if until.Before(now) {
		until = now
	}
	a.sources[source] = until.Add(attemptEvery)
}

// forget drops the sources that have nothing to pay for.
func (a *attempts) forget(now time.Time) {
	for source, until := range a.sources {
		if !until.After(now) {
			delete(a.sources, source)
		}
	}
}

// guess runs a call that shows a code: not at all where its source has sent too
// many wrong ones, and charged if this is one.
func guess[T any](c *call, use func() (T, error)) (row T, err error) {
	source := c.sourceOf()
	if err := c.server.attempts.check(source, time.Now()); err != nil {
		return row, err
	}
	row, err = use()
	if errors.Is(err, &hub.Error{Code: hub.CodeInviteNotFound}) {
		c.server.attempts.wrong(source, time.Now())
	}
	return row, err
}
