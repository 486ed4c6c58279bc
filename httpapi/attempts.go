package httpapi

import (
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"hubcli/hub"
)

// allowance is how many wrong codes may come at once, and how soon one more.
type allowance struct {
	burst int
	every time.Duration
}

// Wrong codes of invites. Every caller that can be told apart has an allowance of
// its own, so that one that guesses holds up no other; beside it all that share an
// address have one together, so that a machine with a thousand spools is no
// thousand guessers. At this pace all 2^40 codes take one address 3,500 years.
var (
	ofCaller  = allowance{10, time.Second}
	ofAddress = allowance{100, time.Second / 10}
)

// maxSources is how many sources are remembered. Who has waited long enough is
// forgotten; sources beyond that share one allowance.
const maxSources = 4096

// source is where wrong codes come from.
type source struct {
	name string
	allowance
}

// attempts slows down who guesses codes. Right codes cost nothing, so that a
// team that joins at once is not held up; a burst of wrong ones that are under
// way together is paid for afterwards.
type attempts struct {
	mu      sync.Mutex
	sources map[source]time.Time // until when its wrong codes are being paid for
}

func newAttempts() *attempts { return &attempts{sources: map[source]time.Time{}} }

// others stands for all sources of an allowance that are not remembered by
// themselves.
func (s source) others() source { return source{allowance: s.allowance} }

// sourcesOf names where a call comes from: its spool folder, or else its address,
// which for a network of IPv6 is its first half; and the address alone.
func (c *call) sourcesOf() []source {
	at := addressOf(c.r.RemoteAddr)
	caller := "at " + at
	if c.caller.Relay != "" {
		caller = "through " + string(c.caller.Relay)
	}
	return []source{{caller, ofCaller}, {at, ofAddress}}
}

// addressOf writes the address of a peer so that who has many counts once.
func addressOf(peer string) string {
	parsed, err := netip.ParseAddrPort(peer)
	if err != nil {
		return ""
	}
	addr := parsed.Addr().Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return "loopback"
	case addr.Is6():
		network, _ := addr.Prefix(64)
		return network.String()
	}
	return addr.String()
}

// check refuses a call of sources of which one has wrong codes to pay for.
// too_many_attempts.
func (a *attempts) check(sources []source, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var wait time.Duration
	for _, s := range sources {
		until, known := a.sources[s]
		if !known && len(a.sources) >= maxSources {
			until = a.sources[s.others()]
		}
		free := until.Add(-time.Duration(s.burst-1) * s.every)
		wait = max(wait, free.Sub(now))
	}
	if wait <= 0 {
		return nil
	}
	return hub.NewError(hub.CodeTooManyAttempts, "too many wrong codes came from here").
		WithRetryAfter(int(math.Ceil(wait.Seconds())))
}

// wrong charges the sources of a call for a wrong code.
func (a *attempts) wrong(sources []source, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range sources {
		if _, known := a.sources[s]; !known && len(a.sources) >= maxSources {
			if a.forget(now); len(a.sources) >= maxSources {
				s = s.others()
			}
		}
		until := a.sources[s]
		if until.Before(now) {
			until = now
		}
		a.sources[s] = until.Add(s.every)
	}
}

// forget drops the sources that have nothing to pay for.
func (a *attempts) forget(now time.Time) {
	for s, until := range a.sources {
		if !until.After(now) {
			delete(a.sources, s)
		}
	}
}

// guess runs a call that shows a code: not at all where one of its sources has sent too
// many wrong ones, and charged if this is one.
func guess[T any](c *call, use func() (T, error)) (row T, err error) {
	sources := c.sourcesOf()
	if err := c.server.attempts.check(sources, time.Now()); err != nil {
		return row, err
	}
	row, err = use()
	if errors.Is(err, &hub.Error{Code: hub.CodeInviteNotFound}) {
		c.server.attempts.wrong(sources, time.Now())
	}
	return row, err
}
