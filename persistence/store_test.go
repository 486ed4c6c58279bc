package persistence

import (
	"errors"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"hubcli/persistence/conformance"
)

func TestMain(m *testing.M) {
	runChild()
	goleak.VerifyTestMain(m)
}

var discardLog = slog.New(slog.DiscardHandler)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v (%v)", err, errors.Unwrap(err))
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestJournalConformance(t *testing.T) {
	conformance.TestJournal(t, func(t testing.TB, dir string) conformance.Journal { return openStore(t, dir) })
}

func TestRowsConformance(t *testing.T) {
	conformance.TestRows(t, func(t testing.TB, dir string) conformance.Store { return openStore(t, dir) })
}
