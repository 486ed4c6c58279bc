package persistence

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
	"hubcli/persistence/conformance"
)

// The tests of this file kill a process at a step that has a name: strace ends it
// with SIGKILL when it enters a system call on a file. The calls that nothing but
// their number tells from others are made by one thread: strace counts per thread.

func init() {
	children["flush"] = makeTable
	children["compact"] = mergeTables
	children["read"] = readAndDie
	children["delete"] = func(dir string) int {
		runtime.LockOSThread()
		if err := Delete(dir); err != nil {
			fmt.Println(err)
			return exitFailed
		}
		return 0
	}
	children["start"] = func(dir string) int {
		runtime.LockOSThread()
		s, err := Open(dir, Options{})
		if err != nil {
			fmt.Println(err)
			return exitRefused
		}
		_ = s.Close()
		return 0
	}
}

// bigRows are rows that fill a good eighth of a memtable, in one transaction.
func bigRows(n int) (rows []core.Row) {
	const count = 500
	for i := range count {
		rows = append(rows, core.Row{Table: core.TableThread, Key: fmt.Appendf(nil, "big-%d-%d", n, i), Value: []byte(strings.Repeat("r", 900))})
	}
	return rows
}

func thereIs(dir, name string) bool {
	_, err := os.Lstat(inBadger(dir, name))
	return err == nil
}

// makeTable appends until the first memtable has become a table.
func makeTable(dir string) int {
	n := 0
	return appendUntil(dir, func(s *Store) (bool, error) {
		if n++; thereIs(dir, "00002.mem") {
			return !thereIs(dir, "00001.mem"), nil
		}
		return false, s.PutRows(bigRows(n))
	})
}

// mergeTables appends until the tables of the start have been merged.
func mergeTables(dir string) int {
	return appendUntil(dir, func(*Store) (bool, error) { return !thereIs(dir, "000003.sst"), nil })
}

// appendUntil appends small groups until done says so, and tells each.
func appendUntil(dir string, done func(*Store) (bool, error)) int {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("refused", err)
		return exitRefused
	}
	w := &conformance.Writer{Head: s.Head()}
	for {
		ended, err := done(s)
		if err == nil && !ended {
			err = s.Append(childGroup(w))
		}
		if err != nil {
			fmt.Println("failed", err)
			return exitFailed
		}
		if ended {
			return 0
		}
		fmt.Println("ack", w.Head.Seq)
	}
}

// step is a place in the making or deleting of a file.
type step struct {
	name string
	file string // in Badger's folder
	call string // on entering it for the first time the process is killed
	half string // of this table the second half is blanked then: it was not written
}

var flushSteps = []step{
	{name: "the next memtable's file has no size", file: "00002.mem", call: "ftruncate"},
	{name: "the next memtable's file is blank", file: "00002.mem", call: "mmap"},
	{name: "the table has no size", file: "000001.sst", call: "ftruncate"},
	{name: "the table is blank", file: "000001.sst", call: "mmap"},
	{name: "the table is half written", file: badgerfile.NameManifest, call: "write", half: "000001.sst"},
	{name: "the table is whole and not named", file: badgerfile.NameManifest, call: "write"},
	{name: "the table is named and the memtable's file is whole", file: badgerfile.NameManifest, call: "fsync"},
	{name: "the memtable's file is empty", file: "00001.mem", call: "unlinkat"},
}

var compactionSteps = []step{
	{name: "the new table has no size", file: "000005.sst", call: "ftruncate"},
	{name: "the new table is blank", file: "000005.sst", call: "mmap"},
	{name: "the new table is half written", file: badgerfile.NameManifest, call: "write", half: "000005.sst"},
	{name: "the new table is whole and not named", file: badgerfile.NameManifest, call: "write"},
	{name: "the new table is named and the old ones are there", file: badgerfile.NameManifest, call: "fsync"},
	{name: "an old table is to be emptied", file: "000001.sst", call: "ftruncate"},
	{name: "an old table is empty", file: "000001.sst", call: "unlinkat"},
	{name: "another old table is to be emptied", file: "000003.sst", call: "ftruncate"},
	{name: "another old table is empty", file: "000003.sst", call: "unlinkat"},
}

// straced returns a child that strace kills, or skips the test.
func straced(t *testing.T, does, dir string, options ...string) *exec.Cmd {
	t.Helper()
	strace := testprogram.Need(t, "strace")[0]
	return child(t, does, dir, append([]string{strace, "-f", "-qq", "-o", filepath.Join(t.TempDir(), "trace")}, options...)...)
}

// kill runs a child until strace kills it at a step and returns what it said.
func (st *step) kill(t *testing.T, does, dir string) string {
	t.Helper()
	options := []string{"-P", inBadger(dir, st.file)}
	for fd := 3; fd < 40; fd++ { // one of them is the store's folder, through which Badger names its files
		options = append(options, "-P", fmt.Sprintf("/proc/self/fd/%d/%s/%s", fd, storedir.NameBadger, st.file))
	}
	cmd := straced(t, does, dir, append(options, "-e", "trace="+st.call,
		"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=1", st.call))...)
	out, err := cmd.Output()
	if !wasKilled(cmd) {
		t.Fatalf("the process was not killed: %v\n%s", err, tailOf(out))
	}
	if st.half != "" {
		b := mustRead(t, inBadger(dir, st.half))
		clear(b[len(b)/2:])
		put(t, dir, storedir.NameBadger+"/"+st.half, string(b))
	}
	return string(out)
}

// wasKilled: strace ends as the process ended that it ran.
func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func tailOf(b []byte) []byte { return b[max(0, len(b)-300):] }

// reopened opens a store after a kill and expects all that was acknowledged.
func reopened(t *testing.T, dir, said string) {
	t.Helper()
	last := acknowledged(strings.NewReader(said), func(int) bool { return false })
	for range 2 { // what was put aside is deleted by the second
		s := openStore(t, dir)
		require.NoError(t, checkHistory(s, last))
		require.NoError(t, s.Close())
	}
	if left := asides(dir); len(left) > 0 {
		t.Errorf("left after two starts: %v", left)
	}
}

// TestKilledInAFlush kills the process at each step by which a memtable becomes a
// table.
func TestKilledInAFlush(t *testing.T) {
	for _, st := range flushSteps {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			said := st.kill(t, "flush", dir)
			reopened(t, dir, said)
		})
	}
}

// fourTables makes a store that merges its tables at the next start. Badger may
// merge them already while the last session closes: then the store is made anew.
func fourTables(t *testing.T) string {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "store")
		w := &conformance.Writer{}
		for range 4 {
			s := openStore(t, dir)
			for range 5 {
				require.NoError(t, s.Append(childGroup(w)))
			}
			require.NoError(t, s.Close())
		}
		if tables, _ := filepath.Glob(filepath.Join(dir, storedir.NameBadger, "*.sst")); len(tables) == 4 {
			return dir
		}
	}
	t.Fatal("no store kept four tables that are not merged")
	return ""
}

// TestKilledInACompaction kills the process at each step by which tables are
// merged into new ones.
func TestKilledInACompaction(t *testing.T) {
	base := fourTables(t)
	for _, st := range compactionSteps {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			copyStore(t, base, dir)
			said := st.kill(t, "compact", dir)
			reopened(t, dir, said)
		})
	}
}

// TestKilledAtEveryStepOfAStart kills a start at each system call that changes a
// file: the first start of a store, and one after a crash that left debris. The
// next start must come up with everything.
func TestKilledAtEveryStepOfAStart(t *testing.T) {
	crashed, _, end := damagedStores(t)
	put(t, crashed, storedir.NameBadger+"/000002.sst", "half")
	put(t, crashed, storedir.NameBadger+"/00009.mem", "")
	put(t, crashed, storedir.NameBadger+"/"+badgerfile.NameAside+"/000002.sst", "of an earlier start")
	for name, base := range map[string]string{"first": "", "after a crash": crashed} {
		for _, call := range []string{"mkdirat", "ftruncate", "fallocate", "write", "pwrite64", "fsync", "renameat", "unlinkat"} {
			t.Run(name+" "+call, func(t *testing.T) {
				t.Parallel()
				nth := 1
				for killedInStart(t, base, call, nth, end) {
					nth++
				}
				t.Logf("%d steps", nth-1)
			})
		}
	}
}

// killedInStart kills a start of a copy of base, or of a new store, when it enters
// a call for the n-th time, and checks the store then. false: it came through.
func killedInStart(t *testing.T, base, call string, nth int, end core.Head) bool {
	dir := filepath.Join(t.TempDir(), "store")
	defer os.RemoveAll(dir)
	if base == "" {
		end = core.Head{}
	} else {
		copyStore(t, base, dir)
	}
	cmd := straced(t, "start", dir, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, nth))
	out, err := cmd.Output()
	killed := wasKilled(cmd)
	if !killed && err != nil {
		t.Fatalf("%s %d: %v\n%s", call, nth, err, tailOf(out))
	}
	s := openStore(t, dir)
	if s.Head() != end {
		t.Fatalf("%s %d: the history ends at %+v, it was %+v", call, nth, s.Head(), end)
	}
	if err := checkHistory(s, end.Seq); err != nil {
		t.Fatalf("%s %d: %v", call, nth, err)
	}
	require.NoError(t, s.Close())
	return killed
}

// readAndDie keeps reading an early memtable, so that Badger keeps its file, lets
// a later one become a table, and dies while the newest holds rows only.
func readAndDie(dir string) int {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("refused", err)
		return exitRefused
	}
	w := &conformance.Writer{}
	reading := make(chan struct{})
	do := func(err error) {
		if err != nil {
			fmt.Println("failed", err)
			os.Exit(exitFailed)
		}
	}
	do(s.Append(childGroup(w)))
	go func() {
		_ = s.view(func(txn *badger.Txn) error {
			it := iterate(txn, []byte(codec.PrefixFrame), false)
			defer it.Close()
			it.Rewind()
			close(reading)
			select {} // until the process is killed
		})
	}()
	<-reading
	n := 0
	for _, name := range []string{"00002.mem", "00003.mem"} {
		for ; !thereIs(dir, name); n++ {
			do(s.PutRows(bigRows(n)))
		}
		if name == "00002.mem" {
			do(s.Append(childGroup(w)))
			fmt.Println("ack", w.Head.Seq)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); thereIs(dir, "00002.mem"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return 1
		}
	}
	if !thereIs(dir, "00001.mem") {
		return 1
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return 1
}

// TestKilledWhileAnOldMemtableIsRead: the file of a memtable that somebody reads
// outlives those of later ones. It ends before the last frame then, and nothing
// is lost.
func TestKilledWhileAnOldMemtableIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	cmd := child(t, "read", dir)
	out, err := cmd.Output()
	if !wasKilled(cmd) {
		t.Fatalf("the process was not killed: %v\n%s", err, tailOf(out))
	}
	reopened(t, dir, string(out))
}

// TestKilledAtEveryStepOfADelete kills the deletion of a store at each system call that
// changes a file. The store is whole then, or gone, and the next deletion leaves nothing.
func TestKilledAtEveryStepOfADelete(t *testing.T) {
	base := newStore(t, 3)
	put(t, base, "hub.log", "line")
	put(t, base, storedir.NameBallast, "ballast")
	end := readHead(t, base)
	for _, call := range []string{"renameat", "fsync", "unlinkat"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			nth := 1
			for killedInDelete(t, base, call, nth, end) {
				nth++
			}
			if nth < 2 {
				t.Error("the deletion does not make this call")
			}
			t.Logf("%d steps", nth-1)
		})
	}
}

// killedInDelete is killedInStart for a deletion.
func killedInDelete(t *testing.T, base, call string, nth int, end core.Head) bool {
	parent := t.TempDir()
	dir := filepath.Join(parent, "store")
	copyStore(t, base, dir)
	cmd := straced(t, "delete", dir, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, nth))
	out, err := cmd.Output()
	killed := wasKilled(cmd)
	if !killed && err != nil {
		t.Fatalf("%s %d: %v\n%s", call, nth, err, tailOf(out))
	}
	if _, err := os.Lstat(dir); err == nil {
		s := openStore(t, dir)
		if s.Head() != end {
			t.Errorf("%s %d: the store is there and ends at %+v, want %+v", call, nth, s.Head(), end)
		}
		require.NoError(t, s.Close())
	}
	if err := Delete(dir); err != nil && (killed || !errors.Is(err, storedir.ErrNoStore)) {
		t.Errorf("%s %d: the next deletion: %v", call, nth, err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("%s %d: left: %v", call, nth, left)
	}
	return killed
}

func readHead(t *testing.T, dir string) core.Head {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "store")
	copyStore(t, dir, copied)
	s := openStore(t, copied)
	defer s.Close()
	return s.Head()
}
