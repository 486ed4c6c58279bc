package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// put writes a file in dir.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// newStore makes a store with n posts and closes it.
func newStore(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir)
	post(t, s, n)
	require.NoError(t, s.Close())
	return dir
}

func post(t testing.TB, s *Store, n int) {
	t.Helper()
	w := &conformance.Writer{Head: s.durable}
	for range n {
		require.NoError(t, s.Append(&core.Group{Records: []*core.Record{w.Post("general", "t", strings.Repeat("body ", 80))}}))
	}
}

// checkReads fetches every message up to end.
func checkReads(s *Store, end hub.MessageID) error {
	for id := hub.MessageID(1); id <= end; id++ {
		if _, err := s.Message(id); err != nil {
			return err
		}
	}
	return nil
}

func TestStartErrors(t *testing.T) {
	cases := map[string]struct {
		make    func(t *testing.T) string
		options Options
		kind    storedir.StartKind
		is      error
	}{
		"plain file": {kind: storedir.StartNotAStore, is: storedir.ErrNotAStore, make: func(t *testing.T) string {
			put(t, t.TempDir(), "x", "")
			dir := t.TempDir()
			put(t, dir, "app.db", "SQLite format 3\x00")
			return filepath.Join(dir, "app.db")
		}},
		"a path through a plain file": {kind: storedir.StartNotAStore, make: func(t *testing.T) string {
			dir := t.TempDir()
			put(t, dir, "app.db", "x")
			return filepath.Join(dir, "app.db", "store")
		}},
		"a name that is too long": {kind: storedir.StartNotAStore, make: func(t *testing.T) string {
			return filepath.Join(t.TempDir(), strings.Repeat("x", 300))
		}},
		"a folder that cannot be made": {kind: storedir.StartNotAStore, make: func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
				t.Skip("needs symbolic links: ", err)
			}
			return filepath.Join(dir, "loop", "store")
		}},
		"foreign folder": {kind: storedir.StartNotAStore, is: storedir.ErrNotAStore, make: func(t *testing.T) string {
			dir := t.TempDir()
			put(t, dir, "thesis.txt", "mine")
			return dir
		}},
		"foreign FORMAT": {kind: storedir.StartNotAStore, make: func(t *testing.T) string {
			dir := t.TempDir()
			put(t, dir, "FORMAT", "PDF\n")
			return dir
		}},
		"newer format": {kind: storedir.StartNewerFormat, is: storedir.ErrNewerFormat, make: func(t *testing.T) string {
			dir := newStore(t, 1)
			put(t, dir, storedir.NameFormat, fmt.Sprintf("hubcli store\nformat %d\nwhatever comes\n", storedir.LatestFormat()+1))
			return dir
		}},
		"damaged FORMAT": {kind: storedir.StartCorrupt, make: func(t *testing.T) string {
			dir := newStore(t, 1)
			b, _ := os.ReadFile(filepath.Join(dir, storedir.NameFormat))
			put(t, dir, storedir.NameFormat, strings.Replace(string(b), "instance ", "instance 0", 1))
			return dir
		}},
		"locked": {kind: storedir.StartLocked, is: storedir.ErrLocked, make: func(t *testing.T) string {
			dir := t.TempDir()
			openStore(t, dir)
			return dir
		}},
		"key gone": {kind: storedir.StartCorrupt, make: func(t *testing.T) string {
			dir := newStore(t, 1)
			_ = os.Remove(filepath.Join(dir, storedir.NameKey))
			return dir
		}},
		"key damaged": {kind: storedir.StartCorrupt, make: func(t *testing.T) string {
			dir := newStore(t, 1)
			put(t, dir, storedir.NameKey, strings.Repeat("k", 36))
			return dir
		}},
		"full": {
			kind: storedir.StartFull, make: func(t *testing.T) string { return newStore(t, 1) },
			options: Options{free: func(string) (int64, error) { return 1 << 20, nil }},
		},
		"database gone": {kind: storedir.StartTruncated, make: func(t *testing.T) string {
			dir := newStore(t, 3)
			_ = os.RemoveAll(filepath.Join(dir, storedir.NameBadger))
			return dir
		}},
		"HEAD gone": {kind: storedir.StartCorrupt, make: func(t *testing.T) string {
			// Without HEAD nobody would notice that the database is gone too.
			dir := newStore(t, 3)
			_ = os.Remove(filepath.Join(dir, storedir.NameHead))
			return dir
		}},
		"HEAD damaged": {kind: storedir.StartCorrupt, make: func(t *testing.T) string {
			dir := newStore(t, 3)
			put(t, dir, storedir.NameHead, strings.Repeat("h", 2*storedir.HeadSlotGap))
			return dir
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := c.make(t)
			first := refused(t, dir, c.options)
			err := refused(t, dir, c.options) // still
			var start *storedir.StartError
			if !errors.As(first, &start) || !errors.As(err, &start) {
				t.Fatalf("Open: %v, then %v, want a StartError", first, err)
			}
			if start.Kind != c.kind || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("kind %s (%v), want %s", start.Kind, err, c.kind)
			}
			if start.Sentence == "" || start.Fix == "" || strings.ContainsAny(start.Sentence+start.Fix, "\n\x00") {
				t.Errorf("not one sentence and a fix: %q, %q", start.Sentence, start.Fix)
			}
		})
	}
}

// refused opens a store that must be refused, and returns why. The folder must be as it was
// before, and so must be those above it.
func refused(t testing.TB, dir string, o Options) error {
	t.Helper()
	base := dir
	for _, err := os.Lstat(base); err != nil && filepath.Dir(base) != base; _, err = os.Lstat(base) {
		base = filepath.Dir(base)
	}
	was := folderState(t, base)
	s, err := Open(dir, o)
	if err == nil {
		_ = s.Close()
		t.Fatal("the store was opened")
	}
	if now := folderState(t, base); now != was {
		t.Errorf("a start that was refused (%v) has changed the store:\n%s\nit was\n%s", err, now, was)
	}
	return err
}

// A store of an earlier format is marked as one of today's when it is opened, and
// not before it could be: the program that wrote it refuses it then by its format
// instead of stumbling over what it does not know.
func TestFormatRises(t *testing.T) {
	dir := newStore(t, 3)
	was, err := storedir.Inspect(dir)
	require.NoError(t, err)
	was.Format = 1
	put(t, dir, storedir.NameFormat, string(was.Encode()))
	head, err := os.ReadFile(filepath.Join(dir, storedir.NameHead))
	require.NoError(t, err)
	put(t, dir, storedir.NameHead, "")
	if _, err := Open(dir, Options{}); err == nil {
		t.Fatal("a store without HEAD was opened")
	}
	if m, err := storedir.Inspect(dir); err != nil || m != was {
		t.Errorf("after a start that failed the marker is %+v, %v", m, err)
	}
	put(t, dir, storedir.NameHead, string(head))
	s := openStore(t, dir)
	if s.Head().Seq != 3 || s.InstanceID() != was.InstanceID {
		t.Errorf("head %+v, instance %s", s.Head(), s.InstanceID())
	}
	if m, err := storedir.Inspect(dir); err != nil || m.Format != core.BaseFormat || m.InstanceID != was.InstanceID {
		t.Errorf("the marker is %+v, %v", m, err)
	}
}

func TestIdentityAndSecretsStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "store")
	s := openStore(t, dir)
	id, key, token := s.InstanceID(), s.SecretKey(), s.OperatorToken()
	if len(id) != 32 || len(key) != 32 || len(token) != 43 || s.Dir() != dir {
		t.Errorf("instance %q, key of %d bytes, token of %d characters, dir %q", id, len(key), len(token), s.Dir())
	}
	if m, err := storedir.Inspect(dir); err != nil || m.InstanceID != id || m.Format != core.BaseFormat {
		t.Errorf("Inspect = %+v, %v", m, err)
	}
	_ = s.Close()
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, storedir.NameKey: 0o600, storedir.NameToken: 0o600, storedir.NameFormat: 0o600, storedir.NameHead: 0o600, storedir.NameLock: 0o600, storedir.NameCheckpoints: 0o700} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%q has mode %v, %v, want %v", name, info.Mode().Perm(), err, want)
			}
		}
		_ = os.Chmod(filepath.Join(dir, storedir.NameToken), 0o644)
	}
	s = openStore(t, dir)
	if s.InstanceID() != id || !bytes.Equal(s.SecretKey(), key) || s.OperatorToken() != token {
		t.Error("identity or secrets changed")
	}
	if info, err := os.Stat(filepath.Join(dir, storedir.NameToken)); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("the token stays readable for others: %v, %v", info.Mode(), err)
	}
	_ = s.Close()
	put(t, dir, storedir.NameToken, "edited")
	s = openStore(t, dir)
	if s.OperatorToken() == token || len(s.OperatorToken()) != 43 {
		t.Errorf("token %q after damage", s.OperatorToken())
	}
}

// TestUnfinishedStoreIsMade: a crash while the store was made leaves everything
// but the marker.
func TestUnfinishedStoreIsMade(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{storedir.NameLock, storedir.NameKey, storedir.NameHead, storedir.NameToken, storedir.NameFormat + storedir.TempSuffix, "hub.log", "hub-2026-01-01T00-00-00.000.log"} {
		put(t, dir, name, "half")
	}
	if _, err := storedir.Inspect(dir); !errors.Is(err, storedir.ErrNoStore) {
		t.Fatalf("Inspect: %v, want ErrNoStore", err)
	}
	s := openStore(t, dir)
	post(t, s, 1)
}

func TestTruncatedIsRefusedUntilAccepted(t *testing.T) {
	dir := newStore(t, 3)
	s := openStore(t, dir)
	require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: s.Head()}))
	post(t, s, 4)
	_ = s.Close()
	old := filepath.Join(t.TempDir(), "old")
	require.NoError(t, os.CopyFS(old, os.DirFS(filepath.Join(dir, storedir.NameBadger))))
	s = openStore(t, dir)
	post(t, s, 5)
	_ = s.Close()
	// An old copy of the database comes back: records 8 to 12 are lost.
	_ = os.RemoveAll(filepath.Join(dir, storedir.NameBadger))
	require.NoError(t, os.Rename(old, filepath.Join(dir, storedir.NameBadger)))
	for range 2 {
		_, err := Open(dir, Options{})
		var start *storedir.StartError
		if !errors.As(err, &start) || start.Kind != storedir.StartTruncated {
			t.Fatalf("Open: %v, want truncated", err)
		}
	}
	s, err := Open(dir, Options{AcceptTruncated: true})
	require.NoError(t, err)
	want := core.Head{Seq: 12, Message: 12, Fence: 12, HubMS: 84}
	if s.Head() != want {
		t.Errorf("Head = %+v, want %+v", s.Head(), want)
	}
	_ = s.Close()
	for round := range 3 { // the loss is known now
		s = openStore(t, dir)
		if s.Head().Seq != want.Seq+hub.Seq(2*round) {
			t.Fatalf("round %d: Head = %+v", round, s.Head())
		}
		post(t, s, 2)
		var got []hub.Seq
		require.NoError(t, s.Records(2, func(r *core.Record) error { got = append(got, r.Seq); return nil }))
		if len(got) != 5+2*(round+1) || got[4] != 7 || got[5] != 13 {
			t.Errorf("round %d: records %v, want 3 to 7 and from 13 on", round, got)
		}
		if _, err := s.Message(12); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Message(12): %v, want ErrNotFound", err)
		}
		_ = s.Close()
	}
}

func TestDelete(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	refused := map[string]struct {
		make func(t *testing.T) string
		want error
	}{
		"nothing there": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "x") }, storedir.ErrNoStore},
		"empty folder":  {func(t *testing.T) string { return t.TempDir() }, storedir.ErrNoStore},
		"plain file": {func(t *testing.T) string {
			dir := t.TempDir()
			put(t, dir, "f", "x")
			return filepath.Join(dir, "f")
		}, storedir.ErrNotAStore},
		"foreign folder": {func(t *testing.T) string {
			dir := t.TempDir()
			put(t, dir, "f", "x")
			return dir
		}, storedir.ErrNotAStore},
		"repository": {func(t *testing.T) string {
			dir := newStore(t, 1)
			put(t, dir, ".git/HEAD", "x")
			return dir
		}, storedir.ErrNotAStore},
		"home": {func(t *testing.T) string {
			dir := newStore(t, 1)
			t.Setenv("HOME", dir)
			t.Setenv("USERPROFILE", dir)
			return dir
		}, storedir.ErrNotAStore},
		"symbolic link": {func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(newStore(t, 1), link); err != nil {
				t.Skip("needs symbolic links: ", err)
			}
			return link
		}, storedir.ErrNotAStore},
		"root": {func(*testing.T) string { return filepath.VolumeName(home) + string(filepath.Separator) }, storedir.ErrNotAStore},
		"open": {func(t *testing.T) string {
			dir := t.TempDir()
			openStore(t, dir)
			return dir
		}, storedir.ErrLocked},
		"newer": {func(t *testing.T) string {
			dir := newStore(t, 1)
			put(t, dir, storedir.NameFormat, fmt.Sprintf("hubcli store\nformat %d\n", storedir.LatestFormat()+1))
			return dir
		}, storedir.ErrNewerFormat},
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			dir := c.make(t)
			if err := Delete(dir); !errors.Is(err, c.want) {
				t.Errorf("Delete: %v, want %v", err, c.want)
			}
			if _, err := os.Stat(dir); err != nil && !errors.Is(c.want, storedir.ErrNoStore) {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
	t.Run("a store goes", func(t *testing.T) {
		dir := newStore(t, 2)
		put(t, dir, "hub.log", "line")
		require.NoError(t, Delete(dir))
		left, _ := os.ReadDir(filepath.Dir(dir))
		if len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("what is not the store's stays", func(t *testing.T) {
		dir := newStore(t, 2)
		put(t, dir, "notes.txt", "mine")
		put(t, dir, "checkpoints/mine.txt", "mine")
		var kept *Kept
		if err := Delete(dir); !errors.As(err, &kept) {
			t.Fatalf("Delete: %v, want Kept", err)
		}
		if b, err := os.ReadFile(filepath.Join(kept.Dir, "notes.txt")); err != nil || string(b) != "mine" {
			t.Errorf("notes: %q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(kept.Dir, "checkpoints", "mine.txt")); err != nil || string(b) != "mine" {
			t.Errorf("notes beside the checkpoints: %q, %v", b, err)
		}
		if _, err := os.Stat(filepath.Join(kept.Dir, storedir.NameKey)); err == nil {
			t.Error("the key is still there")
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the store is still there")
		}
	})
}
