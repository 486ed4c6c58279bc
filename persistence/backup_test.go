package persistence

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

func backupOf(t testing.TB, s *Store) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.Backup(context.Background(), &b))
	return b.Bytes()
}

// filled is a store with posts, rows, effects and checkpoints, which has a value of
// every kind.
func filled(t *testing.T) *Store {
	s := openStore(t, t.TempDir())
	w := &conformance.Writer{}
	for round := range 5 {
		g := &core.Group{}
		for i := range 40 {
			r := w.Post(hub.ChannelName(fmt.Sprintf("c-%d", i%3)), "thread", strings.Repeat("x", 40*i))
			r.Effect = &core.Effect{Scope: [32]byte{byte(round), byte(i), 7}, Seq: r.Seq, Answer: []byte("1234")}
			r.Rows = append(r.Rows, core.Row{Table: core.TableThread, Key: []byte{byte(i)}, Value: []byte(`{"n":1}`)})
			g.Records = append(g.Records, r)
		}
		require.NoError(t, s.Append(g))
		saveCheckpoint(t, s)
	}
	g := &core.Group{Records: []*core.Record{w.Post("c-0", "thread", "after the checkpoint")}}
	require.NoError(t, s.Append(g))
	return s
}

// everything is all that the database of a store holds.
func everything(t testing.TB, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, s.view(func(txn *badger.Txn) error {
		it := iterate(txn, nil, false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			all[string(it.Item().Key())] = fmt.Sprint(it.Item().ExpiresAt(), v)
		}
		return nil
	}))
	return all
}

func restored(t testing.TB, backup []byte) (*Store, Restored) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	got, err := Restore(bytes.NewReader(backup), dir, RestoreOptions{})
	if err != nil {
		t.Fatalf("Restore: %v (%v)", err, errors.Unwrap(err))
	}
	return openStore(t, dir), got
}

func TestRestoredIsWhatWasBackedUp(t *testing.T) {
	s := filled(t)
	backup := backupOf(t, s)
	info, err := CheckBackup(bytes.NewReader(backup))
	require.NoError(t, err)
	if info.Head != s.durable || info.Instance != s.InstanceID() || info.Bytes != int64(len(backup)) || info.Entries == 0 {
		t.Errorf("the backup says %+v", info)
	}
	back, got := restored(t, backup)
	want, have := everything(t, s), everything(t, back)
	given := string(codec.SeqKey(codec.PrefixGap, s.durable.Seq+1))
	if _, ok := have[given]; !ok {
		t.Error("the restored store has not given up the numbers that the original may have used")
	}
	delete(have, given)
	if len(want) != len(have) {
		t.Errorf("%d values of %d", len(have), len(want))
	}
	for key, value := range want {
		if have[key] != value {
			t.Errorf("key %q differs", key)
		}
	}
	if !bytes.Equal(back.SecretKey(), s.SecretKey()) {
		t.Error("the key differs: sessions and invites would not be known")
	}
	if back.InstanceID() == s.InstanceID() || back.InstanceID() != got.Instance || back.OperatorToken() == s.OperatorToken() {
		t.Error("the restored store passes for the original")
	}
	c, err := back.Checkpoint()
	require.NoError(t, err)
	first, _ := s.Checkpoint()
	if c.Head != first.Head {
		t.Errorf("checkpoint %+v, want %+v", c.Head, first.Head)
	}
	require.NoError(t, back.Records(c.Head.Seq, func(*core.Record) error { return nil }))
}

// TestRestoredGivesOutNoNumberTwice: what the original numbered after the backup
// has other numbers than what the restored store numbers next.
func TestRestoredGivesOutNoNumberTwice(t *testing.T) {
	s := filled(t)
	backup := backupOf(t, s)
	post(t, s, 20)
	back, _ := restored(t, backup)
	if now := back.Head(); now.Seq <= s.durable.Seq || now.Message <= s.durable.Message || now.Fence <= s.durable.Fence {
		t.Errorf("the restored store goes on at %+v, and the original is at %+v", now, s.durable)
	}
	last := back.Head().Message
	post(t, back, 3)
	n := 0
	require.NoError(t, back.Messages(core.Scope{Kind: core.ScopePublic}, s.durable.Message, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
		if n++; m.ID <= last {
			t.Errorf("message %d is new and has an old number", m.ID)
		}
		return true
	}))
	if n != 3 {
		t.Errorf("a reader with the cursor of the original sees %d of 3 new messages", n)
	}
	// And once more: a store that was restored can be backed up.
	again, _ := restored(t, backupOf(t, back))
	if again.Head().Message != back.durable.Message+restoredSkip {
		t.Errorf("the second restore goes on at %+v", again.Head())
	}
}

// TestBackupUnderLoad: each backup is the state after one commit, while commits and
// checkpoints go on.
func TestBackupUnderLoad(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := &conformance.Writer{}
	done, committed := make(chan struct{}), make(chan struct{}, 1)
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			g := &core.Group{}
			for range 20 {
				r := w.Post("general", "t", strings.Repeat("x", 300))
				// One row says how far the journal is: it must fit the head.
				r.Rows = []core.Row{{Table: core.TableThread, Key: []byte("end"), Value: fmt.Appendf(nil, "%d", r.Seq)}}
				g.Records = append(g.Records, r)
			}
			if err := s.Append(g); err != nil {
				t.Error(err)
				return
			}
			select {
			case committed <- struct{}{}:
			default:
			}
			if n%10 == 9 {
				if err := s.SaveCheckpoint(&core.Checkpoint{Head: w.Head}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var backups [][]byte
	for range 8 {
		<-committed
		backups = append(backups, backupOf(t, s))
	}
	close(done)
	writing.Wait()
	var last hub.Seq
	for i, backup := range backups {
		info, err := CheckBackup(bytes.NewReader(backup))
		require.NoError(t, err)
		back, _ := restored(t, backup)
		row, err := back.Row(core.TableThread, []byte("end"))
		if info.Head.Seq == 0 && errors.Is(err, core.ErrNotFound) {
			continue
		}
		require.NoError(t, err)
		if string(row) != fmt.Sprint(info.Head.Seq) || info.Head.Seq < last {
			t.Errorf("backup %d has the head %d and a row of record %s", i, info.Head.Seq, row)
		}
		last = info.Head.Seq
	}
	if last == 0 {
		t.Error("nothing was committed while the backups were made")
	}
}

// TestDamagedBackupIsRefused: a changed byte, a cut and an addition, anywhere.
func TestDamagedBackupIsRefused(t *testing.T) {
	s := filled(t)
	backup := backupOf(t, s)
	refused := func(what string, b []byte) {
		t.Helper()
		_, err := CheckBackup(bytes.NewReader(b))
		var e *storedir.StartError
		if !errors.As(err, &e) || e.Fix == "" || e.Kind != storedir.StartBadBackup {
			t.Errorf("%s: %v", what, err)
		}
	}
	step := max(1, len(backup)/3000)
	for i := 0; i < len(backup); i += step {
		b := bytes.Clone(backup)
		b[i] ^= 0x10
		refused(fmt.Sprintf("byte %d of %d changed", i, len(b)), b)
		refused(fmt.Sprintf("cut at %d", i), backup[:i])
	}
	chunks := 0
	for at := len(backupMagic) + 2; at < len(backup); chunks++ {
		size := int(binary.BigEndian.Uint32(backup[at+1:]))
		b := bytes.Clone(backup)
		b[at+5+size/2] ^= 0x10
		_, err := CheckBackup(bytes.NewReader(b))
		if want := fmt.Sprintf("damaged at byte %d ", at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a damaged chunk at %d: %v", at, err)
		}
		at += 5 + size + 4
	}
	if chunks < 4 {
		t.Errorf("a backup of %d chunks", chunks)
	}
	refused("one byte more", append(bytes.Clone(backup), 0))
	refused("cut by one", backup[:len(backup)-1])
	refused("another file", []byte("PK\x03\x04 something else"))
	refused("nothing", nil)

	// Nothing of a refused one is left, and what stands there stays.
	parent := t.TempDir()
	backup[len(backup)-40] ^= 1
	_, err := Restore(bytes.NewReader(backup), filepath.Join(parent, "store"), RestoreOptions{})
	if err == nil {
		t.Error("a damaged backup was restored")
	}
	if names, _ := os.ReadDir(parent); len(names) != 0 {
		t.Errorf("a refused restore has left %v", names)
	}
}

// TestForgedBackupIsRefused: a backup whose checksums fit, and whose content does
// not make a whole store.
func TestForgedBackupIsRefused(t *testing.T) {
	s := filled(t)
	for what, drop := range map[string]string{
		"a record": string(codec.SeqKey(codec.PrefixFrame, s.frameEnd)), "a message": string(codec.MessageKey(1)),
		"the last message": string(codec.MessageKey(s.durable.Message)),
	} {
		view, err := s.freeze()
		require.NoError(t, err)
		var out bytes.Buffer
		b := &backupWriter{out: &out}
		b.sum = newSum()
		b.write(append([]byte(backupMagic), 0, backupVersion))
		h := backupHead{format: storedir.LatestFormat(), head: view.head, instance: "x", key: s.key}
		b.chunk(chunkHead, h.encode())
		b.chunk(chunkPoint, view.point)
		var e codec.Encoder
		n := uint64(0)
		it := iterate(view.txn, nil, false)
		for it.Rewind(); it.Valid(); it.Next() {
			if string(it.Item().Key()) == drop {
				continue
			}
			v, err := it.Item().ValueCopy(nil)
			require.NoError(t, err)
			e.Bytes(it.Item().Key())
			e.Bytes(v)
			e.U64(it.Item().ExpiresAt())
			n++
		}
		it.Close()
		view.release()
		b.chunk(chunkEntries, e.B)
		b.end(n)
		if _, err := CheckBackup(&out); err == nil || !strings.Contains(err.Error(), "missing") && !strings.Contains(err.Error(), " end at ") {
			t.Errorf("without %s: %v", what, err)
		}
	}
}

// TestBackupOfADamagedStoreFails: the stream says so, and is no backup.
func TestBackupOfADamagedStoreFails(t *testing.T) {
	s := filled(t)
	key := codec.RowKey(core.TableThread, []byte{1})
	mustCommit(t, s, codec.Entry{Key: key, Value: []byte("no row at all")})
	var out bytes.Buffer
	err := s.Backup(context.Background(), &out)
	if !errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) {
		t.Errorf("Backup: %v, want corrupt_record", err)
	}
	_, err = CheckBackup(&out)
	if err == nil || !strings.Contains(err.Error(), "the hub could not finish it: the store holds a row that fails its checks") {
		t.Errorf("the stream says: %v", err)
	}
}

func TestBackupEndsWithItsContextAndItsReader(t *testing.T) {
	s := filled(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	if err := s.Backup(ctx, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup: %v, want canceled", err)
	}
	if _, err := CheckBackup(&out); err == nil || !strings.Contains(err.Error(), "the hub stopped") {
		t.Errorf("the stream says: %v", err)
	}
	if err := s.Backup(context.Background(), fullWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Backup: %v, want the writer's error", err)
	}
	require.NoError(t, s.Close())
	if err := s.Backup(context.Background(), &out); !errors.Is(err, storedir.ErrClosed) {
		t.Errorf("Backup of a closed store: %v", err)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
