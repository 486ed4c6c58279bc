package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hubcli/internal/require"
)

// TestLockPath: whatever links lead to a file, and from which folder a path is given, the file
// has one name. A path of another system names none.
func TestLockPath(t *testing.T) {
	dir := RealPath(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "src", "deep"), 0o755))
	for link, to := range map[string]string{"lib": "src", "chain": "lib", "new.go": "src/new.go"} { // the last leads to nothing yet
		require.NoError(t, os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)))
	}
	want := filepath.Join(dir, "src", "a.go")
	for _, given := range []string{"src/a.go", "./src//a.go", `src\a.go`, "chain/a.go", "lib/deep/../a.go", want, filepath.Join(dir, "lib", "a.go")} {
		if got, err := LockPath(given, dir); err != nil || got != want {
			t.Errorf("%s is %s, %v", given, got, err)
		}
	}
	if got, err := LockPath("new.go", dir); err != nil || got != filepath.Join(dir, "src", "new.go") {
		t.Errorf("a link to nothing is %s, %v", got, err)
	}
	if _, err := LockPath("src/a.go", ""); !errors.Is(err, ErrRelativePath) {
		t.Errorf("a relative path of no folder: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, given := range []string{`C:\repo\a.go`, "d:/repo/a.go"} {
		if got, err := LockPath(given, dir); !errors.Is(err, ErrForeignPath) {
			t.Errorf("%s is %s, %v", given, got, err)
		}
	}
	for _, given := range []string{"c:a.go", "1:/a.go", ":/"} { // names like any other
		if _, err := LockPath(given, dir); err != nil {
			t.Errorf("%s: %v", given, err)
		}
	}
}
