//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"testing"

	"hubcli/internal/require"
)

// The linker drops methods that nobody calls. It can no longer do so once any linked
// code looks methods up by names that are not constant, and the executable grows by a
// quarter. go build -ldflags=-dumpdep tells which code does (ReflectMethod).
func TestLinkerDropsUncalledMethods(t *testing.T) {
	exe, err := exec.LookPath("hubcli")
	require.NoError(t, err)
	symbols, err := exec.Command("go", "tool", "nm", exe).Output()
	require.NoError(t, err)
	if !bytes.Contains(symbols, []byte("github.com/spf13/cobra.(*Command).ExecuteC")) {
		t.Fatal("the executable has no symbols")
	}
	for _, uncalled := range []string{"github.com/spf13/cobra.(*Command).SetUsageTemplate", "text/template.(*Template).Execute"} {
		if bytes.Contains(symbols, []byte(uncalled)) {
			t.Errorf("%s is linked, though nobody calls it", uncalled)
		}
	}
}
