package search

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/internal/require"
)

// TestShortRuns: kills alone do not make an index suspect, however often they come;
// runs that end whenever the index is opened do.
func TestShortRuns(t *testing.T) {
	counted := func(dir string) string {
		b, _ := os.ReadFile(filepath.Join(dir, runsFile))
		return string(b)
	}
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		run := func() *shortRuns { return &shortRuns{made: time.Now()} }
		killed := func(s *shortRuns) { // a killed process ends no run
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.timer != nil {
				s.timer.Stop()
			}
		}
		for range maxShort {
			s := run()
			require.NoError(t, s.begin(dir))
			killed(s)
		}
		for range 50 { // killed before it may be opened
			s := run()
			if err := s.begin(dir); !errors.Is(err, errLate) {
				t.Fatalf("after %s short runs: %v", counted(dir), err)
			}
			time.Sleep(lateOpen - time.Millisecond)
			killed(s)
		}
		s := run()
		time.Sleep(lateOpen)
		require.NoError(t, s.begin(dir))
		require.NoError(t, s.begin(dir)) // a failure of the engine opens it again
		if got := counted(dir); got != "4" {
			t.Errorf("%s short runs are counted", got)
		}
		time.Sleep(runLong)
		synctest.Wait()
		if got := counted(dir); got != "0" {
			t.Errorf("%s short runs are counted after a long one", got)
		}
		for n := range maxShort + maxLate {
			s := run()
			if n >= maxShort {
				time.Sleep(lateOpen)
			}
			require.NoError(t, s.begin(dir))
			time.Sleep(runLong - time.Millisecond)
			killed(s)
		}
		s = run()
		time.Sleep(lateOpen)
		if err := s.begin(dir); !errors.Is(err, errSuspect) {
			t.Errorf("an index that ends every run: %v", err)
		}
	})
}
