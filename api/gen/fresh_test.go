package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

// TestFresh: what go generate ./api makes is what there is.
func TestFresh(t *testing.T) {
	const root = "../.."
	made, err := all(root)
	require.NoError(t, err)
	for name, want := range made {
		got, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the table of operations and package hub say: run go generate ./api", name)
		}
	}
}
