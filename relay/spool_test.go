package relay

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

func TestFolder(t *testing.T) {
	for agent, want := range map[hub.AgentID]string{
		"dev-a":       "dev-a",
		"a.b_c-1":     "a.b_c-1",
		"a@b":         "a_b",
		"a@:+b":       "a_b",
		"host:dev@x+": "host_dev_x_",
	} {
		if got := Folder(agent); got != want {
			t.Errorf("Folder(%q) = %q, want %q", agent, got, want)
		}
	}
}

func TestRequestIDsSortByTime(t *testing.T) {
	var ids []RequestID
	for range 1000 {
		id := NewRequestID()
		if !id.Valid() {
			t.Fatalf("%q is no valid id", id)
		}
		ids = append(ids, id[:12])
	}
	if !slices.IsSorted(ids) {
		t.Error("later ids sort before earlier ones")
	}
}

func TestRequestIDForm(t *testing.T) {
	for id, want := range map[RequestID]bool{
		"a": true, "7-b.c_d": true, "": false, ".a": false, "-a": false, "a/b": false, "a\nb": false, "ä": false,
		RequestID(make([]byte, 129)): false,
	} {
		if id.Valid() != want {
			t.Errorf("%q: Valid() = %v", id, !want)
		}
	}
}

// TestFilesAreAsOpenAsTheirFolder: a folder that is shared with another user has
// files that the other can read.
func TestFilesAreAsOpenAsTheirFolder(t *testing.T) {
	for folder, want := range map[fs.FileMode]fs.FileMode{0o700: 0o600, 0o770: 0o660, 0o750: 0o640, 0o777: 0o666, 0o711: 0o600} {
		if got := fileMode(fs.ModeDir | folder); got != want {
			t.Errorf("a file in a folder of mode %o gets %o, want %o", folder, got, want)
		}
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	for _, mode := range []fs.FileMode{0o700, 0o750} {
		require.NoError(t, errors.Join(os.Chmod(dir, mode), WriteWhole(root, ".", "x", nil)))
		info, err := root.Stat("x")
		if err != nil || info.Mode().Perm()&^fileMode(mode) != 0 || mode == 0o700 && info.Mode().Perm() != 0o600 {
			t.Errorf("in a folder of mode %o the file has %v, %v", mode, info.Mode(), err)
		}
	}
}
