package persistence

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// The gate closes with more free the faster others fill the disk, and not because
// of what the hub itself takes.
func TestGateSeesHowFastTheDiskFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := int64(2 << 30)
		s := newSpace(t.TempDir(), slog.New(slog.DiscardHandler), func(string) (int64, error) { return free, nil })
		// closes is what is free when the gate closes while so much is taken at each look.
		closes := func(taken int64) int64 {
			for free = 2 << 30; free > 0; free -= taken {
				time.Sleep(spaceAge)
				if ok, _ := s.room(); !ok && free < 1<<30 {
					return free
				}
			}
			t.Fatalf("open with nothing free, %d taken at a look", taken)
			return 0
		}
		if at := closes(10 << 20); at < roomNeeded-20<<20 || at > roomNeeded {
			t.Errorf("the gate closes with %s free where little is taken, want about %s", storedir.Mebibytes(at), storedir.Mebibytes(roomNeeded))
		}
		if at := closes(ownShare); at > roomNeeded {
			t.Errorf("the gate closes with %s free by what the hub itself may take", storedir.Mebibytes(at))
		}
		slow, fast := closes(64<<20), closes(150<<20)
		if slow < roomNeeded+64<<20 || fast < 2*slow {
			t.Errorf("the gate closes with %s free where 64 MiB are taken at a look, with %s where it is 150", storedir.Mebibytes(slow), storedir.Mebibytes(fast))
		}
	})
}

// The operator reads in the log when writes stop and when they resume, once each.
func TestFullDiskIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		free := int64(2 << 30)
		s := newSpace(t.TempDir(), slog.New(slog.NewTextHandler(&out, nil)), func(string) (int64, error) { return free, nil })
		look := func(bytesFree int64) {
			free = bytesFree
			for range 5 {
				time.Sleep(2 * time.Second)
				s.room()
			}
		}
		for range 2 {
			look(2 << 30)
			look(1 << 20)
		}
		s.tight(1) // a commit that finds the gate closed already adds no line
		look(2 << 30)
		for line, want := range map[string]int{"level=WARN msg=\"the disk is nearly full": 2, "level=INFO msg=\"the disk has room again": 2} {
			if got := strings.Count(out.String(), line); got != want {
				t.Errorf("%d lines with %q, want %d:\n%s", got, line, want, out.String())
			}
		}
	})
}

// A commit whose blocks are reserved begins no log of Badger's: nothing that it
// writes can meet a full disk.
func TestCoveredCommitBeginsNoLog(t *testing.T) {
	s := openStore(t, t.TempDir())
	begins := func(l *aheadLog) bool {
		_, err := os.Stat(s.ahead.name(l, l.number+1))
		return err == nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	w := &conformance.Writer{Head: s.durable}
	covered, begun := 0, 0
	for n := byte(0); begun < 2; n++ {
		g := &core.Group{Records: []*core.Record{w.Post("general", "t", strings.Repeat("x", 1+rng.IntN(6000)))}}
		for i := range byte(rng.IntN(200)) { // these go to the memtable
			g.Rows = append(g.Rows, core.Row{Table: core.TableThread, Key: []byte{n, i}, Value: make([]byte, rng.IntN(900))})
		}
		require.NoError(t, s.encodeGroup(g.Records, g.Rows))
		covers, number := s.ahead.cover(s.entries), s.ahead.mem.number
		require.NoError(t, s.Append(g))
		if covers && (begins(&s.ahead.mem) || begins(&s.ahead.values) || s.ahead.mem.number != number) {
			t.Fatalf("a covered commit began a log: memtable %d after %d", s.ahead.mem.number, number)
		}
		if covers {
			covered++
		}
		if s.ahead.mem.number != number {
			begun++
		}
	}
	if covered < 10 {
		t.Errorf("%d commits were covered", covered)
	}
}

// A disk with bytes to spare and no room for new files is full, too: writes stop before a
// flush of the database fails, and go on by themselves.
func TestDiskWithoutRoomForFilesIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		files := int64(1 << 20)
		s := newSpace(t.TempDir(), slog.New(slog.NewTextHandler(&out, nil)), func(string) (int64, error) { return 2 << 30, nil })
		s.files = func(string) (int64, error) { return files, nil }
		look := func(left int64) bool {
			files = left
			time.Sleep(2 * spaceAge)
			ok, _ := s.room()
			return ok
		}
		for _, step := range []struct {
			files    int64
			open, to bool // the gate; a commit
		}{
			{filesNeeded, true, true},
			{filesNeeded - 1, false, true},
			{filesAgain - 1, false, true},
			{filesCommit - 1, false, false},
			{filesAgain, true, true},
		} {
			if open, to := look(step.files), s.fits(1); open != step.open || to != step.to {
				t.Errorf("room for %d files: gate %t, commit %t, want %t and %t", step.files, open, to, step.open, step.to)
			}
		}
		if n := strings.Count(out.String(), "no room for new files"); n != 1 {
			t.Errorf("%d lines say that there is no room for files, want 1:\n%s", n, out.String())
		}
		files = storedir.FilesOpen - 1
		if err := s.prepare(); err == nil || !strings.Contains(err.Error(), "more files") {
			t.Errorf("opening with room for %d files: %v", files, err)
		}
	})
}

// An error that Badger repeats each second is logged once a minute, with the number of those
// that were left out.
func TestRepeatedErrorIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &badgerLog{log: slog.New(slog.NewTextHandler(&out, nil))}
		l.Errorf("another error %d", 0)
		for i := range 150 {
			l.Errorf("flushing table %d", i)
			time.Sleep(time.Second)
		}
		if n := strings.Count(out.String(), "flushing table"); n != 3 {
			t.Errorf("%d lines in 150 s, want 3:\n%s", n, out.String())
		}
		if !strings.Contains(out.String(), "59 more like it") || !strings.Contains(out.String(), "another error 0") {
			t.Errorf("what was left out is not told:\n%s", out.String())
		}
		if l.failure() == nil || l.errors.Load() != 151 {
			t.Error("an error that is not logged is forgotten")
		}
	})
}
