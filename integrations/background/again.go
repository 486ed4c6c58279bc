package background

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of a session that is started again: each start costs its owner a turn of a model.
const (
	startEvery = time.Minute // between two starts
	mostStarts = 20          // in its life, beside the first
	mostFailed = 3           // starts in a row that failed
)

// again counts the starts of a session.
type again struct {
	every  time.Duration
	last   time.Time // of the starts
	starts int       // beside the first
	failed int       // the last so many
}

// wait returns how long it is until the next start may come.
func (a *again) wait(now time.Time) time.Duration {
	return max(0, a.last.Add(a.every).Sub(now))
}

// ended notes that a start has come to its end.
func (a *again) ended(began bool) {
	a.starts++
	a.failed++
	if began {
		a.failed = 0
	}
}

// over says why no start follows; nil: one may. last is why the session ended.
func (a *again) over(last error) error {
	switch {
	case a.failed >= mostFailed:
		return fmt.Errorf("it failed to start %d times in a row, at last because: %w", a.failed, last)
	case a.starts >= mostStarts:
		return fmt.Errorf("it was started again %d times, and no session is started more often", a.starts)
	}
	return nil
}

// Sleeper keeps a session whose harness is started again when something comes for its agent. All
// but Every are required.
type Sleeper struct {
	Every time.Duration // between two starts; 0: the usual time

	// Session begins the session, or goes on with it if there is a text to begin with, and
	// returns when it has ended, with the reason. began says that the harness had begun it.
	Session func(ctx context.Context, text string) (began bool, ended error)
	// Asleep is told of each end after which the session sleeps, and how often it was started again.
	Asleep func(starts int, ended error)
	// Rest waits until the next start may come.
	Rest func(ctx context.Context, d time.Duration) error
	// News waits until something has come for the agent, and says what, as the text of a prompt.
	News func(ctx context.Context) (text string, err error)
}

// ErrOver wraps the reason for which a session that slept is not started any more.
var ErrOver = errors.New("it is not started again")

// Keep keeps the session until ctx ends. The error says why it has ended: that of the first start if
// the session did not begin then, the cause of ctx, or ErrOver with a reason.
func (s *Sleeper) Keep(ctx context.Context) error {
	a := again{every: s.Every, last: time.Now()}
	if a.every == 0 {
		a.every = startEvery
	}
	began, ended := s.Session(ctx, "")
	if !began {
		return ended
	}
	for text := ""; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := a.over(ended)
		if err == nil {
			s.Asleep(a.starts, ended)
			err = s.Rest(ctx, a.wait(time.Now()))
		}
		if err == nil && began { // a start that failed is tried again with its text
			text, err = s.News(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrOver, err)
		}
		a.last = time.Now()
		began, ended = s.Session(ctx, text)
		a.ended(began)
	}
}
