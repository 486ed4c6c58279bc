package persistence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/internal/require"
)

// appendToList appends an entry that adds and drops tables, new ones at a level.
func appendToList(t *testing.T, dir string, level byte, adds, drops []byte) {
	t.Helper()
	var body []byte
	for _, id := range adds {
		body = append(body, 10, 4, 8, id, 24, level)
	}
	for _, id := range drops {
		body = append(body, 10, 4, 8, id, 16, 1)
	}
	entry := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	entry = append(binary.BigEndian.AppendUint32(entry, crc32.Checksum(body, codec.Castagnoli)), body...)
	put(t, dir, storedir.NameBadger+"/"+badgerfile.NameManifest, string(append(mustRead(t, inBadger(dir, badgerfile.NameManifest)), entry...)))
}

// tablesAndLog is a store as a kill leaves it: tables 1 and 2 and more in the write-ahead
// file, posts in all.
func tablesAndLog(t *testing.T, posts int) string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "store")
	for range 2 {
		s := openStore(t, base)
		post(t, s, posts/3)
		require.NoError(t, s.Close())
	}
	s := openStore(t, base)
	post(t, s, posts/3)
	dir := filepath.Join(t.TempDir(), "killed")
	copyFolder(t, base, dir)
	_ = os.RemoveAll(inBadger(dir, "LOCK"))
	require.NoError(t, s.Close())
	return dir
}

// nowhere makes the current folder one in which nothing can be made, where there is one.
func nowhere(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Chdir("/proc")
	}
}

// TestEntryThatNeverCameIntoForce: what a failed sync leaves in the list of tables is taken
// back, and the doctor agrees. Where the files do not prove that nothing is missing the store
// is refused, and nothing is changed.
func TestEntryThatNeverCameIntoForce(t *testing.T) {
	gone := func(t *testing.T, dir string, names ...string) {
		for _, name := range names {
			found, err := filepath.Glob(inBadger(dir, name))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %v, %v", name, found, err)
			}
			require.NoError(t, os.Remove(found[0]))
		}
	}
	for name, c := range map[string]struct {
		spoil   func(t *testing.T, dir string)
		refused string
	}{
		"a flush": {func(t *testing.T, dir string) { appendToList(t, dir, 0, []byte{9}, nil) }, ""},
		"a flush, and again": {func(t *testing.T, dir string) {
			appendToList(t, dir, 0, []byte{9}, nil)
			appendToList(t, dir, 0, []byte{10}, nil)
		}, ""},
		"a flush beside a log that a crash left empty": {func(t *testing.T, dir string) {
			appendToList(t, dir, 0, []byte{9}, nil)
			put(t, dir, storedir.NameBadger+"/00099.mem", "")
		}, ""},
		"a merge": {func(t *testing.T, dir string) { appendToList(t, dir, 6, []byte{9}, []byte{1, 2}) }, ""},
		"a flush, then a merge": {func(t *testing.T, dir string) {
			appendToList(t, dir, 0, []byte{9}, nil)
			appendToList(t, dir, 6, []byte{10, 11}, []byte{1, 2})
		}, ""},
		"a table that was in force": {func(t *testing.T, dir string) { gone(t, dir, "000002.sst") }, "000002.sst is missing"},
		"an older one":              {func(t *testing.T, dir string) { gone(t, dir, "000001.sst") }, "000001.sst is missing"},
		"a flush without its log":   {func(t *testing.T, dir string) { appendToList(t, dir, 0, []byte{9}, nil); gone(t, dir, "*.mem") }, "000009.sst is missing"},
		"a merge without its tables": {func(t *testing.T, dir string) {
			appendToList(t, dir, 6, []byte{9}, []byte{1, 2})
			gone(t, dir, "000001.sst")
		}, "000009.sst is missing"},
		"two tables at once":       {func(t *testing.T, dir string) { appendToList(t, dir, 0, []byte{9, 10}, nil) }, "000009.sst is missing"},
		"a table of a lower level": {func(t *testing.T, dir string) { appendToList(t, dir, 6, []byte{9}, nil) }, "000009.sst is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tablesAndLog(t, 30)
			c.spoil(t, dir)
			x, err := Examine(dir)
			require.NoError(t, err)
			if (x.Refused == nil) != (c.refused == "") {
				t.Errorf("the doctor: %v", x.Refused)
			}
			if c.refused != "" {
				if err := refused(t, dir, Options{}); !isStart(err, storedir.StartCorrupt) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("Open: %v, want %q", err, c.refused)
				}
				return
			}
			nowhere(t)
			s, lines := openLogged(t, dir)
			require.NoError(t, checkReads(s, 30))
			if !strings.Contains(lines, "table list were taken back") {
				t.Errorf("not told: %s", lines)
			}
			post(t, s, 5)
			require.NoError(t, s.Close())
			again, lines := openLogged(t, dir)
			require.NoError(t, checkReads(again, 35))
			if strings.Contains(lines, "taken back") {
				t.Errorf("told again: %s", lines)
			}
		})
	}
}

// TestFailedListEndsBadgersPart: where Badger could not write its list of tables it must not
// try again. Other failures it may try again.
func TestFailedListEndsBadgersPart(t *testing.T) {
	list := &os.PathError{Op: "sync", Path: "/s/badger/MANIFEST", Err: syscall.EIO}
	table := fmt.Errorf("error while creating table err: %w", &os.PathError{Op: "open", Path: "/s/badger/000007.sst", Err: syscall.ENOSPC})
	for _, c := range []struct {
		say  func(*badgerLog)
		ends bool
	}{
		{func(l *badgerLog) { l.Errorf("error flushing memtable to disk: %v, retrying", list) }, true},
		{func(l *badgerLog) { l.Errorf("error flushing memtable to disk: %v, retrying", table) }, false},
		{func(l *badgerLog) {
			l.Warningf("[Compactor: %d] LOG Compact FAILED with error: %+v: %+v", 1, list, "x")
		}, true},
		{func(l *badgerLog) {
			l.Warningf("[Compactor: %d] LOG Compact FAILED with error: %+v: %+v", 1, table, "x")
		}, false},
		{func(l *badgerLog) { l.Warningf("something of %v", list) }, false},
	} {
		l := &badgerLog{log: discardLog}
		var told error
		tell := func(err error) { told = err }
		l.ended.Store(&tell)
		goneOn := false
		var part sync.WaitGroup
		part.Go(func() { c.say(l); goneOn = true })
		part.Wait()
		if goneOn == c.ends || errors.Is(told, syscall.EIO) != c.ends || c.ends && l.failure() == nil {
			t.Errorf("it went on: %t, told: %v, failure: %v; want its end: %t", goneOn, told, l.failure(), c.ends)
		}
	}
}

// TestCloseDoesNotWaitForAFailedCommit: a commit that waits for ever in a store that has
// failed does not keep the process from ending.
func TestCloseDoesNotWaitForAFailedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{gate: newGate(0), failed: make(chan struct{}), log: discardLog}
		inside, _, err := s.gate.enter()
		require.NoError(t, err)
		_ = s.fail(errors.New("the list"))
		if err := s.Close(); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("Close: %v", err)
		}
		s.gate.leave(inside)
	})
}

// TestFailingDiskIsNoDamage: an input/output error at a start is told of the disk.
func TestFailingDiskIsNoDamage(t *testing.T) {
	for _, err := range []*storedir.StartError{
		storedir.IOError("writing HEAD", &os.PathError{Op: "sync", Path: "/s/HEAD", Err: syscall.EIO}),
		storedir.DatabaseError("/s/badger", errors.New("sync /s/badger/MANIFEST: input/output error")),
	} {
		if !strings.HasPrefix(err.Sentence, "the disk of the store fails: ") || !strings.HasPrefix(err.Fix, "check the disk") {
			t.Errorf("%s\nfix: %s", err.Sentence, err.Fix)
		}
	}
}
