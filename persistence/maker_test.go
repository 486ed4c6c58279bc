package persistence

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/maker"
	"hubcli/internal/osfile"
	"hubcli/internal/require"
)

// person is a user with a data root.
func person(t *testing.T) *Maker {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	key, err := maker.Load(root)
	require.NoError(t, err)
	return &Maker{Key: key, Root: root}
}

// made makes a store for a user and closes it; nil makes one without a mark.
func made(t *testing.T, dir string, by *Maker) {
	t.Helper()
	s, err := Open(dir, Options{Maker: by})
	require.NoError(t, err)
	notify := []byte(`{"command":["/bin/sh","-c","touch owned"],"webhook":"http://127.0.0.1:9/x"}`)
	require.NoError(t, s.PutRows([]core.Row{
		{Table: core.TableNotify, Key: core.NotifyKey(), Value: notify},
		{Table: core.TableAgent, Key: []byte("dev"), Value: []byte("{}")},
	}))
	require.NoError(t, s.Close())
}

// state tells everything about a folder that a start could change.
func state(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintln(&all, rel, info.Mode(), info.ModTime(), sum)
		return nil
	}))
	return all.String()
}

// TestStoreOfOthersIsRefused: whatever a store has that came with a checkout, an archive or
// another data root, it is refused before a byte of it changes, and said to hold what it
// holds. The person can take it over.
func TestStoreOfOthersIsRefused(t *testing.T) {
	me, other := person(t), person(t)
	for name, bring := range map[string]func(dir string) string{
		"of another data root": func(dir string) string { made(t, dir, other); return dir },
		"without a mark":       func(dir string) string { made(t, dir, nil); return dir },
		"a copy of mine, as an archive keeps it": func(dir string) string {
			made(t, dir+".mine", me)
			require.NoError(t, os.CopyFS(dir, os.DirFS(dir+".mine")))
			for _, secret := range []string{storedir.NameKey, storedir.NameToken, storedir.NameMaker} {
				require.NoError(t, os.Chmod(filepath.Join(dir, secret), 0o600))
			}
			return dir
		},
		"with the mark of another store of mine": func(dir string) string {
			made(t, dir, other)
			made(t, dir+".mine", me)
			b, err := os.ReadFile(filepath.Join(dir+".mine", storedir.NameMaker))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, storedir.NameMaker), b, 0o600))
			return dir
		},
		"with a mark that is no file": func(dir string) string {
			made(t, dir, me)
			require.NoError(t, os.Remove(filepath.Join(dir, storedir.NameMaker)))
			require.NoError(t, os.Mkdir(filepath.Join(dir, storedir.NameMaker), 0o700))
			return dir
		},
		"with a mark that promises an adoption": func(dir string) string {
			made(t, dir, other)
			b, err := os.ReadFile(filepath.Join(dir, storedir.NameMaker))
			require.NoError(t, err)
			b = []byte(strings.Replace(string(b), "state made", "state adopting", 1))
			require.NoError(t, os.WriteFile(filepath.Join(dir, storedir.NameMaker), b, 0o600))
			return dir
		},
		"below a folder of my data root": func(string) string {
			dir := filepath.Join(me.Root, "checkout", "hub.sqlite3")
			made(t, dir, nil)
			return dir
		},
		"where a link in my data root leads": func(dir string) string {
			made(t, dir, nil)
			link := filepath.Join(me.Root, "app.db")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip("needs symbolic links")
			}
			return link
		},
		"of another data root in mine": func(string) string {
			dir := filepath.Join(me.Root, "brought.db")
			made(t, dir, other)
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bring(filepath.Join(t.TempDir(), "repo", "hub.sqlite3"))
			real, err := filepath.EvalSymlinks(dir)
			require.NoError(t, err)
			before := state(t, real)
			for range 2 {
				_, err := Open(dir, Options{Maker: me})
				var refused *storedir.StartError
				if !errors.As(err, &refused) || refused.Kind != storedir.StartForeign {
					t.Fatalf("Open gives %v, want a refusal", err)
				}
				if after := state(t, real); after != before {
					t.Fatalf("the refused start has changed the store:\n%s\nwas\n%s", after, before)
				}
				for _, told := range []string{"0 messages", "1 agents", "touch owned", "http://127.0.0.1:9/x"} {
					if !strings.Contains(refused.Sentence, told) {
						t.Errorf("%q does not tell of %q", refused.Sentence, told)
					}
				}
				if !strings.Contains(refused.Fix, "--adopt") {
					t.Errorf("%q does not name the way", refused.Fix)
				}
			}
		})
	}
}

// TestOwnStoreIsKnown: what is this user's is served without a flag.
func TestOwnStoreIsKnown(t *testing.T) {
	me := person(t)
	for name, bring := range map[string]func(dir string) string{
		"as it was made": func(dir string) string { made(t, dir, me); return dir },
		"renamed": func(dir string) string {
			made(t, dir, me)
			require.NoError(t, os.Rename(dir, dir+".moved"))
			return dir + ".moved"
		},
		"in the data root, of an earlier version": func(string) string {
			dir := filepath.Join(me.Root, "app.db")
			made(t, dir, nil)
			return dir
		},
		"copied into the data root": func(dir string) string {
			made(t, dir, me)
			in := filepath.Join(me.Root, "copy.db")
			require.NoError(t, os.CopyFS(in, os.DirFS(dir)))
			return in
		},
		"in the data root, with a mark that is damaged": func(string) string {
			dir := filepath.Join(me.Root, "damaged.db")
			made(t, dir, me)
			put(t, dir, storedir.NameMaker, strings.Repeat("\x00", 109))
			return dir
		},
		"by a link to its folder": func(dir string) string {
			made(t, dir, me)
			if err := os.Symlink(dir, dir+".link"); err != nil {
				t.Skip("needs symbolic links")
			}
			return dir + ".link"
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bring(filepath.Join(t.TempDir(), "store"))
			for _, adopt := range []bool{false, true, false} { // --adopt changes nothing of an own store
				s, err := Open(dir, Options{Maker: me, Adopt: adopt})
				require.NoError(t, err)
				token := s.OperatorToken()
				if s.Adopting() {
					t.Error("an own store is adopted")
				}
				require.NoError(t, s.Close())
				if origin, err := me.of(s.dir, s.InstanceID()); err != nil || origin != ours {
					t.Errorf("the store has no mark of its own: %v, %v", origin, err)
				}
				again, err := storedir.ReadToken(storedir.DiskFS{}, dir)
				require.NoError(t, err)
				if again != token {
					t.Error("the token has changed")
				}
			}
		})
	}
}

// TestDamagedMarkIsTold: outside of the data root a store whose mark is damaged could be
// anybody's. The refusal says why, and so does a look at the store that opens nothing.
func TestDamagedMarkIsTold(t *testing.T) {
	me := person(t)
	dir := filepath.Join(t.TempDir(), "store")
	made(t, dir, me)
	require.NoError(t, me.Refuses(dir))
	put(t, dir, storedir.NameMaker, strings.Repeat("\x00", 109))
	_, err := Open(dir, Options{Maker: me})
	if err == nil || !strings.Contains(err.Error(), "its file MAKER, which names its maker, is damaged") {
		t.Errorf("the start says %v", err)
	}
	if told := me.Refuses(dir); told == nil || told.Error() != err.Error() {
		t.Errorf("a look says %v, and the start %v", told, err)
	}
}

// TestAdoptionIsBroughtToItsEnd: once the person has said so, the store is adopted by the
// starts that follow, until one has done it, and its secrets are other ones.
func TestAdoptionIsBroughtToItsEnd(t *testing.T) {
	me, other := person(t), person(t)
	dir := filepath.Join(t.TempDir(), "store")
	made(t, dir, other)
	theirs, err := Open(dir, Options{Maker: other})
	require.NoError(t, err)
	key, token := theirs.SecretKey(), theirs.OperatorToken()
	require.NoError(t, theirs.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(dir, storedir.NamePlans, "p"), 0o700))
	for _, adopt := range []bool{true, false, false} {
		s, err := Open(dir, Options{Maker: me, Adopt: adopt})
		require.NoError(t, err)
		if !s.Adopting() {
			t.Fatal("the adoption is forgotten")
		}
		if string(s.SecretKey()) == string(key) || s.OperatorToken() == token {
			t.Error("a secret is the one that its maker knows")
		}
		if _, err := os.Stat(s.PlansDir()); err == nil {
			t.Error("plans of its maker are kept")
		}
		require.NoError(t, s.Close())
	}
	s, err := Open(dir, Options{Maker: me})
	require.NoError(t, err)
	require.NoError(t, s.Adopted())
	require.NoError(t, s.Close())
	s, err = Open(dir, Options{Maker: me})
	require.NoError(t, err)
	if s.Adopting() {
		t.Error("the adoption does not end")
	}
	require.NoError(t, s.Close())
	if _, err := Open(dir, Options{Maker: other}); err == nil {
		t.Error("its first maker still takes it for its own")
	}
}

// TestUnfinishedStoreOfOthers: a folder without a marker is made a store. The person who
// has put files into it knows no secret of that store, and no file outside of it is touched.
func TestUnfinishedStoreOfOthers(t *testing.T) {
	me := person(t)
	t.Run("secrets", func(t *testing.T) {
		from, dir := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "hub.sqlite3")
		made(t, from, nil)
		require.NoError(t, os.Mkdir(dir, 0o755))
		for _, name := range []string{storedir.NameKey, storedir.NameToken} {
			b, err := os.ReadFile(filepath.Join(from, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
		}
		known, err := storedir.ReadToken(storedir.DiskFS{}, from)
		require.NoError(t, err)
		key, err := storedir.ReadStoreKey(storedir.DiskFS{}, from)
		require.NoError(t, err)
		s, err := Open(dir, Options{Maker: me})
		require.NoError(t, err)
		defer s.Close()
		if s.OperatorToken() == known || string(s.SecretKey()) == string(key) {
			t.Error("the new store has a secret that came with the folder")
		}
	})
	for _, name := range []string{storedir.NameLock, storedir.NameBallast, storedir.NameHead, "hub.log", storedir.NameCheckpoints} {
		for kind, link := range map[string]func(old, new string) error{"link": os.Symlink, "other name": os.Link} {
			t.Run(kind+" "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "hub.sqlite3")
				target := filepath.Join(t.TempDir(), "profile")
				require.NoError(t, os.WriteFile(target, []byte("mine"), 0o644))
				require.NoError(t, os.Mkdir(dir, 0o755))
				if err := link(target, filepath.Join(dir, name)); err != nil {
					t.Skip("needs symbolic links")
				}
				if info, err := os.Lstat(target); err != nil || kind == "other name" && !linksKnown(info) {
					t.Skip("needs a system that tells the number of names of a file")
				}
				before := state(t, filepath.Dir(target))
				var refused *storedir.StartError
				if _, err := Open(dir, Options{Maker: me}); !errors.As(err, &refused) || refused.Kind != storedir.StartForeign {
					t.Errorf("Open gives %v, want a refusal", err)
				}
				if after := state(t, filepath.Dir(target)); after != before {
					t.Errorf("the file has changed: %s", after)
				}
			})
		}
	}
}

func linksKnown(info fs.FileInfo) bool {
	_, known := osfile.Links(nil, info)
	return known
}

// TestNoDataRoot: where no data root can be told, no store is taken for one's own.
func TestNoDataRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	made(t, dir, nil)
	for _, at := range []string{dir, dir + ".new"} {
		var refused *storedir.StartError
		if _, err := Open(at, Options{Maker: &Maker{}, Adopt: true}); !errors.As(err, &refused) || !strings.Contains(refused.Fix, "HUB_DATA_ROOT") {
			t.Errorf("Open gives %v", err)
		}
	}
}

// TestBackupOfOthers: a backup is this user's if the whole of it is.
func TestBackupOfOthers(t *testing.T) {
	me, other := person(t), person(t)
	backup := func(by *Maker) []byte {
		dir := filepath.Join(t.TempDir(), "store")
		made(t, dir, by)
		s, err := Open(dir, Options{Maker: by})
		require.NoError(t, err)
		defer s.Close()
		var out strings.Builder
		require.NoError(t, s.Backup(t.Context(), &out))
		return []byte(out.String())
	}
	restored := func(b []byte, adopt bool) (*Store, error) {
		dir := filepath.Join(t.TempDir(), "restored")
		if _, err := Restore(strings.NewReader(string(b)), dir, RestoreOptions{Maker: me, Adopt: adopt}); err != nil {
			if _, serr := os.Lstat(dir); serr == nil {
				t.Error("a refused restore leaves a store")
			}
			return nil, err
		}
		return Open(dir, Options{Maker: me})
	}
	s, err := restored(backup(me), false)
	require.NoError(t, err)
	if s.Adopting() {
		t.Error("an own backup is adopted")
	}
	require.NoError(t, s.Close())

	mine := backup(me)
	version, err := CheckBackup(strings.NewReader(string(mine)))
	require.NoError(t, err)
	for name, b := range map[string][]byte{
		"of another data root": backup(other), "without a mark": backup(nil), "with a mark of mine": forged(t, backup(other), version.mark),
	} {
		t.Run(name, func(t *testing.T) {
			var refused *storedir.StartError
			_, err := restored(b, false)
			if !errors.As(err, &refused) || refused.Kind != storedir.StartForeign || !strings.Contains(refused.Fix, maker.NameKey) {
				t.Fatalf("Restore gives %v, want a refusal", err)
			}
			s, err := restored(b, true)
			require.NoError(t, err)
			defer s.Close()
			if !s.Adopting() {
				t.Error("the store is served as it is")
			}
		})
	}
}

// TestSalvageOfOthers: a salvage makes nobody's store one's own.
func TestSalvageOfOthers(t *testing.T) {
	me, other := person(t), person(t)
	for name, c := range map[string]struct {
		by    *Maker
		adopt bool
		want  string
	}{
		"mine": {me, false, "own"}, "mine, with the flag": {me, true, "own"},
		"of another": {other, false, "refused"}, "of another, with the flag": {other, true, "adopted"},
		"of nobody": {nil, false, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			made(t, dir, c.by)
			to := filepath.Join(me.Root, "salvaged-"+strings.ReplaceAll(name, " ", "-")) // nobody else writes there
			_, err := Salvage(dir, to, SalvageOptions{Maker: me, Adopt: c.adopt})
			var refused *storedir.StartError
			if c.want == "refused" {
				if !errors.As(err, &refused) || refused.Kind != storedir.StartForeign {
					t.Fatalf("Salvage gives %v, want a refusal", err)
				}
				return
			}
			require.NoError(t, err)
			s, err := Open(to, Options{Maker: me})
			require.NoError(t, err)
			defer s.Close()
			if s.Adopting() != (c.want == "adopted") {
				t.Errorf("it is to be adopted: %v", s.Adopting())
			}
		})
	}
}

// forged puts another mark into a backup, with the sums that belong to it.
func forged(t *testing.T, b []byte, mark string) []byte {
	t.Helper()
	var out strings.Builder
	w := &backupWriter{out: &out, sum: newSum()}
	w.write(b[:len(backupMagic)+2])
	in := &backupReader{in: strings.NewReader(string(b)), sum: newSum()}
	require.NoError(t, in.begin())
	for {
		kind, err := in.next()
		require.NoError(t, err)
		switch kind {
		case chunkMaker:
			w.chunk(kind, []byte(mark))
		case chunkEnd:
			w.end(binary.BigEndian.Uint64(in.data))
			return []byte(out.String())
		default:
			w.chunk(kind, in.data)
		}
	}
}
