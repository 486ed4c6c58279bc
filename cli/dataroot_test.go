package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheDataRootIsMadeForThisUserAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	env := world(t, map[string]string{"HUB_DATA_ROOT": root})
	if err := env.makeDataRoot(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(root), root} {
		st, err := os.Stat(d)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want 0700", d, st.Mode(), err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env = world(t, map[string]string{"HUB_DATA_ROOT": file})
	if err := env.makeDataRoot(); exitOf(err) != ExitRefused {
		t.Errorf("a data root that is a file: %v", err)
	}
}

func TestNoHomeFolder(t *testing.T) {
	if _, err := world(t, nil).dataRoot(); exitOf(err) != ExitUsage {
		t.Errorf("%v: exit %d, want %d", err, exitOf(err), ExitUsage)
	}
}
