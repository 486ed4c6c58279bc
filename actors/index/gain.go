package index

import (
	"time"

	"hubcli/hub"
)

// gainWindow is the shortest time over which the rows that the index takes in are
// counted. It is longer than the longest rest.
const gainWindow = 2 * MaxRest

// gain tells how fast the index takes in messages. It reads no clock and is used under
// the lock of its indexer.
type gain struct {
	since time.Time     // when the position was noted
	at    hub.MessageID // the position then
	rate  float64       // messages a second over the last whole window, or since the start; 0: not known
}

// look notes the position of the index at a time. A position that goes back, as behind
// an import, begins the count anew.
func (g *gain) look(now time.Time, at hub.MessageID) {
	passed := now.Sub(g.since)
	if g.since.IsZero() || at < g.at {
		*g = gain{since: now, at: at, rate: g.rate}
		return
	}
	if passed >= gainWindow || g.rate == 0 && passed >= time.Second {
		g.rate = float64(at-g.at) / passed.Seconds()
	}
	if passed >= gainWindow {
		g.since, g.at = now, at
	}
}

// left returns how long the index needs for so many rows, and 0 where none are left or
// the rate is not known.
func (g *gain) left(behind int64) time.Duration {
	if behind == 0 || g.rate == 0 {
		return 0
	}
	const longest = 30 * 24 * time.Hour
	return time.Duration(min(float64(behind)/g.rate, longest.Seconds()) * float64(time.Second))
}
