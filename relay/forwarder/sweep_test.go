package forwarder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/relay"
)

// aged makes a file, or a folder if name ends in a slash, with a change time in
// the past.
func (b *bench) aged(age time.Duration, name string) {
	b.Helper()
	path := b.path(filepath.FromSlash(strings.TrimSuffix(name, "/")))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil && strings.HasSuffix(name, "/") {
		err = os.MkdirAll(path, 0o700)
	} else if err == nil {
		err = os.WriteFile(path, []byte("x"), 0o600)
	}
	if err == nil {
		err = os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age))
	}
	require.NoError(b, err)
}

// swept returns a forwarder that has opened and swept the spool and does not
// run.
func (b *bench) swept() *Forwarder {
	b.Helper()
	f, err := New(Config{Dir: b.dir, BaseURL: "http://127.0.0.1:1"})
	require.NoError(b, err)
	if !f.open() {
		b.Fatal("the spool is not open")
	}
	b.Cleanup(f.close)
	f.calls.Wait()
	return f
}

// TestSweep: old abandoned files are removed, everything else stays, and no
// link is followed.
func TestSweep(t *testing.T) {
	b := newBench(t, "")
	outside := newBench(t, "")
	outside.aged(48*time.Hour, "responses/a/old.json")
	stays := []string{
		"responses/a/new.json", "responses/a/.tmp-new", "responses/a/.keep", "responses/fresh", "responses/full/sub/x.json",
		"requests/a/old.json", "requests/a/old.work", "requests/a/.tmp-new", "requests/kept/.keep", "requests/fresh",
	}
	b.aged(59*time.Minute, "responses/a/new.json")
	b.aged(9*time.Minute, "responses/a/.tmp-new")
	b.aged(48*time.Hour, "responses/a/.keep")
	b.aged(48*time.Hour, "responses/full/sub/x.json")
	b.aged(48*time.Hour, "responses/full/sub/")
	b.aged(59*time.Minute, "responses/fresh/")
	b.aged(48*time.Hour, "requests/a/old.json")
	b.aged(48*time.Hour, "requests/a/old.work")
	b.aged(9*time.Minute, "requests/a/.tmp-new")
	b.aged(48*time.Hour, "requests/kept/.keep")
	b.aged(59*time.Minute, "requests/fresh/")

	b.aged(61*time.Minute, "responses/a/old.json")
	b.aged(11*time.Minute, "responses/a/.tmp-old")
	b.aged(61*time.Minute, "responses/a/anything")
	b.aged(11*time.Minute, "requests/a/.tmp-old")
	b.aged(11*time.Minute, "requests/a/.tmp-folder/")
	b.aged(61*time.Minute, "requests/idle/")
	b.aged(61*time.Minute, "responses/idle/")
	for _, name := range []string{"a", "full", "kept"} {
		for _, dir := range []string{relay.RequestsDir, relay.ResponsesDir} {
			if _, err := os.Stat(b.path(dir, name)); err == nil {
				b.aged(48*time.Hour, dir+"/"+name+"/")
			}
		}
	}
	require.NoError(t, os.Symlink(outside.path(relay.ResponsesDir, "a"), b.path(relay.ResponsesDir, "linked")))
	b.swept()
	var got []string
	err := filepath.WalkDir(b.dir, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(b.dir, path)
		name = filepath.ToSlash(name)
		if entries, _ := os.ReadDir(path); err == nil && len(entries) == 0 && e.Type()&os.ModeSymlink == 0 {
			got = append(got, name)
		}
		return err
	})
	slices.Sort(stays)
	if slices.Sort(got); err != nil || !slices.Equal(got, stays) {
		t.Errorf("left are\n%q, want\n%q, %v", got, stays, err)
	}
	if len(outside.names(relay.ResponsesDir, "a")) != 1 {
		t.Error("a link was followed")
	}
}

// TestRejectedIsBounded: the newest thousand rejected files are kept, and no
// more than 64 MiB.
func TestRejectedIsBounded(t *testing.T) {
	b := newBench(t, "")
	f := b.swept()
	reject := func(i int, size int64) string {
		name := fmt.Sprintf("bad%05d", i)
		b.aged(0, "requests/a/"+name)
		require.NoError(t, os.Truncate(b.path(relay.RequestsDir, "a", name), size))
		require.NoError(t, f.reject.move(f.spool, "a", name, "It is bad."))
		return name
	}
	most := 0
	for i := range maxRejected + 150 {
		reject(i, 1)
		if i%50 == 0 || i > maxRejected-5 && i < maxRejected+5 {
			most = max(most, len(b.names(relay.RejectedDir, "a")))
		}
	}
	if most > 2*maxRejected+2 || most < maxRejected {
		t.Errorf("%d files were kept, want at most %d", most, 2*maxRejected)
	}
	kept := strings.Join(b.names(relay.RejectedDir, "a"), " ")
	if strings.Contains(kept, "bad00000") || !strings.Contains(kept, fmt.Sprintf("bad%05d.reason", maxRejected+149)) {
		t.Error("the newest file was removed")
	}
	for i := range 4 {
		for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; { // files of one millisecond count as equally old
			runtime.Gosched()
		}
		reject(90000+i, 20<<20)
	}
	kept = strings.Join(b.names(relay.RejectedDir, "a"), " ")
	if n := strings.Count(kept, "bad9000"); strings.Contains(kept, "bad90000 ") || !strings.Contains(kept, "bad90003 ") || n < 6 {
		t.Errorf("of four times 20 MiB these are kept: %d files", n)
	}
	f.sweepBeside()
	f.calls.Wait()
	if n := len(b.names(relay.RejectedDir, "a")); n > 2*maxRejected {
		t.Errorf("%d files", n)
	}
}
