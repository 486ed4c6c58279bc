package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestRenamedModuleBuilds renames a copy of the module and builds the executable
// there, as those who fetch it will. Every package and test of the copy has to find
// its imports, and the tests of the architecture have to know the new path.
func TestRenamedModuleBuilds(t *testing.T) {
	needsWhole(t)
	const path = "example.org/team/hub"
	dir := copyProject(t)
	require.NoError(t, renameModule(t.Context(), dir, path))
	if got, err := moduleOf(dir); err != nil || got != path {
		t.Errorf("go.mod names %q, %v", got, err)
	}
	inCopy := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0")
		return cmd
	}
	if out, err := output(inCopy("go", "list", "-deps", "-test", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...")); err != nil {
		t.Error(err)
	} else if strings.Contains("\n"+string(out), "\nhubcli/") || !strings.Contains(string(out), path+"/actors/core\n") {
		t.Errorf("packages keep the old path:\n%.2000s", out)
	}
	exe := filepath.Join(t.TempDir(), "hubcli")
	if _, err := output(inCopy("go", "build", "-o", exe, executable)); err != nil {
		t.Fatal(err)
	}
	if out, err := output(exec.CommandContext(t.Context(), exe, "--version")); err != nil || !strings.HasPrefix(string(out), "hubcli ") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := output(inCopy("go", "test", "-run", "TestImportsPointDown|TestClientSide", "./internal/archtest")); err != nil {
		t.Error(err)
	}
}

func TestRenameRefusesPathsThatCannotBeFetched(t *testing.T) {
	for _, path := range []string{"", "hub", "hub/cli", "example.org", "https://example.org/hub", "example.org/hub/", "../hub"} {
		if err := renameModule(t.Context(), t.TempDir(), path); err == nil || !strings.Contains(err.Error(), "cannot be fetched") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestRenameChangesPathsOnly(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a.go": {
			"package a\n\nimport (\n\tx \"hubcli\"\n\t\"hubcli/hub\"\n\t\"hubclient\"\n)\n\nconst s = \"hubcli/hub\"\n",
			"package a\n\nimport (\n\tx \"e.org/h\"\n\t\"e.org/h/hub\"\n\t\"hubclient\"\n)\n\nconst s = \"hubcli/hub\"\n",
		},
		"internal/tools/go.mod": {"module hubcli/internal/tools\n\ngo 1.26\n", "module e.org/h/internal/tools\n\ngo 1.26\n"},
		".golangci.yml":         {"- (*hubcli/hub.Error).With\nallow: [hubcli/hub]\nx: ~/hubcli/hub\n", "- (*e.org/h/hub.Error).With\nallow: [e.org/h/hub]\nx: ~/hubcli/hub\n"},
		"README.md":             {"hubcli/hub", "hubcli/hub"},
	} {
		if got, err := renameIn(name, []byte(c.text), "hubcli", "e.org/h"); err != nil || string(got) != c.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// copyProject copies the sources without their history.
func copyProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	names, err := projectFiles(context.Background(), root)
	require.NoError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, data, 0o644))
	}
	return dir
}
