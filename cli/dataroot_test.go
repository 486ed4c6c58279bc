package cli

import (
	"os"
	"path/filepath"
	"testing"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

func TestTheDataRootIsMadeForThisUserAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": root})
	if err := env.MakeDataRoot(); err != nil {
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
	env = testcli.World(t, map[string]string{"HUB_DATA_ROOT": file})
	if err := env.MakeDataRoot(); term.ExitOf(err) != term.ExitRefused {
		t.Errorf("a data root that is a file: %v", err)
	}
}

func TestNoHomeFolder(t *testing.T) {
	if _, err := testcli.World(t, nil).DataRoot(); term.ExitOf(err) != term.ExitUsage {
		t.Errorf("%v: exit %d, want %d", err, term.ExitOf(err), term.ExitUsage)
	}
}
