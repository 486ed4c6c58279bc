package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"hubcli/hub"
	"hubcli/internal/require"
)

// inBadger is the path of a file in Badger's folder.
func inBadger(dir, name string) string { return filepath.Join(dir, storedir.NameBadger, name) }

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// openLogged opens a store and returns what it wrote to its log.
func openLogged(t testing.TB, dir string) (*Store, string) {
	t.Helper()
	var lines bytes.Buffer
	s, err := Open(dir, Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatalf("Open: %v\n%s", err, &lines)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, lines.String()
}

// asides lists the files that were put aside.
func asides(dir string) []string {
	names, _ := storedir.DiskFS{}.ReadDir(inBadger(dir, badgerfile.NameAside))
	return names
}

// TestDebrisIsPutAside puts into a store what a crash can leave between two steps
// of Badger. The store must open, hold everything, tell so, keep what it found
// for one start, and be able to make a table of the same number.
func TestDebrisIsPutAside(t *testing.T) {
	const posts = 40
	closed := newStore(t, posts)
	table := mustRead(t, inBadger(closed, "000001.sst"))
	flipped := bytes.Clone(table)
	flipped[len(flipped)/3] ^= 1
	cases := map[string]struct {
		file    string
		content []byte
		size    int64 // with zeros behind content
		lost    bool  // it is not worth keeping
	}{
		"a table without a size":         {file: "000002.sst", lost: true},
		"a blank table":                  {file: "000002.sst", size: int64(len(table))},
		"half a table":                   {file: "000002.sst", content: table[:len(table)/2]},
		"half a table at its full size":  {file: "000002.sst", content: table[:len(table)/2], size: int64(len(table))},
		"a table with a flipped bit":     {file: "000002.sst", content: flipped},
		"a whole table":                  {file: "000002.sst", content: table},
		"a table of a high number":       {file: "4294967295.sst", content: table[:100]},
		"a memtable without a size":      {file: "00001.mem", lost: true},
		"a value log without a size":     {file: "000002.vlog", lost: true},
		"half a list of tables":          {file: "MANIFEST-REWRITE", content: []byte("Bdgr")},
		"half a key registry":            {file: "REWRITE-KEYREGISTRY", content: []byte("x")},
		"statistics without a size":      {file: "DISCARD", lost: true},
		"statistics that are cut off":    {file: "DISCARD", content: make([]byte, 12)},
		"half a list that has no header": {file: "MANIFEST-REWRITE", lost: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			copyFolder(t, closed, dir)
			content := append(bytes.Clone(c.content), make([]byte, max(0, int(c.size)-len(c.content)))...)
			put(t, dir, storedir.NameBadger+"/"+c.file, string(content))
			for start := range 2 {
				s, lines := openLogged(t, dir)
				if end := hub.MessageID(posts + 5*start); s.Head().Message != end {
					t.Fatalf("start %d: the history ends at %d, want %d", start, s.Head().Message, end)
				}
				if err := checkReads(s, s.Head().Message); err != nil {
					t.Fatalf("start %d: %v", start, err)
				}
				told := strings.Contains(lines, "put aside") && strings.Contains(lines, c.file)
				kept := slices.Contains(asides(dir), c.file)
				if want := start == 0 && !c.lost; told != want || kept != want {
					t.Errorf("start %d: told %v, kept %v, want %v: %v\n%s", start, told, kept, want, asides(dir), lines)
				} else if want && !bytes.Equal(mustRead(t, inBadger(dir, badgerfile.NameAside+"/"+c.file)), content) {
					t.Error("what was kept is not what was found")
				}
				post(t, s, 5)
				if err := s.Close(); err != nil { // makes table 2
					t.Fatal(err)
				}
			}
		})
	}
}

// TestBlankFilesAreOpened: Badger had given a file its size and was killed before
// it wrote anything.
func TestBlankFilesAreOpened(t *testing.T) {
	for name, size := range map[string]int64{"00009.mem": 2 * codec.MemTableSize, "000009.vlog": 2 * codec.ValueLogFileSize, "DISCARD": badgerfile.DiscardSize} {
		t.Run(name, func(t *testing.T) {
			dir := newStore(t, 10)
			put(t, dir, storedir.NameBadger+"/"+name, "")
			require.NoError(t, os.Truncate(inBadger(dir, name), size))
			s := openStore(t, dir)
			post(t, s, 5)
			if err := checkReads(s, 15); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDebrisOfTwoStartsIsKeptApart: a start that was killed after it had put
// something aside leaves it there, and the next finds a table of that number.
func TestDebrisOfTwoStartsIsKeptApart(t *testing.T) {
	dir := newStore(t, 10)
	put(t, dir, storedir.NameBadger+"/"+badgerfile.NameAside+"/000002.sst", "of the earlier start")
	put(t, dir, storedir.NameBadger+"/000002.sst", "of this start")
	d, err := badgerfile.VerifyDatabase(filepath.Join(dir, storedir.NameBadger), false)
	require.NoError(t, err)
	earlier, err := d.Settle(discardLog)
	if err != nil || !slices.Equal(earlier, []string{"000002.sst"}) {
		t.Fatalf("settle: %v, %v", earlier, err)
	}
	for name, want := range map[string]string{"000002.sst": "of the earlier start", "000002.sst.1": "of this start"} {
		if got := mustRead(t, inBadger(dir, badgerfile.NameAside+"/"+name)); string(got) != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	s := openStore(t, dir)
	if left := asides(dir); len(left) > 0 {
		t.Errorf("after a start that succeeded: %v", left)
	}
	_ = s.Close()
}

// TestNothingCanBePutAside: neither a folder that cannot be made nor one that
// cannot be read keeps a store closed.
func TestNothingCanBePutAside(t *testing.T) {
	dir := newStore(t, 10)
	put(t, dir, storedir.NameBadger+"/"+badgerfile.NameAside, "a file in the folder's place")
	put(t, dir, storedir.NameBadger+"/000002.sst", "half")
	s, lines := openLogged(t, dir)
	if !strings.Contains(lines, "cannot be put aside") {
		t.Errorf("log: %s", lines)
	}
	if err := checkReads(s, 10); err != nil {
		t.Error(err)
	}
}

// TestAsideIsBounded: starts that are all killed do not fill the disk.
func TestAsideIsBounded(t *testing.T) {
	dir := newStore(t, 10)
	put(t, dir, storedir.NameBadger+"/"+badgerfile.NameAside+"/000002.sst", "")
	require.NoError(t, os.Truncate(inBadger(dir, badgerfile.NameAside+"/000002.sst"), badgerfile.MaxAside))
	put(t, dir, storedir.NameBadger+"/000002.sst", "half")
	s, lines := openLogged(t, dir)
	if !strings.Contains(lines, badgerfile.ErrAsideFull.Error()) || len(asides(dir)) > 0 {
		t.Errorf("%v in the folder, log: %s", asides(dir), lines)
	}
	if err := checkReads(s, 10); err != nil {
		t.Error(err)
	}
}

// TestAsideIsKeptWhereRecordsAreGivenUp: what a start that was refused has put
// aside may hold the records that the next gives up.
func TestAsideIsKeptWhereRecordsAreGivenUp(t *testing.T) {
	dir := newStore(t, 10)
	list := mustRead(t, inBadger(dir, badgerfile.NameManifest))
	put(t, dir, storedir.NameBadger+"/"+badgerfile.NameManifest, string(list[:16])) // the list of an empty database
	table := mustRead(t, inBadger(dir, "000001.sst"))
	put(t, dir, storedir.NameBadger+"/000001.sst", string(table[:len(table)/2])) // as if it had never been whole
	if _, err := Open(dir, Options{}); !isStart(err, storedir.StartTruncated) {
		t.Fatalf("Open: %v, want truncated", err)
	}
	s, err := Open(dir, Options{AcceptTruncated: true})
	require.NoError(t, err)
	_ = s.Close()
	if got := asides(dir); !slices.Equal(got, []string{"000001.sst"}) {
		t.Errorf("put aside: %v", got)
	}
}

// listEntry is an entry of the list of tables that adds as many as changes.
func listEntry(changes int) []byte {
	var body []byte
	for i := range changes {
		change := binary.AppendUvarint([]byte{8}, uint64(50+i))
		body = append(append(body, 10, byte(len(change))), change...)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	return append(binary.BigEndian.AppendUint32(head, crc32.Checksum(body, codec.Castagnoli)), body...)
}

// TestTornListIsCut: the last entry of the list of tables was being written. It
// may be longer than all of the list before it.
func TestTornListIsCut(t *testing.T) {
	closed := newStore(t, 10)
	entry := listEntry(60)
	list := mustRead(t, inBadger(closed, badgerfile.NameManifest))
	for _, n := range []int{1, 4, 7, 8, 9, 40, len(entry) / 2, len(entry) - 1} {
		dir := filepath.Join(t.TempDir(), "s")
		copyFolder(t, closed, dir)
		put(t, dir, storedir.NameBadger+"/"+badgerfile.NameManifest, string(list)+string(entry[:n]))
		put(t, dir, storedir.NameBadger+"/000050.sst", "half")
		s, lines := openLogged(t, dir)
		if err := checkReads(s, 10); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		if !strings.Contains(lines, "table list is torn") {
			t.Errorf("%d bytes: not told: %s", n, lines)
		}
		_ = s.Close()
	}
	// Whole, it is in force: its tables are missing.
	put(t, closed, storedir.NameBadger+"/"+badgerfile.NameManifest, string(list)+string(entry))
	if _, err := Open(closed, Options{}); !isStart(err, storedir.StartCorrupt) || !strings.Contains(err.Error(), "000050.sst is missing") {
		t.Errorf("with a whole entry: %v", err)
	}
}

// TestListIsReadAsBadgerReadsIt compares the names with Badger's own.
func TestListIsReadAsBadgerReadsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for range 12 {
		s := openStore(t, dir)
		post(t, s, 3)
		require.NoError(t, s.Close())
	}
	name := inBadger(dir, badgerfile.NameManifest)
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	theirs, end, err := badger.ReplayManifestFile(f, 0, badger.Options{})
	require.NoError(t, err)
	ours, err := badgerfile.ReadTableList(name)
	if err != nil || ours.End != end || len(theirs.Tables) == 0 || len(ours.Named) != len(theirs.Tables) {
		t.Fatalf("%+v, %v; Badger reads %d tables up to byte %d", ours, err, len(theirs.Tables), end)
	}
	for id := range theirs.Tables {
		if !ours.Named[table.IDToFilename(id)] {
			t.Errorf("table %d is missing in %v", id, slices.Sorted(maps.Keys(ours.Named)))
		}
	}
}

// TestNamedFilesStayChecked: what the list names is damage when it is missing or
// fails its checks. Such a start changes nothing: debris stays where it is, what
// was put aside is kept, and the words are ours.
func TestNamedFilesStayChecked(t *testing.T) {
	cases := map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"a table is gone": {func(t *testing.T, dir string) {
			_ = os.Remove(inBadger(dir, "000001.sst"))
		}, "its table 000001.sst is missing"},
		"a table is empty": {func(t *testing.T, dir string) {
			put(t, dir, storedir.NameBadger+"/000001.sst", "")
		}, "its table 000001.sst fails its checksums"},
		"a table is cut": {func(t *testing.T, dir string) {
			put(t, dir, storedir.NameBadger+"/000001.sst", string(mustRead(t, inBadger(dir, "000001.sst"))[:500]))
		}, "its table 000001.sst fails its checksums"},
		"the list is gone": {func(t *testing.T, dir string) {
			_ = os.Remove(inBadger(dir, badgerfile.NameManifest))
		}, "its table list, badger/MANIFEST, is missing"},
		"the list is empty": {func(t *testing.T, dir string) {
			put(t, dir, storedir.NameBadger+"/"+badgerfile.NameManifest, "")
		}, "its table list fails its checks"},
		"the list is damaged": {func(t *testing.T, dir string) {
			b := mustRead(t, inBadger(dir, badgerfile.NameManifest))
			b[len(b)-2] ^= 4
			put(t, dir, storedir.NameBadger+"/"+badgerfile.NameManifest, string(b))
		}, "its table list fails its checks"},
		"the statistics are a folder": {func(t *testing.T, dir string) {
			_ = os.Remove(inBadger(dir, badgerfile.NameDiscard))
			put(t, dir, storedir.NameBadger+"/"+badgerfile.NameDiscard+"/x", "")
		}, `its folder badger holds "DISCARD", which is no file of a store`},
		"a foreign file": {func(t *testing.T, dir string) {
			put(t, dir, storedir.NameBadger+"/notes.mem", "mine")
		}, `its folder badger holds "notes.mem"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := newStore(t, 10)
			put(t, dir, storedir.NameBadger+"/000007.sst", "half")
			put(t, dir, storedir.NameBadger+"/"+badgerfile.NameAside+"/000005.sst", "of an earlier start")
			c.spoil(t, dir)
			err := refused(t, dir, Options{})
			var start *storedir.StartError
			if !errors.As(err, &start) || start.Kind != storedir.StartCorrupt || !strings.Contains(start.Sentence, c.want) || !strings.Contains(start.Fix, "nothing has been changed") {
				t.Fatalf("Open: %v, want %q", err, c.want)
			}
		})
	}
}

// TestWordsOfBadgerStayInTheLog: what Badger says of a start that failed names
// what its parts were doing. It is told as a file and a way out.
func TestWordsOfBadgerStayInTheLog(t *testing.T) {
	for text, want := range map[string]string{
		"while opening memtables err: while opening fid: 3 err: While opening memtable: /x/badger/00003.mem err: bad": "badger/00003.mem",
		"Level validation err: Level 6, j=1 numTables=2":                                                              "contradict each other",
		"something else altogether": "its database cannot be opened",
	} {
		e := storedir.DatabaseError("/x/badger", errors.New(text))
		if e.Kind != storedir.StartCorrupt || !strings.Contains(e.Sentence, want) || strings.Contains(e.Sentence, " err") || strings.Contains(e.Sentence, "fid") || e.Fix == "" {
			t.Errorf("%q is told as %q, %q (%s)", text, e.Sentence, e.Fix, e.Kind)
		}
	}
	for text, want := range map[string]storedir.StartKind{
		`Cannot write pid file "/x/badger/LOCK" err: open /x/badger/LOCK: no space left on device`: storedir.StartFull,
		"while opening fid: 1 err: open /x/badger/00001.mem: permission denied":                    storedir.StartReadOnly,
		"Opening file: \"/x/badger/000003.sst\" err: open: too many open files":                    storedir.StartExhausted,
	} {
		if e := storedir.DatabaseError("/x/badger", errors.New(text)); e.Kind != want || strings.Contains(e.Sentence, " err") || e.Fix == "" {
			t.Errorf("%q is told as %q, %q (%s), want %s", text, e.Sentence, e.Fix, e.Kind, want)
		}
	}
}

// TestNoLeaveToReadIsNoDamage: what the system refuses says nothing about a file.
func TestNoLeaveToReadIsNoDamage(t *testing.T) {
	for errno, kind := range map[syscall.Errno]storedir.StartKind{syscall.EACCES: storedir.StartReadOnly, syscall.EMFILE: storedir.StartExhausted, syscall.ENOMEM: storedir.StartExhausted, syscall.EIO: storedir.StartCorrupt} {
		err := fmt.Errorf("while mapping: %w", codec.Redacted{Err: &fs.PathError{Op: "open", Path: "/x/badger/000001.sst", Err: errno}})
		if e := storedir.Failed("its table 000001.sst fails its checksums", "/x/badger/000001.sst", err); e.Kind != kind || !strings.Contains(e.Sentence, "000001.sst") {
			t.Errorf("%v is told as %q (%s), want %s", errno, e.Sentence, e.Kind, kind)
		}
	}
	dir := newStore(t, 3)
	require.NoError(t, os.Chmod(inBadger(dir, "000001.sst"), 0))
	if f, err := os.Open(inBadger(dir, "000001.sst")); err == nil {
		_ = f.Close()
		t.Skip("needs another user than root, who may read everything")
	}
	if _, err := Open(dir, Options{}); !isStart(err, storedir.StartReadOnly) {
		t.Errorf("Open: %v", err)
	}
}

// TestDirectoryInAFilesPlace: a folder is found before Badger refuses it in words of its own.
func TestDirectoryInAFilesPlace(t *testing.T) {
	dir := newStore(t, 3)
	require.NoError(t, os.Remove(inBadger(dir, "KEYREGISTRY")))
	put(t, dir, storedir.NameBadger+"/LOCK/x", "a folder in the place of a file")
	var lines bytes.Buffer
	_, err := Open(dir, Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	var start *storedir.StartError
	if !errors.As(err, &start) || !strings.Contains(start.Sentence, `its folder badger holds "LOCK"`) || strings.Contains(start.Sentence, "Cannot write") || start.Fix == "" {
		t.Errorf("Open: %v", err)
	}
	if strings.Contains(lines.String(), "badger:") {
		t.Errorf("lines of Badger in the log: %s", &lines)
	}
}

func isStart(err error, kind storedir.StartKind) bool {
	var start *storedir.StartError
	return errors.As(err, &start) && start.Kind == kind
}

func copyFolder(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	require.NoError(t, err)
}
