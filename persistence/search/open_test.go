package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

var far = core.IndexPosition{Message: hub.MaxMessageID, Seq: 1 << 40}

// filled makes an index of some documents in dir, saved and closed.
func filled(t *testing.T, dir string) {
	t.Helper()
	x := New(dir, "store", nil)
	if _, err := x.Open(far); err != nil {
		t.Fatal(err)
	}
	var docs []core.IndexDocument
	for i := range 50 {
		docs = append(docs, public(i+1, "word number w"+strconv.Itoa(i+1)))
	}
	put(t, x, docs...)
	for x.unsaved.Load() > 0 {
		time.Sleep(time.Millisecond) // the engine's own goroutine saves
	}
	require.NoError(t, x.Close())
}

func TestOpen(t *testing.T) {
	zap := func(t *testing.T, dir string) string {
		files, err := filepath.Glob(filepath.Join(dir, engineFolder, "*.zap"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of words: %v", err)
		}
		return files[0]
	}
	damage := func(t *testing.T, path string, at int64) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		defer f.Close()
		b := []byte{0}
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 0x10
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		end    core.IndexPosition
		kept   bool // the index goes on; else it begins anew
	}{
		{"as it was", func(*testing.T, string) {}, far, true},
		{"of a store that is shorter", func(*testing.T, string) {}, core.IndexPosition{Message: 49, Seq: 1}, false},
		{"deleted", func(t *testing.T, dir string) { _ = os.RemoveAll(dir) }, far, false},
		{"without its words", func(t *testing.T, dir string) { _ = os.RemoveAll(filepath.Join(dir, engineFolder)) }, far, false},
		{"of another version", func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, markerFile), []byte("hubcli search index\nversion 0\ninstance store\n"), 0o600)
		}, far, false},
		{"of another store", func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, markerFile), []byte(New(dir, "another", nil).marker()), 0o600)
		}, far, false},
		{"a marker that a loss of power has emptied", func(t *testing.T, dir string) { _ = os.Truncate(filepath.Join(dir, markerFile), 0) }, far, false},
		{"a marker that is blank", func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, markerFile), make([]byte, 40), 0o600)
		}, far, false},
		{"a marker that is cut", func(t *testing.T, dir string) { _ = os.Truncate(filepath.Join(dir, markerFile), 9) }, far, false},
		{"without its marker", func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, markerFile)) }, far, false},
		{"with the next marker beside it", func(t *testing.T, dir string) {
			_ = os.Rename(filepath.Join(dir, markerFile), filepath.Join(dir, markerTemp))
		}, far, false},
		{"a flipped bit", func(t *testing.T, dir string) { damage(t, zap(t, dir), 100) }, far, false},
		{"a cut file", func(t *testing.T, dir string) { _ = os.Truncate(zap(t, dir), 200) }, far, false},
		{"an empty file", func(t *testing.T, dir string) { _ = os.Truncate(zap(t, dir), 0) }, far, false},
		{"a missing file", func(t *testing.T, dir string) { _ = os.Remove(zap(t, dir)) }, far, false},
		{"a list that is no list", func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, engineFolder, "root.bolt"), []byte(strings.Repeat("x", 8192)), 0o600)
		}, far, false},
		{"a list that is cut", func(t *testing.T, dir string) { _ = os.Truncate(filepath.Join(dir, engineFolder, listFile), 8192) }, far, false},
		{"a list that is empty", func(t *testing.T, dir string) { _ = os.Truncate(filepath.Join(dir, engineFolder, listFile), 0) }, far, false},
		{"a file that was being written", func(t *testing.T, dir string) {
			whole, err := os.ReadFile(zap(t, dir))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, engineFolder, "00000000ffff.zap"), whole[:len(whole)/2], 0o600))
		}, far, true},
		{"a whole file that is not named", func(t *testing.T, dir string) {
			whole, err := os.ReadFile(zap(t, dir))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, engineFolder, "00000000ffff.zap"), whole, 0o600))
		}, far, true},
		{"an empty file that is not named", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, engineFolder, "fffffffffffffff0.zap"), nil, 0o600))
		}, far, true},
		{"a name that the engine does not give", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, engineFolder, "copy of it.zap"), nil, 0o600))
		}, far, true},
		{"a folder in place of a file that is not named", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, engineFolder, "0000000000ff.zap", "x"), 0o700))
		}, far, true},
		{"a program that ends again and again", func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, runsFile), []byte(strconv.Itoa(maxShort+maxLate)), 0o600)
		}, far, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "search")
			filled(t, dir)
			c.change(t, dir)
			x := New(dir, "store", nil)
			at, err := x.Open(c.end)
			require.NoError(t, err)
			defer x.Close()
			if c.kept != (at.Message == 50) || !c.kept && at != (core.IndexPosition{}) {
				t.Errorf("it begins at %+v", at)
			}
			if n := len(find(t, x, core.IndexQuery{Text: "word"})); c.kept != (n == 50) || !c.kept && n > 0 {
				t.Errorf("%d documents", n)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, engineFolder, "*ff*.zap")); len(left) > 0 {
				t.Errorf("debris is left: %v", left)
			}
			put(t, x, public(51, "one more word"))
			if got := find(t, x, core.IndexQuery{Text: "more"}); len(got) != 1 {
				t.Errorf("what was put is found as %v", got)
			}
		})
	}
}

// TestForeign: what is not an index is not touched.
func TestForeign(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a file": func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"a folder of mine": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(path+"/notes", []byte("mine"), 0o600))
		},
		"an empty marker in a folder of mine": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(path+"/"+markerFile, nil, 0o600), os.WriteFile(path+"/notes", []byte("mine"), 0o600))
		},
		"a link": func(path string) error { return os.Symlink(os.TempDir(), path) },
		"another's marker": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(path+"/"+markerFile, []byte("1.0"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "search")
			require.NoError(t, make(path))
			x := New(path, "store", nil)
			if _, err := x.Open(far); !errors.Is(err, ErrForeign) {
				t.Fatalf("the error is %v", err)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path + "/" + engineFolder); err == nil {
				t.Error("an index was begun there")
			}
		})
	}
}

const childFolder = "HUBCLI_SEARCH_TEST_FOLDER"

// TestKilled: however a process ends, everything up to the position is found,
// once, and nothing behind it.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(childFolder); dir != "" {
		putForEver(t, dir)
	}
	dir := filepath.Join(t.TempDir(), "search")
	upto := 0
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	for round := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), childFolder+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 40+35*round && lines.Scan(); n++ {
			upto, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Process.Kill()
		for lines.Scan() { // what it had put before the signal came
			upto, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Wait()
		x := New(dir, "store", log)
		at, err := x.Open(far)
		require.NoError(t, err)
		got := find(t, x, core.IndexQuery{Text: "word", Limit: 100_000})
		seen := map[uint64]bool{}
		for _, n := range got {
			if seen[n] || n > uint64(at.Message) {
				t.Errorf("document %d is found twice or behind the position %d", n, at.Message)
			}
			seen[n] = true
		}
		if len(seen) != int(at.Message) || int(at.Message) > upto+childBatch {
			t.Errorf("round %d: %d documents are found, the position is %d, %d were put", round, len(seen), at.Message, upto)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	if upto == 0 {
		t.Fatal("the child has put nothing")
	}
	const rebuilt = "the search index cannot be used and is made anew" // stress kill looks for these words
	if strings.Contains(said.String(), rebuilt) {
		t.Errorf("a kill was a reason to rebuild: %s", &said)
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, engineFolder, listFile), 100))
	x := New(dir, "store", log)
	if _, err := x.Open(far); err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if !strings.Contains(said.String(), rebuilt) {
		t.Errorf("damage is not told in these words: %s", &said)
	}
}

// TestKilledAtItsBeginning: the engine was killed right after it had made the list of its
// files. Nothing was put yet, so nothing is made anew.
func TestKilledAtItsBeginning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	x := New(dir, "store", log)
	_, err := x.Open(far)
	require.NoError(t, err)
	require.NoError(t, x.Close())
	require.NoError(t, os.Truncate(filepath.Join(dir, engineFolder, listFile), 0))
	x = New(dir, "store", log)
	_, err = x.Open(far)
	require.NoError(t, err)
	require.NoError(t, x.Put(t.Context(), []core.IndexDocument{public(1, "word")}, core.IndexPosition{Message: 1}))
	if got := find(t, x, core.IndexQuery{Text: "word", Limit: 10}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	require.NoError(t, x.Close())
	if said.Len() != 0 {
		t.Errorf("it says %s", &said)
	}
}

const childBatch = 7

// putForEver continues an index where it is until it is killed.
func putForEver(t *testing.T, dir string) {
	x := New(dir, "store", nil)
	at, err := x.Open(far)
	require.NoError(t, err)
	for n := int(at.Message); ; n += childBatch {
		var docs []core.IndexDocument
		for i := range childBatch {
			docs = append(docs, public(n+i+1, fmt.Sprintf("word w%d %s", n+i+1, strings.Repeat("filler ", 40))))
		}
		require.NoError(t, x.Put(context.Background(), docs, core.IndexPosition{Message: hub.MessageID(n + childBatch)}))
		fmt.Println(n + childBatch)
		time.Sleep(3 * time.Millisecond) // so that the engine saves now and then between two batches
	}
}
