package search

import (
	"sync"
	"time"
)

// sayAgain is the shortest time between two equal log lines. On a full disk the
// engine tries to save five times a second.
const sayAgain = 5 * time.Minute

// sparse limits the rate of a log line: the first is written at once, later
// ones at most every sayAgain. The zero value is ready; it is safe for
// concurrent use.
type sparse struct {
	mu     sync.Mutex
	last   time.Time
	unsaid int
}

// due reports whether to write the line now, and how many lines were suppressed
// since the last one.
func (s *sparse) due() (unsaid int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.last.IsZero() || now.Sub(s.last) >= sayAgain {
		unsaid, s.unsaid, s.last = s.unsaid, 0, now
		return unsaid, true
	}
	s.unsaid++
	return 0, false
}
