//go:build unix

package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/internal/require"
)

func TestForeign(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	require.NoError(t, errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(folder, 0o700)))
	for _, c := range []struct {
		mode         os.FileMode
		uid          int // 0: as it is
		file, folder string
	}{
		{0o600, 0, "", ""},
		{0o644, 0, "", ""},
		{0o602, 0, "by everybody", "by everybody"},
		{0o602 | os.ModeSticky, 0, "by everybody", ""},
		{0o600, 12345, "another user (12345)", "another user (12345)"},
	} {
		if c.uid != 0 && os.Geteuid() != 0 {
			continue // nobody else can give a file away
		}
		for path, want := range map[string]string{file: c.file, folder: c.folder} {
			require.NoError(t, os.Chmod(path, c.mode))
			if c.uid != 0 {
				require.NoError(t, os.Chown(path, c.uid, -1))
			}
			info, err := os.Lstat(path)
			require.NoError(t, err)
			if path == file && c.mode&os.ModeSticky != 0 {
				continue // not every system keeps the bit on a file
			}
			got := ForeignFile(info)
			if path == folder {
				got = ForeignFolder(info)
			}
			if (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s %v of %d: %q, want %q", path, c.mode, c.uid, got, want)
			}
			if own := Own(path, info); own != (c.uid == 0) {
				t.Errorf("%s of %d: own %v", path, c.uid, own)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	require.NoError(t, errors.Join(os.WriteFile(name, nil, 0o600), os.Link(name, filepath.Join(dir, "b"))))
	info, err := os.Lstat(name)
	require.NoError(t, err)
	if n, ok := Links(nil, info); n != 2 || !ok {
		t.Errorf("%d links, %v", n, ok)
	}
}

// TestNoReadWaitsForAPipe, also if the pipe takes the place of the file after the
// look.
func TestNoReadWaitsForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	done := make(chan error, 2)
	go func() {
		_, err := ReadSmall(pipe, 10)
		done <- err
		f, err := os.OpenFile(pipe, Cautious, 0)
		if err == nil {
			err = f.Close()
		}
		done <- err
	}()
	for _, want := range []error{ErrNotRegular, nil} {
		select {
		case err := <-done:
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it waits for the other end")
		}
	}
}
