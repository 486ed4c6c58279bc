package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// frames lists the keys of the journal's frames.
func frames(t *testing.T, s *Store) (seqs []hub.Seq) {
	t.Helper()
	require.NoError(t, s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(codec.PrefixFrame), false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n, _ := codec.KeyNumber(it.Item().Key())
			seqs = append(seqs, hub.Seq(n))
		}
		return nil
	}))
	return seqs
}

func saveCheckpoint(t *testing.T, s *Store) {
	t.Helper()
	require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: s.durable, Sections: []core.Section{{Version: 1, Data: []byte("state")}}}))
}

// forgetFrames deletes the frames up to seq, as earlier versions did.
func forgetFrames(t *testing.T, s *Store, upto hub.Seq) {
	t.Helper()
	for _, seq := range frames(t, s) {
		if seq <= upto {
			mustCommit(t, s, codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, seq)})
		}
	}
}

// TestFramesStayBehindCheckpoints: what a room was like at a moment is told from the
// records, so no checkpoint makes them needless.
func TestFramesStayBehindCheckpoints(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for range 5 {
		post(t, s, 10)
		saveCheckpoint(t, s)
	}
	_ = s.Close()
	s = openStore(t, dir)
	want := hub.Seq(1)
	require.NoError(t, s.Records(0, func(r *core.Record) error {
		if r.Seq != want {
			t.Errorf("record %d, want %d", r.Seq, want)
		}
		want = r.Seq + 1
		return nil
	}))
	if want != 51 {
		t.Errorf("the records end before %d, want 51", want)
	}
}

func TestJournalOfEarlierVersionsLacksItsBeginning(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 10)
	forgetFrames(t, s, 5)
	if err := s.Records(0, func(*core.Record) error { return nil }); !errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) {
		t.Errorf("Records(0) of a trimmed journal: %v, want corrupt_record", err)
	}
	require.NoError(t, s.Records(5, func(*core.Record) error { return nil }))
}

func TestDamagedCheckpointFallsBack(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for range 5 {
		post(t, s, 10)
		saveCheckpoint(t, s)
	}
	forgetFrames(t, s, 20)
	for _, want := range []hub.Seq{50, 40, 30} {
		c, err := s.Checkpoint()
		if err != nil || c.Head.Seq != want {
			t.Fatalf("Checkpoint = %+v, %v, want %d", c, err, want)
		}
		if err := s.Records(want, func(*core.Record) error { return nil }); err != nil {
			t.Fatalf("no replay from %d: %v", want, err)
		}
		path := filepath.Join(s.checkpointDir(), checkpointName(want))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		b[len(b)/2] ^= 1
		put(t, s.checkpointDir(), checkpointName(want), string(b))
	}
	if _, err := s.Checkpoint(); !errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) {
		t.Errorf("Checkpoint with none left and a trimmed journal: %v, want corrupt_record", err)
	}
	_ = s.Close()
	s = openStore(t, dir)
	if s.Head().Seq != 50 {
		t.Errorf("Head = %+v, want 50", s.Head())
	}
}

func TestDamagedCheckpointOfAWholeJournal(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 3)
	saveCheckpoint(t, s)
	put(t, s.checkpointDir(), checkpointName(3), "x")
	if _, err := s.Checkpoint(); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Checkpoint: %v, want ErrNotFound: the journal says it all", err)
	}
}

func TestHeadWithoutAnyFrame(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 5)
	saveCheckpoint(t, s)
	for _, seq := range frames(t, s) {
		mustCommit(t, s, codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, seq)})
	}
	want := s.durable
	_ = s.Close()
	s = openStore(t, dir)
	if s.Head() != want {
		t.Errorf("Head = %+v, want %+v", s.Head(), want)
	}
	post(t, s, 1)
	if s.durable.Seq != 6 {
		t.Errorf("the next record is %d, want 6", s.durable.Seq)
	}
}

// TestGroupThatWasInterruptedIsFinished commits only the frame of a group that is
// larger than a transaction, as a crash would leave it.
func TestGroupThatWasInterruptedIsFinished(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 2)
	w := &conformance.Writer{Head: s.durable}
	r := w.Post("general", "t", "large")
	for i := range 20_000 {
		r.Rows = append(r.Rows, core.Row{Table: core.TableLock, Key: fmt.Appendf(nil, "%05d", i), Value: []byte("v")})
	}
	r.Effect = &core.Effect{Scope: [32]byte{1}, Seq: r.Seq, Answer: []byte("answer")}
	require.NoError(t, s.encodeGroup([]*core.Record{r}, nil))
	if _, fits := txnSize(s.entries); fits {
		t.Fatal("the group fits one transaction")
	}
	f, err := codec.AppendFrame(nil, []*core.Record{r}, s.entries[1:])
	require.NoError(t, err)
	mustCommit(t, s, codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, r.Seq), Value: f})
	_ = s.Close()
	for round := range 2 {
		s = openStore(t, dir)
		if s.Head() != (core.Head{Seq: 3, Message: 3, Fence: 3, HubMS: 21}) {
			t.Errorf("round %d: Head = %+v", round, s.Head())
		}
		n := 0
		if err := s.RowsOf(core.TableLock, nil, false, func(_, _ []byte) bool { n++; return true }); err != nil || n != 20_000 {
			t.Errorf("round %d: %d rows, %v", round, n, err)
		}
		if _, err := s.Message(3); err != nil {
			t.Errorf("round %d: Message: %v", round, err)
		}
		if f, err := s.lastFrame(); err != nil || f.Redo != nil || f.First() != 3 {
			t.Errorf("round %d: the last frame still has a list of %d rows, %v", round, len(f.Redo), err)
		}
		if x, err := s.Effect([32]byte{1}); err != nil || string(x.Answer) != "answer" {
			t.Errorf("round %d: Effect: %+v, %v", round, x, err)
		}
		if round == 0 { // what comes later must not be undone by carrying it out again
			require.NoError(t, s.PutRows([]core.Row{{Table: core.TableLock, Key: []byte("00000"), Value: []byte("newer")}}))
		} else if v, _ := s.Row(core.TableLock, []byte("00000")); string(v) != "newer" {
			t.Errorf("a newer row was overwritten by %q", v)
		}
		_ = s.Close()
	}
}

func TestGroupLargerThanARedoListIsSplit(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := &conformance.Writer{}
	g := &core.Group{Rows: []core.Row{{Table: core.TableThread, Key: []byte("t"), Value: []byte("last")}}}
	for i := range 60 {
		r := w.Post("general", "t", strings.Repeat("b", 1<<20))
		for k := range 400 {
			r.Rows = append(r.Rows, core.Row{Table: core.TableLock, Key: fmt.Appendf(nil, "%03d/%03d", i, k), Value: []byte("v")})
		}
		g.Records = append(g.Records, r)
	}
	require.NoError(t, s.Append(g))
	if n := len(frames(t, s)); n < 2 {
		t.Errorf("%d frames, want several", n)
	}
	n := 0
	if err := s.RowsOf(core.TableLock, nil, false, func(_, _ []byte) bool { n++; return true }); err != nil || n != 24_000 {
		t.Errorf("%d rows, %v, want 24000", n, err)
	}
	if v, err := s.Row(core.TableThread, []byte("t")); string(v) != "last" {
		t.Errorf("Row = %q, %v", v, err)
	}
	if err := checkReads(s, 60); err != nil {
		t.Error(err)
	}
}

func TestLoggedErrorFailsTheStore(t *testing.T) {
	var log bytes.Buffer
	s, err := Open(t.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer s.Close()
	post(t, s, 1)
	if s.LastSync() <= 0 {
		t.Error("LastSync is not positive")
	}
	s.badger.Errorf("Unable to read: Key: %v", "a single value") // says nothing about commits
	post(t, s, 1)
	s.badger.Errorf("Error while curlf sync: %v\n", "EIO\n00000000 73 65 63 72 65 74 |secret|")
	w := &conformance.Writer{Head: s.durable}
	err = s.Append(&core.Group{Records: []*core.Record{w.Record()}})
	var told *hub.Error
	if !errors.As(err, &told) || told.Code != hub.CodeStoreFailed || told.Fix == "" {
		t.Fatalf("Append: %v, want store_failed", err)
	}
	select {
	case <-s.Failed():
	default:
		t.Error("Failed is not closed")
	}
	if s.Err() == nil || s.PutRows(nil) == nil || s.SaveCheckpoint(&core.Checkpoint{}) == nil {
		t.Error("writes go on after the failure")
	}
	if strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "curlf sync") {
		t.Errorf("the log: %s", log.String())
	}
	if _, err := s.Message(1); err != nil {
		t.Errorf("reads do not go on: %v", err)
	}
}

// TestTooLargeValueIsRefusedWithoutItsContents: Badger's error text holds a dump of
// the value.
func TestTooLargeValueIsRefusedWithoutItsContents(t *testing.T) {
	var log bytes.Buffer
	s, err := Open(t.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer s.Close()
	err = s.PutRows([]core.Row{{Table: core.TableThread, Key: []byte("k"), Value: bytes.Repeat([]byte("secret"), 12<<20)}})
	if err == nil {
		t.Fatal("a value of 72 MiB was accepted")
	}
	for _, text := range []string{err.Error(), log.String(), fmt.Sprint(errors.Unwrap(err))} {
		if strings.Contains(text, "secret") || strings.Contains(text, "73 65 63") || len(text) > 1000 {
			t.Errorf("an error holds contents: %.200s", text)
		}
	}
}

func TestCloseWaitsForReads(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 2)
	inside, proceed, closed := make(chan bool), make(chan bool), make(chan bool)
	var nested error
	reader := make(chan error)
	go func() {
		reader <- s.Messages(core.Scope{}, 0, 9, false, func(*core.StoredMessage) bool {
			close(inside)
			<-proceed
			_, nested = s.Message(1)
			return false
		})
	}()
	<-inside
	go func() { _ = s.Close(); close(closed) }()
	for { // until Close has begun
		if _, err := s.Message(1); errors.Is(err, storedir.ErrClosed) {
			break
		}
	}
	select {
	case <-closed:
		t.Fatal("Close did not wait")
	default:
	}
	close(proceed)
	if err := <-reader; err != nil || !errors.Is(nested, storedir.ErrClosed) {
		t.Errorf("the read: %v, one inside of it: %v, want ErrClosed", err, nested)
	}
	<-closed
}

func TestGenerationsKeepWhatIsRead(t *testing.T) {
	g := newGate(5)
	old, ts, err := g.enter()
	if err != nil || ts != 5 {
		t.Fatalf("enter = %d, %v", ts, err)
	}
	g.publish(9)
	if ts, ok := g.unread(); !ok || ts != 5 {
		t.Errorf("unread = %d, %v, want 5: a read is at 5", ts, ok)
	}
	if ts, ok := g.unread(); ok {
		t.Errorf("unread = %d although a read is at 5", ts)
	}
	g.leave(old)
	if ts, ok := g.unread(); !ok || ts != 9 {
		t.Errorf("unread = %d, %v, want 9", ts, ok)
	}
}

// countingFile counts the syncs of HEAD.
type countingFile struct {
	storedir.File
	syncs atomic.Int32
}

func (c *countingFile) Sync() error { c.syncs.Add(1); return c.File.Sync() }

func TestHeadIsSyncedOncePerSecond(t *testing.T) {
	if syncEveryCommit {
		t.Skip("needs a store whose HEAD is not synced with every commit")
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		count := &countingFile{File: s.head.F}
		s.head.F = count
		post(t, s, 10)
		if n := count.syncs.Load(); n != 0 {
			t.Errorf("%d syncs within a moment", n)
		}
		time.Sleep(headSyncEvery) // virtual
		synctest.Wait()
		if n := count.syncs.Load(); n != 1 {
			t.Errorf("%d syncs after a second, want 1", n)
		}
		time.Sleep(10 * time.Second)
		if n := count.syncs.Load(); n != 1 {
			t.Errorf("%d syncs of an idle store, want 1", n)
		}
		post(t, s, 1)
		require.NoError(t, s.Close())
		if n := count.syncs.Load(); n != 2 {
			t.Errorf("%d syncs after Close, want 2", n)
		}
	})
}

func TestEffectsExpire(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		defer s.Close()
		w := &conformance.Writer{}
		r := w.Record()
		r.Effect = &core.Effect{Scope: [32]byte{1}, Seq: 1, Answer: []byte("x")}
		require.NoError(t, s.Append(&core.Group{Records: []*core.Record{r}}))
		kept := s.entries[len(s.entries)-1]
		if want := time.Now().Add(hub.IdempotencyKept).Unix(); kept.Expires != uint64(want) {
			t.Errorf("it expires at %d, want %d", kept.Expires, want)
		}
		// A day of Badger's tickers takes long even in virtual time.
		kept.Expires = uint64(time.Now().Add(time.Minute).Unix())
		mustCommit(t, s, kept)
		time.Sleep(59 * time.Second)
		if _, err := s.Effect([32]byte{1}); err != nil {
			t.Errorf("a second before its end: %v", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := s.Effect([32]byte{1}); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("after its end: %v, want ErrNotFound", err)
		}
	})
}
