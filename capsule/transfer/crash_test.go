package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/capsule/mirror"
	"hubcli/internal/osfile"
	"hubcli/internal/require"
)

var errCrashed = errors.New("the process was killed")

// steps lets so many steps happen and no later one, as a kill does.
type steps struct{ left int }

func (s *steps) die() bool {
	if s.left == 0 {
		return true
	}
	s.left--
	return false
}

// crashPlacer places folders until it is killed.
type crashPlacer struct {
	diskPlacer
	*steps
}

func (c crashPlacer) Mkdir(dir string) error {
	if c.die() {
		return errCrashed
	}
	return c.diskPlacer.Mkdir(dir)
}

func (c crashPlacer) Put(file string, write func(io.Writer) error) error {
	if c.die() {
		_ = os.WriteFile(file, []byte("half"), 0o600)
		return errCrashed
	}
	return c.diskPlacer.Put(file, write)
}

func (c crashPlacer) SyncDir(dir string) error {
	if c.die() {
		return errCrashed
	}
	return c.diskPlacer.SyncDir(dir)
}

func (c crashPlacer) Rename(from, to string) error {
	if c.die() {
		return errCrashed
	}
	return c.diskPlacer.Rename(from, to)
}

func (c crashPlacer) RemoveAll(dir string) error {
	if c.die() {
		return errCrashed
	}
	return c.diskPlacer.RemoveAll(dir)
}

// rendered makes a rendering of some texts.
func rendered(t *testing.T, texts map[string]string) *rendering {
	t.Helper()
	r := &rendering{dir: t.TempDir(), space: func() (bool, int64) { return true, 0 }, sums: map[string]string{}}
	for name, text := range texts {
		require.NoError(t, r.Append(name, []byte(text)))
	}
	require.NoError(t, r.close())
	require.NoError(t, r.sum(t.Context()))
	return r
}

// treeOf reads all files of a folder.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return all
}

func TestBundleIsWholeOrAbsentAfterAKill(t *testing.T) {
	texts := map[string]string{"README.md": "one", "rooms/api.md": "two", "data/messages/r1.ndjson": "three", "data/project.json": "", "artifacts/api/a.txt": "four"}
	r := rendered(t, texts)
	kills, placed := 0, 0
	for ; placed < 2; kills++ {
		above := t.TempDir()
		target := filepath.Join(above, "shop-export")
		if kills%2 == 1 {
			require.NoError(t, os.Mkdir(target, 0o700)) // an empty folder may be there
		}
		s := &steps{left: kills}
		err := placeFolder(t.Context(), crashPlacer{steps: s}, r, target, partPrefix)
		entries, _ := os.ReadDir(target)
		switch got := len(entries); {
		case got == 0 && err == nil:
			t.Fatalf("killed at step %d: there is no bundle and no error", kills)
		case got > 0 && !maps.Equal(treeOf(t, target), texts):
			t.Fatalf("killed at step %d: half a bundle: %v", kills, treeOf(t, target))
		}
		if err == nil {
			placed++
			continue
		}
		for name := range treeOf(t, above) {
			if first, _, _ := strings.Cut(name, "/"); first != "shop-export" && !strings.HasPrefix(first, partPrefix) {
				t.Fatalf("killed at step %d: %s is left", kills, name)
			}
		}
	}
	if kills < 15 {
		t.Errorf("a bundle has only %d steps", kills)
	}
}

func TestBundleIsRemovedIfItFails(t *testing.T) {
	r := rendered(t, map[string]string{"README.md": "one"})
	above := t.TempDir()
	r.sums["README.md"] = strings.Repeat("0", 64)
	if err := placeFolder(t.Context(), diskPlacer{}, r, filepath.Join(above, "x"), partPrefix); err == nil {
		t.Error("a file that is not what was rendered is placed")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCrashed)
	if err := placeFolder(ctx, diskPlacer{}, r, filepath.Join(above, "x"), partPrefix); !errors.Is(err, errCrashed) {
		t.Errorf("a cancelled bundle: %v", err)
	}
	if left := treeOf(t, above); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// crashDisk writes a mirror until it is killed.
type crashDisk struct {
	rootDisk
	*steps
}

func (c crashDisk) Mkdir(name string) error {
	if c.die() {
		return errCrashed
	}
	return c.rootDisk.Mkdir(name)
}

func (c crashDisk) OpenFile(name string, flag int, perm fs.FileMode) (osfile.File, error) {
	if c.die() {
		return nil, errCrashed
	}
	f, err := c.rootDisk.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return crashFile{File: f, steps: c.steps}, nil
}

func (c crashDisk) Rename(from, to string) error {
	if c.die() {
		return errCrashed
	}
	return c.rootDisk.Rename(from, to)
}

func (c crashDisk) Remove(name string) error {
	if c.die() {
		return errCrashed
	}
	return c.rootDisk.Remove(name)
}

func (c crashDisk) SyncDir(name string) error {
	if c.die() {
		return errCrashed
	}
	return c.rootDisk.SyncDir(name)
}

type crashFile struct {
	osfile.File
	*steps
}

func (c crashFile) Write(b []byte) (int, error) {
	if c.die() {
		n, _ := c.File.Write(b[:len(b)/2])
		return n, errCrashed
	}
	return c.File.Write(b)
}

// mirrorOnce plans and writes a mirror of texts, up to a kill after so many steps; -1: none.
func mirrorOnce(t *testing.T, workTree string, r *rendering, kill int) error {
	t.Helper()
	m, err := openMirror(workTree)
	require.NoError(t, err)
	defer m.root.Close()
	p, err := m.plan(r.sums)
	if err != nil {
		return err
	}
	if kill >= 0 {
		m.disk = crashDisk{rootDisk: m.disk.(rootDisk), steps: &steps{left: kill}}
	}
	return m.carryOut(t.Context(), &p, r)
}

// A run that is killed at any step leaves files that are old or new, and the next run makes
// all of them new, keeps what somebody else has changed, and leaves nothing behind.
func TestMirrorIsOldOrNewAfterAKill(t *testing.T) {
	old := map[string]string{"README.md": "old", "rooms/api.md": "old", "memory.md": "old", "gone.md": "old", "edited.md": "old"}
	now := map[string]string{"README.md": "new", "rooms/api.md": "new", "memory.md": "old", "decisions/0001-a.md": "new", "edited.md": "new"}
	later := map[string]string{"README.md": "later", "rooms/api.md": "new", "memory.md": "later", "edited.md": "later"}
	before, after, last := rendered(t, old), rendered(t, now), rendered(t, later)
	kills := 0
	for done := false; !done; kills++ {
		tree := t.TempDir()
		require.NoError(t, mirrorOnce(t, tree, before, -1))
		folder := filepath.Join(tree, ".hub", "mirror")
		require.NoError(t, os.WriteFile(filepath.Join(folder, "edited.md"), []byte("mine"), 0o600))
		err := mirrorOnce(t, tree, after, kills)
		done = err == nil
		for name, text := range treeOf(t, folder) {
			plain := strings.TrimSuffix(name, mirror.NewSuffix)
			switch {
			case name == mirror.LedgerName, strings.Contains(name, mirrorPart):
			case name == "edited.md" && text == "mine":
			case name != "edited.md" && (text == old[plain] || text == now[plain]):
			default:
				t.Fatalf("killed at step %d: %s is %q", kills, name, text)
			}
		}
		require.NoError(t, mirrorOnce(t, tree, last, -1))
		want := maps.Clone(later)
		want["edited.md"], want["edited.md.new"] = "mine", "later"
		got := treeOf(t, folder)
		delete(got, mirror.LedgerName)
		if !maps.Equal(got, want) {
			t.Fatalf("killed at step %d, then written again: %v, want %v", kills, got, want)
		}
	}
	if kills < 30 {
		t.Errorf("a mirror has only %d steps", kills)
	}
}

// A mirror is written into folders of its own: no link is followed, wherever it leads.
func TestMirrorFollowsNoLinks(t *testing.T) {
	r := rendered(t, map[string]string{"README.md": "new", "rooms/api.md": "new"})
	for name, link := range map[string]func(tree, away string) error{
		"the folder of the hub": func(tree, away string) error { return os.Symlink(away, filepath.Join(tree, ".hub")) },
		"within the work tree": func(tree, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(tree, "src"), 0o700), os.Symlink("src", filepath.Join(tree, ".hub")))
		},
		"the mirror": func(tree, away string) error {
			return errors.Join(os.Mkdir(filepath.Join(tree, ".hub"), 0o700), os.Symlink(away, filepath.Join(tree, ".hub", "mirror")))
		},
		"a folder of it": func(tree, away string) error {
			return errors.Join(os.MkdirAll(filepath.Join(tree, ".hub", "mirror"), 0o700), os.Symlink(away, filepath.Join(tree, ".hub", "mirror", "rooms")))
		},
		"a file in its place": func(tree, _ string) error { return os.WriteFile(filepath.Join(tree, ".hub"), []byte("x"), 0o600) },
	} {
		tree, away := t.TempDir(), t.TempDir()
		require.NoError(t, link(tree, away))
		if err := mirrorOnce(t, tree, r, -1); err == nil || !strings.Contains(asError(err).Error(), "is a link or a file") {
			t.Errorf("%s: %v", name, err)
		}
		if got := treeOf(t, away); len(got) != 0 {
			t.Errorf("%s: %v was written outside", name, got)
		}
		if _, err := os.Stat(filepath.Join(tree, "src", "mirror")); err == nil {
			t.Errorf("%s: the link was followed", name)
		}
	}
}

// A file that is a link stays one, and what it leads to stays what it is.
func TestMirrorKeepsLinkedFiles(t *testing.T) {
	tree, away := t.TempDir(), filepath.Join(t.TempDir(), "away.md")
	require.NoError(t, os.WriteFile(away, []byte("mine"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(tree, ".hub", "mirror"), 0o700))
	require.NoError(t, os.Symlink(away, filepath.Join(tree, ".hub", "mirror", "README.md")))
	require.NoError(t, mirrorOnce(t, tree, rendered(t, map[string]string{"README.md": "new"}), -1))
	data, err := os.ReadFile(away)
	if err != nil || string(data) != "mine" {
		t.Errorf("behind the link is %q, %v", data, err)
	}
	if got := treeOf(t, tree)[".hub/mirror/README.md.new"]; got != "new" {
		t.Errorf("beside the link is %q", got)
	}
}

// What somebody changes between plan and step stays.
func TestMirrorSeesLateChanges(t *testing.T) {
	for name, then := range map[string]map[string]string{"replaced": {"a.md": "new"}, "removed": {}} {
		tree := t.TempDir()
		require.NoError(t, mirrorOnce(t, tree, rendered(t, map[string]string{"a.md": "old"}), -1))
		r := rendered(t, then)
		m, err := openMirror(tree)
		require.NoError(t, err)
		p, err := m.plan(r.sums)
		require.NoError(t, err)
		file := filepath.Join(tree, ".hub", "mirror", "a.md")
		require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
		if err := m.carryOut(t.Context(), &p, r); err == nil {
			t.Errorf("%s: no error", name)
		}
		if data, _ := os.ReadFile(file); string(data) != "mine" {
			t.Errorf("%s: the file is %q", name, data)
		}
		require.NoError(t, m.root.Close())
	}
}

func TestMirrorRefusesABadLedger(t *testing.T) {
	tree := t.TempDir()
	folder := filepath.Join(tree, ".hub", "mirror")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	sum := sha256.Sum256([]byte("x"))
	evil := bytes.ReplaceAll([]byte(`{"tool":"hubcli","schema":1,"files":{"../../src":"SUM"}}`), []byte("SUM"), []byte(hex.EncodeToString(sum[:])))
	require.NoError(t, os.WriteFile(filepath.Join(folder, mirror.LedgerName), evil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "src"), []byte("x"), 0o600))
	if err := mirrorOnce(t, tree, rendered(t, map[string]string{"a.md": "new"}), -1); err == nil {
		t.Error("a ledger with a path that leads out is used")
	}
	if got := treeOf(t, tree)["src"]; got != "x" {
		t.Error("a file outside of the mirror is gone")
	}
}

// What a note names is removed at the next start, and nothing else, whatever the note says.
func TestNextStartRemovesParts(t *testing.T) {
	plans, out := t.TempDir(), t.TempDir()
	id, other := newID(), newID()
	ours, theirs, mine := partPrefix+id+"-ABC", partPrefix+other+"-ABC", "mine"
	for _, name := range []string{ours, theirs, mine} {
		require.NoError(t, os.MkdirAll(filepath.Join(out, name, "rooms"), 0o700))
	}
	notes := map[string]string{
		id:      filepath.Join(out, partPrefix+id+"-"),
		other:   filepath.Join(out, "mi"), // not of the export that the note is of
		newID(): partPrefix,
		newID(): "",
		newID(): filepath.Join(out, "gone", partPrefix),
	}
	for id, path := range notes {
		require.NoError(t, os.WriteFile(filepath.Join(plans, id+noteSuffix), []byte(path), 0o600))
	}
	New(Options{Dir: plans}).Close()
	for name, stays := range map[string]bool{ours: false, theirs: true, mine: true} {
		if _, err := os.Stat(filepath.Join(out, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(plans); err != nil || len(left) > 0 {
		t.Errorf("in the folder of the plans there is %v, %v", left, err)
	}
}

// TestNextStartRemovesLoneSignatures: those that the note names, of capsules without their name.
func TestNextStartRemovesLoneSignatures(t *testing.T) {
	for what, c := range map[string]struct {
		text                      string // of the signature
		elsewhere, capsule, stays bool
	}{
		"alone":                    {text: "ours"},
		"beside its capsule":       {text: "ours", capsule: true, stays: true},
		"of somebody else":         {text: "theirs", stays: true},
		"in a folder of no export": {text: "ours", elsewhere: true, stays: true},
	} {
		plans, out, id := t.TempDir(), t.TempDir(), newID()
		file := filepath.Join(out, "shop.hubpack.minisig")
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		if c.capsule {
			require.NoError(t, os.WriteFile(filepath.Join(out, "shop.hubpack"), []byte("capsule"), 0o600))
		}
		dir := out
		if c.elsewhere {
			dir = t.TempDir()
		}
		note := filepath.Join(dir, partPrefix+id+"-") + "\n" + file + "\n" + sumOf([]byte("ours"))
		require.NoError(t, os.WriteFile(filepath.Join(plans, id+noteSuffix), []byte(note), 0o600))
		New(Options{Dir: plans}).Close()
		if _, err := os.Stat(file); (err == nil) != c.stays {
			t.Errorf("a signature %s: %v", what, err)
		}
		if left, err := os.ReadDir(plans); err != nil || len(left) > 0 {
			t.Errorf("in the folder of the plans there is %v, %v", left, err)
		}
	}
}
