package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// killedStore is a store as a kill leaves it: with tables, with write-ahead files, with values
// in the value logs and with what a start tidies up. Everything that a start changes is there
// to be changed.
func killedStore(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	s := openStore(t, dir)
	post(t, s, 5)
	require.NoError(t, s.Close())
	s = openStore(t, dir)
	post(t, s, 5)
	big := (&conformance.Writer{Head: s.durable}).Post("general", "t", strings.Repeat("b", 5*codec.ValueThreshold))
	mustAppend(t, s, big)
	require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: s.durable}))
	killed := filepath.Join(base, "killed")
	copyShort(t, dir, killed)
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(filepath.Join(killed, storedir.NameToken)))
	for _, name := range []string{storedir.NameFormat + storedir.TempSuffix, storedir.NameCheckpoints + "/" + checkpointName(3) + storedir.TempSuffix, storedir.NameBadger + "/000900.sst", storedir.NameBadger + "/00900.mem"} {
		put(t, killed, name, "")
	}
	require.NoError(t, errors.Join(os.Chmod(killed, 0o755), os.Chmod(filepath.Join(killed, storedir.NameKey), 0o644)))
	return killed
}

// copyShort copies a store without the holes at the ends of its logs, and with a ballast that is
// one hole.
func copyShort(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(target, info.Mode().Perm())
		}
		f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, info.Mode().Perm())
		if err != nil {
			return err
		}
		defer f.Close()
		if rel == storedir.NameBallast {
			return f.Truncate(ballastSize)
		}
		b, err := os.ReadFile(path)
		if ext := filepath.Ext(path); ext == ".mem" || ext == ".vlog" {
			b = append(bytes.TrimRight(b, "\x00"), make([]byte, 64)...)
		}
		_, werr := f.Write(b)
		return errors.Join(err, werr)
	}))
}

// TestRefusedStartChangesNothing: a start that is refused has changed no byte, no mode and no
// time of the store's folder, whatever the reason, and is refused in the same words again.
func TestRefusedStartChangesNothing(t *testing.T) {
	me, killed := person(t), killedStore(t)
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				found, err := filepath.Glob(filepath.Join(dir, name))
				require.NoError(t, err)
				if len(found) == 0 {
					t.Fatalf("there is no %s", name)
				}
				for _, path := range found {
					require.NoError(t, os.RemoveAll(path))
				}
			}
		}
	}
	flip := func(name string, at int) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			b := mustRead(t, filepath.Join(dir, name))
			if at < 0 {
				at += len(b)
			}
			b[at] ^= 1
			put(t, dir, name, string(b))
		}
	}
	full := func(left int64) Options { return Options{free: func(string) (int64, error) { return left, nil }} }
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		with  Options
		kind  storedir.StartKind
	}{
		"a newer format": {spoil: func(t *testing.T, dir string) {
			put(t, dir, storedir.NameFormat, fmt.Sprintf("%s\nformat %d\nmore\n", storedir.MarkerMagic, storedir.LatestFormat()+1))
		}, kind: storedir.StartNewerFormat},
		"a damaged marker":           {spoil: flip(storedir.NameFormat, -1), kind: storedir.StartCorrupt},
		"a marker of something else": {spoil: flip(storedir.NameFormat, 0), kind: storedir.StartNotAStore},
		"no marker":                  {spoil: remove(storedir.NameFormat), kind: storedir.StartNotAStore},
		"a half-made restore":        {spoil: func(t *testing.T, dir string) { remove(storedir.NameFormat)(t, dir); put(t, dir, nameRestoring, "") }, kind: storedir.StartNotAStore},
		"no key":                     {spoil: remove(storedir.NameKey), kind: storedir.StartCorrupt},
		"a damaged key":              {spoil: flip(storedir.NameKey, 3), kind: storedir.StartCorrupt},
		"the token is a folder":      {spoil: func(t *testing.T, dir string) { put(t, dir, storedir.NameToken+"/x", "") }, kind: storedir.StartCorrupt},
		"no HEAD":                    {spoil: remove(storedir.NameHead), kind: storedir.StartCorrupt},
		"a damaged HEAD": {spoil: func(t *testing.T, dir string) {
			put(t, dir, storedir.NameHead, strings.Repeat("h", 2*storedir.HeadSlotGap))
		}, kind: storedir.StartCorrupt},
		"no database":              {spoil: remove(storedir.NameBadger), kind: storedir.StartTruncated},
		"an empty database":        {spoil: remove(storedir.NameBadger + "/*"), kind: storedir.StartCorrupt},
		"no value logs":            {spoil: remove(storedir.NameBadger + "/*.vlog"), kind: storedir.StartCorrupt},
		"no write-ahead files":     {spoil: remove(storedir.NameBadger + "/*.mem"), kind: storedir.StartTruncated},
		"no tables":                {spoil: remove(storedir.NameBadger + "/*.sst"), kind: storedir.StartCorrupt},
		"no list of tables":        {spoil: remove(storedir.NameBadger + "/" + badgerfile.NameManifest), kind: storedir.StartCorrupt},
		"a damaged list of tables": {spoil: flip(storedir.NameBadger+"/"+badgerfile.NameManifest, -2), kind: storedir.StartCorrupt},
		"a damaged table":          {spoil: flip(storedir.NameBadger+"/000001.sst", 40), kind: storedir.StartCorrupt},
		"a damaged key registry":   {spoil: flip(storedir.NameBadger+"/"+badgerfile.NameRegistry, 20), kind: storedir.StartCorrupt},
		"statistics that are a folder": {spoil: func(t *testing.T, dir string) {
			remove(storedir.NameBadger+"/"+badgerfile.NameDiscard)(t, dir)
			put(t, dir, storedir.NameBadger+"/"+badgerfile.NameDiscard+"/x", "")
		}, kind: storedir.StartCorrupt},
		"a foreign file":               {spoil: func(t *testing.T, dir string) { put(t, dir, storedir.NameBadger+"/notes.mem", "mine") }, kind: storedir.StartCorrupt},
		"a checkpoint beyond the end":  {spoil: func(t *testing.T, dir string) { putCheckpoint(t, dir, 5000) }, kind: storedir.StartTruncated},
		"a full disk":                  {with: full(1 << 20), kind: storedir.StartFull},
		"a full disk, without ballast": {spoil: func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, storedir.NameBallast)) }, with: full(openNeeded - 1), kind: storedir.StartFull},
		"a disk that cannot be asked":  {with: Options{free: func(string) (int64, error) { return 0, errors.New("no answer") }}, kind: storedir.StartCorrupt},
		"a store of others":            {with: Options{Maker: me}, kind: storedir.StartForeign},
		"no data root":                 {with: Options{Maker: &Maker{}}, kind: storedir.StartForeign},
		"a link in a store of others": {spoil: func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "hub.log")))
		}, with: Options{Maker: me, Adopt: true}, kind: storedir.StartForeign},
		"no lock file either": {spoil: remove(storedir.NameLock, storedir.NameKey), kind: storedir.StartCorrupt},
		"a lock file that no hub has written": {spoil: func(t *testing.T, dir string) {
			put(t, dir, storedir.NameLock, strings.Repeat("x", 100<<10))
			remove(storedir.NameKey)(t, dir)
		}, kind: storedir.StartCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			copyShort(t, killed, dir)
			if c.spoil != nil {
				c.spoil(t, dir)
			}
			first := refused(t, dir, c.with)
			again := refused(t, dir, c.with)
			if !isStart(first, c.kind) || again.Error() != first.Error() {
				t.Errorf("%v, then %v; want %s twice", first, again, c.kind)
			}
			if _, err := os.Lstat(filepath.Join(dir, storedir.NameLock)); strings.HasPrefix(name, "no lock") && err == nil {
				t.Error("there is a lock file now")
			}
		})
	}
}

// putCheckpoint stores a checkpoint of a record that the journal does not reach.
func putCheckpoint(t *testing.T, dir string, seq hub.Seq) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, encodeCheckpoint(&b, &core.Checkpoint{Head: core.Head{Seq: seq, Message: hub.MessageID(seq)}}))
	put(t, dir, storedir.NameCheckpoints+"/"+checkpointName(seq), b.String())
}

// TestKilledStoreStarts: what the cases of TestRefusedStartChangesNothing have in common does
// not keep the store from being opened.
func TestKilledStoreStarts(t *testing.T) {
	dir := killedStore(t)
	s := openStore(t, dir)
	if s.Head().Seq != 11 {
		t.Errorf("Head = %+v, want 11", s.Head())
	}
	require.NoError(t, checkReads(s, 11))
	post(t, s, 3)
	require.NoError(t, s.Close())
}

// TestPartIsPutBack: a store that was refused because a part of it was away starts when the
// part is back.
func TestPartIsPutBack(t *testing.T) {
	for _, part := range []string{storedir.NameBadger, storedir.NameBadger + "/*.vlog", storedir.NameBadger + "/*.mem", storedir.NameBadger + "/*.sst", storedir.NameHead, storedir.NameKey, storedir.NameCheckpoints} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			dir := killedStore(t)
			if part == storedir.NameCheckpoints { // it is not missed as long as the journal has its beginning
				putCheckpoint(t, dir, 12)
			}
			found, err := filepath.Glob(filepath.Join(dir, part))
			require.NoError(t, err)
			aside := t.TempDir()
			if part != storedir.NameCheckpoints {
				for _, path := range found {
					require.NoError(t, os.Rename(path, filepath.Join(aside, filepath.Base(path))))
				}
			}
			refused(t, dir, Options{})
			if part == storedir.NameCheckpoints {
				require.NoError(t, os.Remove(filepath.Join(dir, storedir.NameCheckpoints, checkpointName(12))))
			}
			for _, path := range found {
				if part != storedir.NameCheckpoints {
					require.NoError(t, os.Rename(filepath.Join(aside, filepath.Base(path)), path))
				}
			}
			s := openStore(t, dir)
			require.NoError(t, checkReads(s, 11))
			require.NoError(t, s.Close())
		})
	}
}

// TestRefusedStartMakesNothing: where there is no store yet, a start that is refused leaves no
// folder and no file.
func TestRefusedStartMakesNothing(t *testing.T) {
	base := t.TempDir()
	there := filepath.Join(base, "there")
	require.NoError(t, os.Mkdir(there, 0o755))
	put(t, there, "hub.log", "of an earlier hub")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(there, old, old))
	for _, dir := range []string{filepath.Join(base, "a", "b", "store"), there} {
		for name, o := range map[string]Options{
			"a full disk":                  {free: func(string) (int64, error) { return 1 << 20, nil }},
			"a disk that cannot be asked":  {free: func(string) (int64, error) { return 0, errors.New("no answer") }},
			"no data root":                 {Maker: &Maker{}},
			"a disk that fails meanwhile":  {fs: failingFS{storedir.NameHead}},
			"a disk that fails in the end": {fs: failingFS{storedir.NameFormat}},
		} {
			t.Run(filepath.Base(dir)+", "+name, func(t *testing.T) {
				if first, again := refused(t, dir, o), refused(t, dir, o); again.Error() != first.Error() {
					t.Errorf("%v, then %v", first, again)
				}
			})
		}
	}
	left, err := os.ReadDir(there)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// failingFS cannot make one file.
type failingFS struct{ name string }

func (f failingFS) OpenFile(name string, flag int, mode os.FileMode) (storedir.File, error) {
	if flag&os.O_CREATE != 0 && strings.HasPrefix(filepath.Base(name), f.name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("a disk of a test")}
	}
	return storedir.DiskFS{}.OpenFile(name, flag, mode)
}

func (failingFS) Rename(from, to string) error          { return storedir.DiskFS{}.Rename(from, to) }
func (failingFS) Remove(name string) error              { return storedir.DiskFS{}.Remove(name) }
func (failingFS) SyncDir(dir string) error              { return storedir.DiskFS{}.SyncDir(dir) }
func (failingFS) ReadDir(name string) ([]string, error) { return storedir.DiskFS{}.ReadDir(name) }
