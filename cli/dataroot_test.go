package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDataRoot(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		goos string
		vars map[string]string
		want string // empty: refused
	}{
		{"given", "linux", map[string]string{"HUB_DATA_ROOT": "/srv/hub", "HOME": "/h"}, "/srv/hub"},
		{"given, relative", "linux", map[string]string{"HUB_DATA_ROOT": "data"}, filepath.Join(here, "data")},
		{"linux", "linux", map[string]string{"HOME": "/h"}, "/h/.local/share/hubcli"},
		{"linux, XDG", "linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/hubcli"},
		{"linux, XDG without a home", "linux", map[string]string{"XDG_DATA_HOME": "/x"}, "/x/hubcli"},
		{"linux, relative XDG", "linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "x"}, "/h/.local/share/hubcli"},
		{"darwin", "darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/h/Library/Application Support/hubcli"},
		{"windows", "windows", map[string]string{"HOME": "/h", "LOCALAPPDATA": "/l"}, "/l/hubcli"},
		{"no home", "linux", nil, ""},
		{"no home on windows", "windows", map[string]string{"HOME": "/h"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := dataRoot(func(k string) string { return tt.vars[k] }, tt.goos)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("dataRoot = %q, %v; want %q", got, err, tt.want)
			}
			if err != nil && exitOf(err) != ExitUsage {
				t.Errorf("exit = %d, want 2", exitOf(err))
			}
		})
	}
}

func TestTheDataRootIsMadeForThisUserAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	env := world(t, map[string]string{"HUB_DATA_ROOT": root})
	dir, err := env.makeDataRoot("run")
	if err != nil || dir != filepath.Join(root, "run") {
		t.Fatalf("makeDataRoot = %q, %v", dir, err)
	}
	for _, d := range []string{root, dir} {
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
	if _, err := env.makeDataRoot("run"); exitOf(err) != ExitStore {
		t.Errorf("a data root that is a file: %v", err)
	}
}
