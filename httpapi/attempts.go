package httpapi

import (
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"hubcli/hub"
)

// allowance is the number of wrong codes that may come at once, and the time
// after which one more may come.
type allowance struct {
	burst int
	every time.Duration
}

// Limits of wrong invite codes. Every caller that can be told apart has an
// allowance of its own, so that a guessing caller does not delay others. All
// callers of one address also share an allowance, so that a machine with a
// thousand spools does not get a thousand times the guesses. At this rate one
// address needs 3,500 years for all 2^40 codes.
var (
	ofCaller  = allowance{10, time.Second}
	ofAddress = allowance{100, time.Second / 10}
)

// maxSources is the number of sources that are remembered. A source is
// forgotten when its full allowance is available again; sources beyond the
// maximum share one allowance.
const maxSources = 4096

// source names a sender of wrong codes: a spool or an address.
type source struct {
	name string
	allowance
}

// attempts limits the rate at which a source can guess codes. Right codes cost
// nothing, so a team that joins at once is not delayed. Wrong codes of
// concurrent calls are charged afterwards.
type attempts struct {
	mu      sync.Mutex
	sources map[source]time.Time // when the full allowance is available again
}

func newAttempts() *attempts { return &attempts{sources: map[source]time.Time{}} }

// others stands for all sources of an allowance that are not remembered
// individually.
func (s source) others() source { return source{allowance: s.allowance} }

// sourcesOf returns the sources of a call: its spool folder, or else its
// address; and the address alone. An IPv6 address counts by its first half.
func (c *call) sourcesOf() []source {
	at := addressOf(c.r.RemoteAddr)
	caller := "at " + at
	if c.caller.Relay != "" {
		caller = "through " + string(c.caller.Relay)
	}
	return []source{{caller, ofCaller}, {at, ofAddress}}
}

// addressOf returns a text for the address of a peer. A peer with many
// addresses in one network has one text.
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

// check refuses a call if one of its sources is over its limit. Errors:
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

// forget drops the sources whose full allowance is available.
func (a *attempts) forget(now time.Time) {
	for s, until := range a.sources {
		if !until.After(now) {
			delete(a.sources, s)
		}
	}
}

// guess runs a call that sends a code. It refuses the call if one of its
// sources has sent too many wrong codes, and charges the sources if the call
// ends with the error of a wrong code.
func guess[T any](c *call, wrong hub.Code, use func() (T, error)) (row T, err error) {
	sources := c.sourcesOf()
	if err := c.server.attempts.check(sources, time.Now()); err != nil {
		return row, err
	}
	row, err = use()
	if errors.Is(err, &hub.Error{Code: wrong}) {
		c.server.attempts.wrong(sources, time.Now())
	}
	return row, err
}
