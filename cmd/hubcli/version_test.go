package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/internal/program"
)

// TestVersionNamesTheCommit: what the release command hands to the linker reaches
// the user.
func TestVersionNamesTheCommit(t *testing.T) {
	release, _, _ := strings.Cut(program.Version(), "+")
	exe := filepath.Join(t.TempDir(), "hubcli.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-X hubcli/internal/program.commit=0123456789ab -X hubcli/internal/program.date=2026-11-22", "-o", exe, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	say := exec.CommandContext(t.Context(), exe, "--version")
	say.Env = append(say.Environ(), "HUB_DATA_ROOT="+filepath.Join(t.TempDir(), "none"))
	out, err := say.Output()
	want := "hubcli " + release + "+0123456789ab\nbuilt: from commit 0123456789ab of 2026-11-22\nstores: up to format " + strconv.Itoa(storedir.LatestFormat()) + "\n"
	if err != nil || string(out) != want {
		t.Errorf("hubcli --version prints %q (%v), want %q", out, err, want)
	}
}
