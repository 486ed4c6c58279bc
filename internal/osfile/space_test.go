package osfile

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"hubcli/internal/require"
)

func TestFree(t *testing.T) {
	dir := t.TempDir()
	free, err := Free(dir)
	require.NoError(t, err)
	if free < 0 {
		t.Errorf("%d bytes are free", free)
	}
	if _, err := Free(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has room")
	}
}

func TestIsFull(t *testing.T) {
	if IsFull(&fs.PathError{Op: "write", Err: syscall.EIO}) || IsFull(nil) {
		t.Error("another failure counts as a full disk")
	}
	if err := full(); !IsFull(fmt.Errorf("writing: %w", &fs.PathError{Op: "write", Err: err})) {
		t.Errorf("%v is no full disk", err)
	}
}
