package engine

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hubcli/internal/require"
)

func TestMain(m *testing.M) {
	if os.Getenv("ENGINE_TEST_KILL_AT") != "" {
		os.Exit(dieInstalling())
	}
	goleak.VerifyTestMain(m)
}

// dieInstalling is the process that a test kills; where there are no signals there is none.
var dieInstalling = func() int { return 2 }

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
