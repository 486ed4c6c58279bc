package osfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// failing is a disk that fails at one operation and notes all of them.
type failing struct {
	FS
	at     int // the operation that fails; negative: none
	steps  []string
	opened []string
}

var errPlanned = errors.New("planned")

func (f *failing) step(what string) error {
	f.steps = append(f.steps, what)
	if len(f.steps)-1 == f.at {
		return errPlanned
	}
	return nil
}

func (f *failing) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.step("open"); err != nil {
		return nil, err
	}
	f.opened = append(f.opened, name)
	file, err := f.FS.OpenFile(name, flag, perm)
	return &failingFile{file, f}, err
}

func (f *failing) Rename(from, to string) error {
	return errors.Join(f.step("rename"), f.unless(func() error { return f.FS.Rename(from, to) }))
}

func (f *failing) SyncDir(name string) error {
	return errors.Join(f.step("sync folder"), f.FS.SyncDir(name))
}

func (f *failing) unless(do func() error) error {
	if len(f.steps)-1 == f.at {
		return nil
	}
	return do()
}

type failingFile struct {
	File
	fs *failing
}

func (f *failingFile) Write(b []byte) (int, error) {
	if err := f.fs.step("write"); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *failingFile) Sync() error { return errors.Join(f.fs.step("sync"), f.File.Sync()) }

func (f *failingFile) Close() error { return errors.Join(f.fs.step("close"), f.File.Close()) }

// TestReplaceFailsAtEveryStep: the name holds the old or the new content, nothing
// else is left in the folder, and success means that every step was done in order.
func TestReplaceFailsAtEveryStep(t *testing.T) {
	const whole = "open write sync check close rename sync folder"
	for at := -1; at < 6; at++ {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		defer root.Close()
		for _, on := range []struct {
			fs   FS
			name string
		}{{Disk{}, filepath.Join(dir, "disk")}, {In{root}, "root"}} {
			path := filepath.Join(dir, filepath.Base(on.name))
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			f := &failing{FS: on.fs, at: at}
			err := Replace(f, on.name, Content{Write: Bytes([]byte("new")), Check: func(r io.Reader) error {
				b, err := io.ReadAll(r)
				if err != nil || string(b) != "new" {
					t.Errorf("check reads %q, %v", b, err)
				}
				f.steps[len(f.steps)-1] += " check"
				return nil
			}})
			b, _ := os.ReadFile(path)
			renamed := at < 0 || at == 5
			switch {
			case at >= 0 && !errors.Is(err, errPlanned), at < 0 && err != nil:
				t.Errorf("step %d: %v", at, err)
			case renamed && string(b) != "new", !renamed && string(b) != "old":
				t.Errorf("step %d: the name holds %q", at, b)
			case at < 0 && strings.Join(f.steps, " ") != whole:
				t.Errorf("steps %q", f.steps)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, DefaultPrefix+"*")); len(left) != 0 {
				t.Errorf("step %d: %q is left", at, left)
			}
		}
	}
}

func TestReplaceRefusesWhatItsCheckRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	err := Replace(Disk{}, path, Content{Write: Bytes([]byte("bad")), Check: func(io.Reader) error { return errPlanned }, Temp: "f.tmp"})
	b, _ := os.ReadFile(path)
	if _, left := os.Lstat(path + ".tmp"); !errors.Is(err, errPlanned) || string(b) != "old" || !errors.Is(left, fs.ErrNotExist) {
		t.Errorf("%v, %q, temporary file: %v", err, b, left)
	}
}

// TestReplaceOverwritesWhatACrashLeft: the temporary file of a crashed process
// is overwritten.
func TestReplaceOverwritesWhatACrashLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path+".tmp", bytes.Repeat([]byte("x"), 100), 0o600))
	require.NoError(t, Replace(Disk{}, path, Content{Write: Bytes([]byte("new")), Temp: "f.tmp"}))
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("%q", b)
	}
}

// TestTemporaryFilesAreBesideTheirFiles: a file is replaced whatever the current folder of the
// process is. It may be on another disk, or not be one to write to.
func TestTemporaryFilesAreBesideTheirFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, content := range []Content{{}, {Temp: "f.tmp"}, {Prefix: "p-"}} {
		f := &failing{FS: Disk{}, at: -1}
		content.Write = Bytes([]byte("new"))
		require.NoError(t, Replace(f, path, content))
		if len(f.opened) != 1 || filepath.Dir(f.opened[0]) != filepath.Dir(path) {
			t.Errorf("opened %q", f.opened)
		}
	}
	if err := Replace(Disk{}, path, Content{Write: Bytes(nil), Temp: path + ".tmp"}); err == nil {
		t.Error("a path is taken for a name")
	}
}

func TestReplaceSetsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs another system than Windows, which has no such modes")
	}
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		content Content
		want    fs.FileMode
	}{{Content{}, 0o600}, {Content{Mode: 0o666, Exactly: true}, 0o666}, {Content{Mode: 0o400}, 0o400}} {
		c.content.Write = Bytes(nil)
		require.NoError(t, Replace(Disk{}, path, c.content))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("mode %v, want %v, %v", info.Mode(), c.want, err)
		}
	}
}

func TestCreateLeavesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, Create(path, Content{Write: Bytes([]byte("first"))}))
	if err := Create(path, Content{Write: Bytes([]byte("second"))}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if err := renameToFree(path, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without links: %v", err)
	}
	b, _ := os.ReadFile(path)
	if left, _ := os.ReadDir(dir); string(b) != "first" || len(left) != 1 {
		t.Errorf("%q, %v", b, left)
	}
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	lockers := []func(*os.File) (bool, error){TryLock, func(f *os.File) (bool, error) { return TryLockBeyond(f, 100) }}
	for _, try := range lockers {
		var open []*os.File
		for range 2 {
			f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			require.NoError(t, err)
			defer f.Close()
			open = append(open, f)
		}
		if got, err := try(open[0]); !got || err != nil {
			t.Fatal(got, err)
		}
		if got, err := try(open[1]); got || err != nil {
			t.Errorf("locked twice: %v, %v", got, err)
		}
		open[0].Close()
		if got, err := try(open[1]); !got || err != nil {
			t.Errorf("still locked: %v, %v", got, err)
		}
		open[1].Close()
	}
}

func TestReadSmall(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, errors.Join(os.WriteFile(path("five"), []byte("12345"), 0o600), os.Mkdir(path("folder"), 0o700)))
	linked := os.Symlink("five", path("link")) == nil
	inRoot := func(name string, limit int64) ([]byte, error) { return ReadSmallIn(root, filepath.Base(name), limit) }
	for _, c := range []struct {
		read  func(string, int64) ([]byte, error)
		name  string
		limit int64
		want  error
	}{
		{ReadSmall, "five", 5, nil},
		{ReadSmall, "five", 4, ErrTooLong},
		{ReadSmall, "none", 5, fs.ErrNotExist},
		{ReadSmall, "folder", 5, ErrNotRegular},
		{ReadSmall, "link", 5, ErrNotRegular},
		{inRoot, "five", 5, nil},
		{inRoot, "five", 4, ErrTooLong},
		{inRoot, "link", 5, ErrNotRegular},
		{ReadSmallLinked, "link", 5, nil},
		{ReadSmallLinked, "folder", 5, ErrNotRegular},
	} {
		if c.name == "link" && !linked {
			continue // Windows makes links for administrators only
		}
		b, err := c.read(path(c.name), c.limit)
		if !errors.Is(err, c.want) || c.want == nil && string(b) != "12345" || c.want != nil && b != nil {
			t.Errorf("%s, limit %d: %q, %v, want %v", c.name, c.limit, b, err, c.want)
		}
	}
}

// TestReadSmallNoticesAnExchange: the file is exchanged between Lstat and the
// open.
func TestReadSmallNoticesAnExchange(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, errors.Join(os.WriteFile(a, nil, 0o600), os.WriteFile(b, nil, 0o600)))
	if _, err := readSmall(a, 1, os.Lstat, func() (*os.File, error) { return os.Open(b) }); !errors.Is(err, ErrExchanged) {
		t.Errorf("%v", err)
	}
}
