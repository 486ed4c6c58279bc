//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// withoutOthers returns a PATH in which no hubcli of this machine is found. A folder that has
// one is replaced with a folder of links, made below scratch, to all else that is in it.
func withoutOthers(path, scratch string) (string, error) {
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "hubcli")); err != nil {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		full, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if dirs[i], err = os.MkdirTemp(scratch, "path"); err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.Name() == "hubcli" {
				continue
			}
			if err := os.Symlink(filepath.Join(full, e.Name()), filepath.Join(dirs[i], e.Name())); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator)), nil
}

// TestNoOtherHubcliIsInThePath of the tests: a machine may have one, beside programs that the
// tests run.
func TestNoOtherHubcliIsInThePath(t *testing.T) {
	ours, err := exec.LookPath("hubcli")
	require.NoError(t, err)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Lstat(filepath.Join(dir, "hubcli")); err == nil && dir != filepath.Dir(ours) {
			t.Errorf("the tests have %s in their PATH, which has another hubcli", dir)
		}
	}
	mixed, plain := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(mixed, "hubcli"), filepath.Join(mixed, "beside"), filepath.Join(plain, "alone")} {
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755))
	}
	path, err := withoutOthers(mixed+":"+plain+":/nonexistent", t.TempDir())
	require.NoError(t, err)
	dirs := filepath.SplitList(path)
	if len(dirs) != 3 || dirs[0] == mixed || dirs[1] != plain {
		t.Errorf("the PATH is %s", path)
	}
	t.Setenv("PATH", path)
	for program, found := range map[string]bool{"hubcli": false, "beside": true, "alone": true} {
		if _, err := exec.LookPath(program); (err == nil) != found {
			t.Errorf("%s is found: %v", program, err == nil)
		}
	}
}
