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
	// Of a database that it cannot open badger leaves these two behind; one that was
	// opened and not closed leaves others as well.
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/dgraph-io/badger/v4.(*DB).monitorCache"),
		goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
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
