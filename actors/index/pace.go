package index

import (
	"time"

	"hubcli/hub"
)

// These limits bound the processor time of feeding the index. While a search
// waits, feeding does not rest.
const (
	// busyRate is the number of records a second from which the hub counts as
	// busy.
	busyRate = 300
	// paceWindow is the shortest time over which records are counted.
	paceWindow = 250 * time.Millisecond
	// While the hub is busy, feeding rests busyRest times as long as it worked.
	// The index saves and merges afterward for about as long as feeding took,
	// so that both take a twentieth of one processor.
	busyRest = 40
	// MaxRest is the longest rest, so that feeding makes progress even with a
	// busy hub and a slow disk.
	MaxRest = 6 * time.Second
)

// pace decides how long feeding the index rests. It reads no clock and is used by
// one goroutine.
type pace struct {
	since time.Time // when records were counted last
	shown hub.Seq   // how many there were then
	rate  float64   // records a second until then
}

// look notes how many records there are at a time. The first call only begins
// the count.
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

// rest returns how long feeding rests after it worked for took: equally long,
// or busyRest times as long while the hub is busy.
func (p *pace) rest(took time.Duration) time.Duration {
	if p.rate >= busyRate {
		took *= busyRest
	}
	return min(took, MaxRest)
}
