package engine

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hubcli/internal/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// variablesOf is a Getenv.
func variablesOf(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// program writes a script that stands for an engine.
func program(t *testing.T, path, body string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	return path
}
