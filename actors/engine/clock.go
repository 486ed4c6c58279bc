package engine

import (
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// clock gives hub time and wall time. Hub time is in monotonic milliseconds, passes
// only while the hub runs, and continues where the journal ends. Wall time is for
// display.
type clock struct {
	base  int64 // hub time at start, ms
	start time.Time
}

func newClock(base int64) *clock { return &clock{base: base, start: time.Now()} }

// resume continues from hubMS, if that is later than where the clock began. It must be
// called before any goroutine reads the clock.
func (c *clock) resume(hubMS int64) { c.base = max(c.base, hubMS) }

func (c *clock) Now() core.Now {
	t := time.Now()
	return core.Now{HubMS: c.base + t.Sub(c.start).Milliseconds(), Wall: hub.TimeOf(t)}
}

// Until returns the duration until a moment of hub time, or 0 if it has passed.
func (c *clock) Until(hubMS int64) time.Duration {
	return max(0, time.Duration(hubMS-c.Now().HubMS)*time.Millisecond)
}
