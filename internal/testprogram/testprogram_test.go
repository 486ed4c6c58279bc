package testprogram

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"hubcli/internal/require"
)

// recorder keeps what a test would be skipped with.
type recorder struct{ skipped []any }

func (r *recorder) Helper()          {}
func (r *recorder) Skip(args ...any) { r.skipped = append(r.skipped, args...) }

// TestNeedNamesWhatIsMissing: a test that is skipped names every program that it lacks, and is
// found by that text.
func TestNeedNamesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	name := "jq"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	t.Setenv("PATH", dir)
	var r recorder
	if got := Need(&r, "jq"); len(r.skipped) != 0 || !slices.Equal(got, []string{filepath.Join(dir, name)}) {
		t.Errorf("what is there is at %q; skipped: %v", got, r.skipped)
	}
	Need(&r, "age", "jq", "age-keygen", "strace")
	const want = "not installed: age, age-keygen, strace (Debian: apt-get install age strace)"
	if len(r.skipped) != 1 || r.skipped[0] != want {
		t.Fatalf("skipped with %v, want %s", r.skipped, want)
	}
	if got := Named("a_test.go:7: " + want + ": more\n"); !slices.Equal(got, []string{"age", "age-keygen", "strace"}) {
		t.Errorf("the text names %q", got)
	}
	for _, other := range []string{"", "there is no node", "not installed: ", "not installed: vi (Debian: apt-get install vim)", "not installed: age"} {
		if got := Named(other); got != nil {
			t.Errorf("%q names %q", other, got)
		}
	}
}

// TestUnlistedProgramIsAMistake of the test that names it.
func TestUnlistedProgramIsAMistake(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a program that is not listed is looked for")
		}
	}()
	Need(&recorder{}, "vi")
}
