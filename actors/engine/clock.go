package engine

import (
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// clock is the hub's time: monotonic milliseconds that pass only while the hub
// runs, continued from where the journal ends, and wall time for display.
type clock struct {
	base  int64 // hub time at start, ms
	start time.Time
}

func newClock(base int64) *clock { return &clock{base: base, start: time.Now()} }

// resume continues from hubMS, if that is later than where the clock began. Only
// for the start, before anybody reads the clock.
func (c *clock) resume(hubMS int64) { c.base = max(c.base, hubMS) }

func (c *clock) Now() core.Now {
	t := time.Now()
	return core.Now{HubMS: c.base + t.Sub(c.start).Milliseconds(), Wall: hub.TimeOf(t)}
}

// Until returns how long it is to a moment of hub time; not negative.
func (c *clock) Until(hubMS int64) time.Duration {
	return max(0, time.Duration(hubMS-c.Now().HubMS)*time.Millisecond)
}
