//go:build unix

package daemon

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"hubcli/internal/require"
)

// TestClosedAtOtherEnd: a pipe and a socket tell that nobody reads them any more, before anything
// is written. Claude Code gives a monitor a socket, whose other end goes when it is killed.
func TestClosedAtOtherEnd(t *testing.T) {
	ends := map[string]func() (ours, theirs *os.File){
		"a pipe": func() (*os.File, *os.File) {
			theirs, ours, err := os.Pipe()
			require.NoError(t, err)
			return ours, theirs
		},
		"a socket": func() (*os.File, *os.File) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			require.NoError(t, err)
			return os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		},
	}
	for name, open := range ends {
		ours, theirs := open()
		if closedAtOtherEnd(ours) {
			t.Errorf("%s counts as closed while somebody reads", name)
		}
		require.NoError(t, theirs.Close())
		if !closedAtOtherEnd(ours) {
			t.Errorf("%s counts as open when nobody reads", name)
		}
		require.NoError(t, ours.Close())
	}
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	if closedAtOtherEnd(file) {
		t.Error("a file counts as closed")
	}
}
