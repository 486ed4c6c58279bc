package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheLogBeginsWithWhatWasHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store", "hub.log")
	var stderr bytes.Buffer
	l := NewLog(path, &stderr)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := l.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the store's folder was made before the store is open")
	}
	l.Open()
	l.Open() // harmless twice
	if _, err := l.Write([]byte("three\n")); err != nil {
		t.Fatal(err)
	}
	l.Fail("it broke")
	l.Close()
	if got := read(t, path); got != "one\ntwo\nthree\nhubcli: it broke\n" {
		t.Errorf("log = %q", got)
	}
	if stderr.String() != "one\ntwo\n" {
		t.Errorf("stderr = %q", stderr.String())
	}
}

func TestHeldLinesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hub.log")
	l := NewLog(path, &bytes.Buffer{})
	for range 100 {
		if _, err := l.Write(bytes.Repeat([]byte("x"), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	l.Open()
	l.Close()
	if got := len(read(t, path)); got != logHeldBytes {
		t.Errorf("%d bytes held, want %d", got, logHeldBytes)
	}
}

func TestTheLogRotates(t *testing.T) {
	dir := t.TempDir()
	l := NewLog(filepath.Join(dir, "hub.log"), &bytes.Buffer{})
	l.Open()
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range 2*logMaxMegabytes + 1 {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		st, err := f.Info()
		if err != nil || st.Size() > logMaxMegabytes<<20 {
			t.Errorf("%s has %d bytes, %v", f.Name(), st.Size(), err)
		}
		if !strings.HasPrefix(f.Name(), "hub") || !strings.HasSuffix(f.Name(), ".log") {
			t.Errorf("the store does not know %s for a log", f.Name())
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", f.Name(), st.Mode())
		}
	}
	if len(files) != 3 {
		t.Errorf("%d files, want the log and two earlier ones", len(files))
	}
}

// TestTheLogStaysInItsFolder: once the folder of the store was moved, no line goes into the folder
// that has its path, also where a new file is due.
func TestTheLogStaysInItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	path := filepath.Join(dir, "hub.log")
	l := NewLog(path, &bytes.Buffer{})
	l.Open()
	if _, err := l.Write([]byte("before\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Skip("needs a system that renames a folder with open files: ", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range logMaxMegabytes + 1 {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	l.Fail("it broke")
	l.Close()
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("in the other folder there is %v, %v", files, err)
	}
	if got := read(t, filepath.Join(dir+".away", "hub.log")); !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "hubcli: it broke\n") {
		t.Errorf("the log has %d bytes", len(got))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
