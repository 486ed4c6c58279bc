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
	big := (&conformance.Writer{Head: s.durable}).Post("general", "t", strings.Repeat("b", 5*valueThreshold))
	mustAppend(t, s, big)
	require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: s.durable}))
	killed := filepath.Join(base, "killed")
	copyShort(t, dir, killed)
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(filepath.Join(killed, nameToken)))
	for _, name := range []string{nameFormat + tempSuffix, nameCheckpoints + "/" + checkpointName(3) + tempSuffix, nameBadger + "/000900.sst", nameBadger + "/00900.mem"} {
		put(t, killed, name, "")
	}
	require.NoError(t, errors.Join(os.Chmod(killed, 0o755), os.Chmod(filepath.Join(killed, nameKey), 0o644)))
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
		if rel == nameBallast {
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
		kind  StartKind
	}{
		"a newer format": {spoil: func(t *testing.T, dir string) {
			put(t, dir, nameFormat, fmt.Sprintf("%s\nformat %d\nmore\n", markerMagic, LatestFormat()+1))
		}, kind: StartNewerFormat},
		"a damaged marker":           {spoil: flip(nameFormat, -1), kind: StartCorrupt},
		"a marker of something else": {spoil: flip(nameFormat, 0), kind: StartNotAStore},
		"no marker":                  {spoil: remove(nameFormat), kind: StartNotAStore},
		"a half-made restore":        {spoil: func(t *testing.T, dir string) { remove(nameFormat)(t, dir); put(t, dir, nameRestoring, "") }, kind: StartNotAStore},
		"no key":                     {spoil: remove(nameKey), kind: StartCorrupt},
		"a damaged key":              {spoil: flip(nameKey, 3), kind: StartCorrupt},
		"the token is a folder":      {spoil: func(t *testing.T, dir string) { put(t, dir, nameToken+"/x", "") }, kind: StartCorrupt},
		"no HEAD":                    {spoil: remove(nameHead), kind: StartCorrupt},
		"a damaged HEAD":             {spoil: func(t *testing.T, dir string) { put(t, dir, nameHead, strings.Repeat("h", 2*headSlotGap)) }, kind: StartCorrupt},
		"no database":                {spoil: remove(nameBadger), kind: StartTruncated},
		"an empty database":          {spoil: remove(nameBadger + "/*"), kind: StartCorrupt},
		"no value logs":              {spoil: remove(nameBadger + "/*.vlog"), kind: StartCorrupt},
		"no write-ahead files":       {spoil: remove(nameBadger + "/*.mem"), kind: StartTruncated},
		"no tables":                  {spoil: remove(nameBadger + "/*.sst"), kind: StartCorrupt},
		"no list of tables":          {spoil: remove(nameBadger + "/" + nameManifest), kind: StartCorrupt},
		"a damaged list of tables":   {spoil: flip(nameBadger+"/"+nameManifest, -2), kind: StartCorrupt},
		"a damaged table":            {spoil: flip(nameBadger+"/000001.sst", 40), kind: StartCorrupt},
		"a damaged key registry":     {spoil: flip(nameBadger+"/"+nameRegistry, 20), kind: StartCorrupt},
		"statistics that are a folder": {spoil: func(t *testing.T, dir string) {
			remove(nameBadger+"/"+nameDiscard)(t, dir)
			put(t, dir, nameBadger+"/"+nameDiscard+"/x", "")
		}, kind: StartCorrupt},
		"a foreign file":               {spoil: func(t *testing.T, dir string) { put(t, dir, nameBadger+"/notes.mem", "mine") }, kind: StartCorrupt},
		"a checkpoint beyond the end":  {spoil: func(t *testing.T, dir string) { putCheckpoint(t, dir, 5000) }, kind: StartTruncated},
		"a full disk":                  {with: full(1 << 20), kind: StartFull},
		"a full disk, without ballast": {spoil: func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, nameBallast)) }, with: full(openNeeded - 1), kind: StartFull},
		"a disk that cannot be asked":  {with: Options{free: func(string) (int64, error) { return 0, errors.New("no answer") }}, kind: StartCorrupt},
		"a store of others":            {with: Options{Maker: me}, kind: StartForeign},
		"no data root":                 {with: Options{Maker: &Maker{}}, kind: StartForeign},
		"a link in a store of others": {spoil: func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "hub.log")))
		}, with: Options{Maker: me, Adopt: true}, kind: StartForeign},
		"no lock file either": {spoil: remove(nameLock, nameKey), kind: StartCorrupt},
		"a lock file that no hub has written": {spoil: func(t *testing.T, dir string) {
			put(t, dir, nameLock, strings.Repeat("x", 100<<10))
			remove(nameKey)(t, dir)
		}, kind: StartCorrupt},
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
			if _, err := os.Lstat(filepath.Join(dir, nameLock)); strings.HasPrefix(name, "no lock") && err == nil {
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
	put(t, dir, nameCheckpoints+"/"+checkpointName(seq), b.String())
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
	for _, part := range []string{nameBadger, nameBadger + "/*.vlog", nameBadger + "/*.mem", nameBadger + "/*.sst", nameHead, nameKey, nameCheckpoints} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			dir := killedStore(t)
			if part == nameCheckpoints { // it is not missed as long as the journal has its beginning
				putCheckpoint(t, dir, 12)
			}
			found, err := filepath.Glob(filepath.Join(dir, part))
			require.NoError(t, err)
			aside := t.TempDir()
			if part != nameCheckpoints {
				for _, path := range found {
					require.NoError(t, os.Rename(path, filepath.Join(aside, filepath.Base(path))))
				}
			}
			refused(t, dir, Options{})
			if part == nameCheckpoints {
				require.NoError(t, os.Remove(filepath.Join(dir, nameCheckpoints, checkpointName(12))))
			}
			for _, path := range found {
				if part != nameCheckpoints {
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
			"a disk that fails meanwhile":  {fs: failingFS{nameHead}},
			"a disk that fails in the end": {fs: failingFS{nameFormat}},
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

func (f failingFS) OpenFile(name string, flag int, mode os.FileMode) (file, error) {
	if flag&os.O_CREATE != 0 && strings.HasPrefix(filepath.Base(name), f.name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("a disk of a test")}
	}
	return diskFS{}.OpenFile(name, flag, mode)
}
func (failingFS) Rename(from, to string) error          { return diskFS{}.Rename(from, to) }
func (failingFS) Remove(name string) error              { return diskFS{}.Remove(name) }
func (failingFS) SyncDir(dir string) error              { return diskFS{}.SyncDir(dir) }
func (failingFS) ReadDir(name string) ([]string, error) { return diskFS{}.ReadDir(name) }
