package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// copyStore copies a store with its holes; Badger's files are mostly holes.
func copyStore(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", "--sparse=always", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
}

// damagedStores returns a store as a kill leaves it and one that was closed, both
// with the same history, and the end of it.
func damagedStores(t *testing.T) (killed, closed string, end core.Head) {
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	s := openStore(t, dir)
	w := &conformance.Writer{}
	appendGroups := func(n int) {
		for range n {
			require.NoError(t, s.Append(childGroup(w)))
		}
		require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: w.Head, Sections: []core.Section{{Version: 1, Data: fmt.Append(nil, w.Head.Seq)}}}))
	}
	appendGroups(30)
	if err := s.Close(); err != nil { // so that there are tables
		t.Fatal(err)
	}
	s = openStore(t, dir)
	for range 4 {
		appendGroups(12)
	}
	require.NoError(t, s.Append(childGroup(w)))
	killed = filepath.Join(base, "killed")
	copyStore(t, dir, killed)
	require.NoError(t, s.Close())
	return killed, dir, w.Head
}

// TestDamageIsNeverServed flips a bit, blanks a page and cuts off the end of every
// file of a store. The store must come back whole, or refuse to start, or say
// corrupt_record; a shorter or another history must not be served.
func TestDamageIsNeverServed(t *testing.T) {
	killed, closed, end := damagedStores(t)
	random := rand.New(rand.NewPCG(11, uint64(time.Now().UnixNano())))
	counts := map[string]int{}
	for state, dir := range map[string]string{"killed": killed, "closed": closed} {
		for _, name := range storeFiles(t, dir) {
			for kind, times := range map[string]int{"flip": 2, "blank": 1, "cut": 1} {
				for range times {
					store := filepath.Join(t.TempDir(), "s")
					copyStore(t, dir, store)
					what := fmt.Sprintf("%s %s: %s", state, name, damage(t, random, filepath.Join(store, name), kind))
					outcome, err := judge(t, store, end)
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
					counts[outcome]++
					_ = os.RemoveAll(store)
				}
			}
		}
	}
	t.Logf("outcomes: %v", counts)
}

// judge opens a damaged store and says how it ended; an error is what must not be.
func judge(t *testing.T, store string, end core.Head) (string, error) {
	was := folderState(t, store)
	s, err := Open(store, Options{})
	if err != nil {
		if now := folderState(t, store); now != was {
			return "", fmt.Errorf("Open: %w, and the store is now\n%s\nit was\n%s", err, now, was)
		}
		var start *storedir.StartError
		if !errors.As(err, &start) {
			return "", fmt.Errorf("Open: %w, not a StartError", err)
		}
		return string(start.Kind), nil
	}
	defer s.Close()
	if s.Head().Seq != end.Seq || s.Head().Message != end.Message {
		return "", fmt.Errorf("the history ends at %+v, it was %+v", s.Head(), end)
	}
	if err := checkHistory(s, end.Seq); err != nil {
		return "", err
	}
	return "opened", nil
}

func storeFiles(t *testing.T, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != storedir.NameBallast && !strings.HasSuffix(d.Name(), storedir.NameLock) {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	}))
	slices.Sort(names)
	return names
}

// damage changes a file within its data, not in the hole behind, and says how.
func damage(t *testing.T, random *rand.Rand, path, kind string) string {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	size := dataEnd(t, f)
	if size == 0 {
		return "empty"
	}
	at := random.Int64N(size)
	switch kind {
	case "flip":
		var b [1]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << random.IntN(8)
		_, err = f.WriteAt(b[:], at)
	case "blank":
		at &^= 4095
		_, err = f.WriteAt(make([]byte, min(4096, size-at)), at)
	case "cut":
		err = f.Truncate(at)
	}
	require.NoError(t, err)
	return fmt.Sprintf("%s at byte %d of %d", kind, at, size)
}

// dataEnd returns where the zeros at the end of a file begin.
func dataEnd(t *testing.T, f *os.File) int64 {
	info, err := f.Stat()
	require.NoError(t, err)
	const seekHole = 4
	end, err := f.Seek(0, seekHole)
	if err != nil || end == 0 {
		end = info.Size()
	}
	b := make([]byte, end)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	for end > 0 && b[end-1] == 0 {
		end--
	}
	return end
}

// smallDisk mounts a disk of its own in memory and returns a function that fills
// it up to some bytes; the function it returns frees them again.
func smallDisk(t *testing.T, size string) (mount string, leave func(bytes int64) (free func())) {
	mount = t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs leave to mount a small disk, as root has it: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(mount, syscall.MNT_DETACH) })
	return mount, func(bytes int64) func() {
		now, err := osfile.Free(mount)
		require.NoError(t, err)
		f, err := os.CreateTemp(mount, "filler")
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, allocate(f, now-bytes))
		return func() { _ = os.Remove(f.Name()) }
	}
}

// askAgain asks for the room of a disk that has just changed.
func askAgain(s *Store) (bool, int64) {
	s.space.written.Store(spaceBytes)
	return s.Room()
}

// TestFullDisk fills a small disk under an open store and before one is opened.
func TestFullDisk(t *testing.T) {
	mount, leave := smallDisk(t, "160m")
	dir := filepath.Join(mount, "store")
	s := openStore(t, dir)
	post(t, s, 50)
	if ok, free := askAgain(s); !ok || free < roomNeeded {
		t.Fatalf("Room = %v, %d on a fresh disk", ok, free)
	}
	freeSome := leave(roomNeeded - 4<<20)
	for range 2 { // the ballast's own space must not change the answer
		if ok, _ := askAgain(s); ok {
			t.Fatal("Room says yes below what is needed")
		}
	}
	if _, err := os.Stat(s.space.ballastName()); err != nil {
		t.Errorf("the ballast is given up before it is needed: %v", err)
	}
	post(t, s, 20) // what was admitted before goes through
	if err := checkReads(s, 70); err != nil {
		t.Errorf("on a full disk: %v", err)
	}
	freeSome()
	if ok, _ := askAgain(s); !ok {
		t.Error("Room says no with space again")
	}
	if _, err := os.Stat(s.space.ballastName()); err != nil {
		t.Errorf("the ballast is not back: %v", err)
	}
	post(t, s, 5)

	freeAll := leave(0)
	if ok, _ := askAgain(s); ok {
		t.Error("Room says yes on a disk without space")
	}
	freeBallast := leave(0) // others take what the hub has given up
	post(t, s, 5)           // what was admitted before has its blocks
	big := &core.Group{Records: []*core.Record{(&conformance.Writer{Head: s.durable}).Post("general", "t", strings.Repeat("x", 2*codec.MemTableSize))}}
	for range 3 {
		if err := s.Append(big); !errors.Is(err, core.ErrNoRoom) {
			t.Errorf("Append of what has no room: %v", err)
		}
	}
	if err := s.PutRows([]core.Row{{Table: core.TableThread, Key: []byte("k"), Value: make([]byte, 2*codec.MemTableSize)}}); !errors.Is(err, core.ErrNoRoom) {
		t.Errorf("PutRows on a disk without space: %v", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("a full disk broke the store: %v", err)
	}
	if err := checkReads(s, 80); err != nil {
		t.Errorf("after the refusal: %v", err)
	}
	freeBallast()
	freeAll()
	if ok, _ := askAgain(s); !ok {
		t.Error("Room says no with space again")
	}
	if err := s.Append(big); err != nil {
		t.Errorf("the same group with space again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	// The ballast lets a hub start on a full disk; without it the start is refused.
	freeAll = leave(4 << 20)
	s = openStore(t, dir)
	if ok, _ := askAgain(s); ok {
		t.Error("Room says yes on a full disk")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	freeAll()
	_ = errors.Join(s.db.Close(), s.lock.Close()) // what a full disk has left open
	freeAll = leave(4 << 20)
	if _, err := Open(dir, Options{}); !isStart(err, storedir.StartFull) {
		t.Errorf("Open on a full disk: %v, want full", err)
	}
	freeAll()
	s = openStore(t, dir)
	if s.Head().Seq != 81 {
		t.Errorf("Head = %+v, want 81", s.Head())
	}
	post(t, s, 5)
}

func TestReadOnlyDisk(t *testing.T) {
	mount, _ := smallDisk(t, "160m")
	dir := filepath.Join(mount, "store")
	s := openStore(t, dir)
	post(t, s, 3)
	_ = s.Close()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("needs leave to mount a disk, as root has it: ", err)
	}
	for _, dir := range []string{dir, filepath.Join(mount, "new")} {
		if _, err := Open(dir, Options{}); !isStart(err, storedir.StartReadOnly) {
			t.Errorf("Open of %s: %v, want read_only", filepath.Base(dir), err)
		}
	}
}

// TestCloseOnFullDisk: Badger would flush to new files and die.
func TestCloseOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 3)
	s.space.mu.Lock()
	s.space.free = func(string) (int64, error) { return 0, nil }
	s.space.mu.Unlock()
	s.space.written.Store(spaceBytes)
	if err := s.Close(); err != nil {
		t.Errorf("Close on a full disk: %v; nothing is lost", err)
	}
	if err := errors.Join(s.db.Close(), s.lock.Close()); err != nil { // the disk of this test is not full
		t.Fatal(err)
	}
	s = openStore(t, dir)
	if s.Head().Seq != 3 {
		t.Errorf("Head = %+v, want 3", s.Head())
	}
}
