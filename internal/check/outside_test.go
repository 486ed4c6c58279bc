package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// What npm installs is pinned by version and hash, and from whichever registry
// the machine is set to: no lock file names one.
func TestLockFiles(t *testing.T) {
	locks, err := filepath.Glob("../../stress/outside/*/package-lock.json")
	require.NoError(t, err)
	for _, name := range append(locks, "../../stress/outside/package-lock.json") {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		var lock struct {
			Packages map[string]struct {
				Version   string `json:"version"`
				Integrity string `json:"integrity"`
				Resolved  string `json:"resolved"`
			} `json:"packages"`
		}
		if err := json.Unmarshal(content, &lock); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for place, p := range lock.Packages {
			if place != "" && (p.Version == "" || p.Integrity == "") {
				t.Errorf("%s: %s is not pinned", name, place)
			}
			if p.Resolved != "" {
				t.Errorf("%s: %s names where it came from: %s", name, place, p.Resolved)
			}
		}
		settings, err := os.ReadFile(filepath.Join(filepath.Dir(name), ".npmrc"))
		if err != nil || !strings.Contains(string(settings), "ignore-scripts=true") || strings.Contains(string(settings), "registry=") {
			t.Errorf("%s: the settings beside it let packages run scripts or name a registry: %q, %v", name, settings, err)
		}
	}
}

// A machine without the network is told so; a package that is not what the lock
// file pins is a failure.
func TestUnreachableIsNoFailure(t *testing.T) {
	for said, want := range map[string]bool{
		"npm error code ENOTFOUND\nnpm error network request failed": true,
		"npm error code ECONNREFUSED":                                true,
		"npm error code EINTEGRITY":                                  false,
		"npm error code EUSAGE":                                      false,
	} {
		if got := unreachable.MatchString(said); got != want {
			t.Errorf("%q taken for no network: %v, want %v", said, got, want)
		}
	}
}
