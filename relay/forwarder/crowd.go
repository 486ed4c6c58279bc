package forwarder

import (
	"fmt"
	"slices"
	"time"
)

// filesPerCall is how many files a call may hold open: its request, its
// connection and, where the hub runs in the same process, the other end of that.
// The fourth is for everything else.
const filesPerCall = 4

// callsFor returns how many calls may be under way in all folders if the
// process may open so many files.
func callsFor(files uint64) int {
	return int(max(8, min(maxCallsInAll, files/filesPerCall))) //nolint:gosec // at most maxCallsInAll
}

// room reports whether one more call of the folder may begin. If not, the
// request waits in the spool.
func (f *Forwarder) room(d *folder) bool {
	f.mu.Lock()
	full := f.inAll >= f.most.calls
	f.full = f.full || full
	free := d.calls < maxCalls && !full && !time.Now().Before(d.blocked)
	f.mu.Unlock()
	if full {
		f.log.begin(troubleFull, fmt.Errorf("more than %d", f.most.calls))
	}
	return free
}

// mayPark reports whether one more call of the folder may wait in the hub, or
// for a place there. Waiting calls hold files open for long, so at most half of
// all calls may wait. The last quarter of these places is for folders that have
// no waiting call yet.
func (f *Forwarder) mayPark(d *folder) bool {
	most := f.most.calls / 2
	if d.parked > 0 || len(d.waiting) > 0 {
		most -= most / 4
	}
	return len(d.waiting) < maxWaiting && f.parks < most
}

// relax ends the log's trouble about too many calls if there has been room
// since the last time.
func (f *Forwarder) relax() {
	f.mu.Lock()
	full := f.full
	f.full = false
	f.mu.Unlock()
	if !full {
		f.log.end(troubleFull)
	}
}

// park gets the call one of its folder's places in the hub. It reports false if
// too many calls wait for a place already. Otherwise it returns when there is a
// place or until has passed. The call counts toward the folder's calls again
// when it has a place.
func (f *Forwarder) park(c *call, until time.Duration) bool {
	d := c.dir
	f.mu.Lock()
	if !f.mayPark(d) {
		f.mu.Unlock()
		return false
	}
	c.parks, c.placed = true, make(chan struct{})
	if f.stopping {
		c.cancel()
	}
	f.parks++
	d.calls--
	d.waiting = append(d.waiting, c)
	d.place()
	f.mu.Unlock()
	f.wake()
	over := time.NewTimer(until)
	defer over.Stop()
	select {
	case <-c.placed:
		return true
	case <-over.C:
	case <-c.ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-c.placed:
	default: // no time is left: the hub answers at once, as to a call that does not wait
		d.waiting = slices.DeleteFunc(d.waiting, func(w *call) bool { return w == c })
		c.parks, c.placed = false, nil
		f.parks--
		d.calls++
	}
	return true
}

// unpark gives back the place of a call that has ended. The caller holds
// Forwarder.mu.
func (f *Forwarder) unpark(c *call) {
	if c.parks {
		f.parks--
		c.dir.parked--
	}
	c.dir.place()
}

// place gives free places to the calls that have waited longest.
func (d *folder) place() {
	for len(d.waiting) > 0 && d.parked < maxParked {
		c := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.parked++
		d.calls++
		close(c.placed)
	}
}
