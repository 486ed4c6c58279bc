package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A run is short if it ended without Close before the index had saved anything and
// before it was open for runLong. A kill ends a run so, and a fault of the engine may:
// such a fault would end every run of the hub. After maxShort short runs in a row
// the index is therefore opened only once the process has lived for lateOpen without
// it. If maxLate runs more end shortly after that, the index is suspected, and rebuilt.
const (
	maxShort = 3
	maxLate  = 2
	runLong  = 3 * time.Second
	lateOpen = 5 * time.Second
)

// errLate says that the index is not opened yet.
var errLate = fmt.Errorf("search: the last runs ended while the index was being opened; it is opened %v after the start", lateOpen)

// errSuspect says that the index itself is taken for the reason why runs end.
var errSuspect = errors.New("search: run after run ended while the index was being opened")

// shortRuns counts the short runs in a row, this one included, in a file of the index.
type shortRuns struct {
	made time.Time // when this process began to use the index

	mu      sync.Mutex
	counted bool // this run is in the file
	timer   *time.Timer
}

// begin counts this run as a short one until end is called. A process is one run,
// however often it opens the index. Errors: errLate, errSuspect; the file cannot be
// written.
func (s *shortRuns) begin(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counted {
		return nil
	}
	n := 0
	if b, err := os.ReadFile(filepath.Join(dir, runsFile)); err == nil {
		n, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	switch {
	case n >= maxShort+maxLate:
		return errSuspect
	case n >= maxShort && time.Since(s.made) < lateOpen:
		return errLate
	}
	if err := s.write(dir, n+1); err != nil {
		return err
	}
	s.counted = true
	s.timer = time.AfterFunc(runLong, func() { s.end(dir) })
	return nil
}

// end notes that this run is no short one. A failure to write it is one suspicion too
// many: it costs time only.
func (s *shortRuns) end(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
		_ = s.write(dir, 0)
	}
}

func (s *shortRuns) write(dir string, n int) error {
	return os.WriteFile(filepath.Join(dir, runsFile), []byte(strconv.Itoa(n)), 0o600)
}
