package index

import (
	"time"

	"hubcli/hub"
)

// How much of a processor feeding the index may take. A search that waits ends
// every rest.
const (
	// busyRate is from how many records a second on the hub is busy.
	busyRate = 300
	// paceWindow is the shortest time over which records are counted.
	paceWindow = 250 * time.Millisecond
	// busyRest is how long feeding rests while the hub is busy, as a multiple of
	// the time it took. The index saves and merges behind what it is given for
	// about as long again, so that a twentieth of one processor is taken in all.
	busyRest = 40
	// MaxRest bounds a rest, so that feeding makes progress however busy the hub
	// and however slow its disk is.
	MaxRest = 6 * time.Second
)

// pace decides how long feeding the index rests. It reads no clock and is used by
// one goroutine.
type pace struct {
	since time.Time // when records were counted last
	shown hub.Seq   // how many there were
	rate  float64   // records a second before that
}

// look learns at a time how many records there are. The first look only begins
// to count.
func (p *pace) look(now time.Time, shown hub.Seq) {
	passed := now.Sub(p.since)
	if passed < paceWindow && !p.since.IsZero() {
		return
	}
	if !p.since.IsZero() {
		p.rate = float64(shown-p.shown) / passed.Seconds()
	}
	p.since, p.shown = now, shown
}

// rest returns how long to rest after feeding for as long as took: as long again,
// or for much longer while the hub is busy.
func (p *pace) rest(took time.Duration) time.Duration {
	if p.rate >= busyRate {
		took *= busyRest
	}
	return min(took, MaxRest)
}
