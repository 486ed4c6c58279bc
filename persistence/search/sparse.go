package search

import (
	"sync"
	"time"
)

// sayAgain is how long a line that would repeat itself is kept back. On a full
// disk the engine tries to save five times a second.
const sayAgain = 5 * time.Minute

// sparse lets a log line through at once, and then at most every sayAgain. The zero
// value is ready; any goroutine may use it.
type sparse struct {
	mu     sync.Mutex
	last   time.Time
	unsaid int
}

// due reports whether the line is to be written now, and how many were kept back
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
