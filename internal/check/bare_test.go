package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// TestBareMachineHasNoProgramThatTestsMayDoWithout: what is linked is what the README asks for,
// and Go and Python run.
func TestBareMachineHasNoProgramThatTestsMayDoWithout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix, as the step bare does")
	}
	for _, name := range append([]string{"PATH", "PYTHON", "HUBCLI_BROWSER"}, bareVariables...) {
		t.Setenv(name, os.Getenv(name))
	}
	if os.Getenv("PYTHON") == "" {
		require.NoError(t, os.Unsetenv("PYTHON"))
	}
	restore, err := bare(t.Context())
	require.NoError(t, err)
	dir := os.Getenv("PATH")
	for _, p := range testprogram.All() {
		if path, err := exec.LookPath(p.Name); err == nil {
			t.Errorf("a bare machine has %s", path)
		}
	}
	for _, args := range [][]string{{"go", "version"}, {"git", "--version"}, {"python3", "-c", "import sys; assert '" + dir + "' not in sys.executable"}, {"sh", "-c", "sed --version >/dev/null; test x = x"}} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%q on a bare machine: %v: %s", args, err, out)
		}
	}
	require.NoError(t, restore())
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// TestBareRunNeedsReasons: a test that is skipped without one fails the run, and so does a
// program that no test has missed.
func TestBareRunNeedsReasons(t *testing.T) {
	var skips []skip
	for i, p := range testprogram.All() {
		if i > 0 {
			skips = append(skips, skip{"hubcli/p TestA/" + p.Name, "    a_test.go:1: " + testprogram.Missing(p.Name) + "\n"})
		}
	}
	first := testprogram.All()[0].Name
	whole := append(slices.Clone(skips), skip{"hubcli/p TestScripts/b", testprogram.Missing(first)}, skip{"p TestC", "    a_test.go:1: needs root: not permitted\n"})
	if err := bareProblems(whole); err != nil {
		t.Errorf("a whole run has the problems %v", err)
	}
	for want, all := range map[string][]skip{
		"for want of " + first: skips,
		"p TestD was skipped":  append(slices.Clone(whole), skip{"p TestD", "    a_test.go:1: there is no such program\n"}),
		"p TestE was skipped":  append(slices.Clone(whole), skip{"p TestE", ""}),
	} {
		if err := bareProblems(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the problems are %v, want %s", err, want)
		}
	}
	said := tally{skips: append(slices.Clone(whole), skip{"hubcli/p TestA/more", testprogram.Missing("jq")})}.wants()
	for _, want := range []string{"\n  skipped for want of jq (jq): 2\n    p TestA, 2 parts\n", "\n  skipped for want of " + first + " (" + testprogram.All()[0].Debian + "): 1\n    p TestScripts/b"} {
		if !strings.Contains(said, want) {
			t.Errorf("the last lines lack %q:\n%s", want, said)
		}
	}
}

// TestWhatABareMachineSkippedIsRunLater: the tests in Go that lacked a program, and no others.
func TestWhatABareMachineSkippedIsRunLater(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, keepSkips([]skip{
		{"hubcli/q TestScripts/b.c", testprogram.Missing("jq")},
		{"hubcli/p TestA", testprogram.Missing("jq", "curl")},
		{"hubcli/p TestRoot", "needs root"},
		{"the console in a browser", testprogram.Missing("node")},
	}))
	text, err := os.ReadFile(skippedTests)
	require.NoError(t, err)
	pattern, packages := selection(strings.Split(strings.TrimSpace(string(text)), "\n"))
	if want := `^TestA$|^TestScripts$/^b\.c$`; pattern != want {
		t.Errorf("the pattern is %s, want %s", pattern, want)
	}
	if want := []string{"hubcli/p", "hubcli/q"}; !slices.Equal(packages, want) {
		t.Errorf("the packages are %q, want %q", packages, want)
	}
}
