package supervisor

import (
	"context"
	"sync"
	"time"

	"hubcli/hub"
)

// defaultDelay is how long a shutdown waits if the call does not say.
const defaultDelay = 60 * time.Second

// shutdown is the operator's switch: it implements hub.Control. It can be set
// for later and be taken back until it is due.
type shutdown struct {
	due chan struct{} // closed when the hub is to stop

	mu    sync.Mutex
	timer *time.Timer // nil: none pending
	state hub.Shutdown
	over  bool // due is closed, or the hub stops anyway
}

func newShutdown() *shutdown { return &shutdown{due: make(chan struct{})} }

// Shutdown sets the switch; a later call replaces an earlier one.
func (s *shutdown) Shutdown(_ context.Context, in hub.ShutdownInput) (hub.Shutdown, error) {
	delay := defaultDelay
	if in.DelaySec != nil {
		delay = time.Duration(*in.DelaySec * float64(time.Second))
	}
	if delay < 0 || delay > hub.MaxShutdownDelay {
		return hub.Shutdown{}, hub.Invalid("delay_sec", "delay_sec is out of range").
			With("limit", hub.MaxShutdownDelay.Seconds()).WithFix("use 0 to 3600 seconds")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disarm()
	at := hub.TimeOf(time.Now().Add(delay))
	s.state = hub.Shutdown{Pending: true, At: &at, DelaySec: delay.Seconds()}
	s.timer = time.AfterFunc(delay, s.fire)
	return s.state, nil
}

func (s *shutdown) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && !s.over {
		s.over = true
		close(s.due)
	}
}

// ShutdownState tells whether a stop is pending.
func (s *shutdown) ShutdownState(context.Context) (hub.Shutdown, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, nil
}

// CancelShutdown takes a pending stop back.
func (s *shutdown) CancelShutdown(context.Context) (hub.Shutdown, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.disarm()
		s.state = hub.Shutdown{}
	}
	return s.state, nil
}

// stop ends the switch: the hub stops.
func (s *shutdown) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disarm()
	s.over = true
}

// disarm stops the timer; fire finds no timer then and does nothing.
func (s *shutdown) disarm() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

var _ hub.Control = (*shutdown)(nil)
