package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestChildHasItsOwnFolder: the daemon does not live in the folder of the caller, and finds
// the caller's folders all the same.
func TestChildHasItsOwnFolder(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a POSIX shell")
	}
	caller, root := t.TempDir(), t.TempDir()
	t.Chdir(caller)
	t.Setenv("HUB_DATA_ROOT", "data")
	t.Setenv("TMPDIR", filepath.Join(caller, "tmp"))
	c, err := StartChild(sh, []string{"-c", `pwd -P > "$1"; echo "$PWD" >> "$1"; echo "$HUB_DATA_ROOT" >> "$1"; echo "$TMPDIR" >> "$1"`, "sh", filepath.Join(caller, "said")}, root)
	require.NoError(t, err)
	<-c.done
	c.Forget()
	b, err := os.ReadFile(filepath.Join(caller, "said"))
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	want := strings.Join([]string{real, root, filepath.Join(here, "data"), filepath.Join(caller, "tmp"), ""}, "\n")
	if string(b) != want {
		t.Errorf("the daemon has\n%s\nwant\n%s", b, want)
	}
}
