package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestPathOfTheCaller: a harness that was installed after the hub had started is found, and
// asked, by the caller's PATH; without one the hub's counts. The harness gets the same PATH.
func TestPathOfTheCaller(t *testing.T) {
	r := newRig(t)
	r.config.Hub = silent{}
	in, nvm := r.input(hub.AdapterGlobal), filepath.Join(r.home, "nvm", "bin")
	r.write(filepath.Join(nvm, "gemini"), "#!/bin/sh\nhelper\n")
	r.write(filepath.Join(nvm, "helper"), "#!/bin/sh\necho '✓ hub: /x mcp (stdio) - Connected'\n")
	r.write(filepath.Join(nvm, "claude"), "no program")
	for _, name := range []string{"gemini", "helper"} {
		require.NoError(t, os.Chmod(filepath.Join(nvm, name), 0o755))
	}
	for search, want := range map[string]bool{"": false, "/nowhere:" + nvm + ":/bin:/usr/bin": true} {
		q := hub.AdapterQuery{SearchPath: search}
		row, err := r.Adapter(t.Context(), hub.HarnessGeminiCLI, q)
		require.NoError(t, err)
		if row.Detected != want || want && row.DetectedBy[0] != filepath.Join(nvm, "gemini") {
			t.Errorf("with %q: %v", search, row.DetectedBy)
		}
		rows, err := r.Adapters.Adapters(t.Context(), q)
		require.NoError(t, err)
		found := 0
		for _, row := range rows {
			if row.Detected {
				found++
			}
		}
		if found > 1 || (found == 1) != want {
			t.Errorf("with %q %d harnesses are here", search, found)
		}
	}
	r.must(hub.HarnessGeminiCLI, hub.AdapterInstall, in)
	in.SearchPath = nvm + ":/bin:/usr/bin"
	v, err := r.VerifyAdapter(t.Context(), hub.HarnessGeminiCLI, in)
	require.NoError(t, err)
	if got := checks(v)["harness"]; got.Status != hub.CheckPassed {
		t.Errorf("%+v", got)
	}
	in.SearchPath = ""
	v, err = r.VerifyAdapter(t.Context(), hub.HarnessGeminiCLI, in)
	require.NoError(t, err)
	if got := checks(v)["harness"]; got.Status != hub.CheckSkipped || !strings.Contains(got.Detail, "neither on your PATH nor on that of the hub") {
		t.Errorf("%+v", got)
	}
}
