//go:build unix

package program

import (
	"os"
	"os/user"
	"testing"

	"hubcli/internal/require"
)

// TestHomeIsThatOfTheUser: where the environment names no home it is that of the user database,
// and a home that is named stays.
func TestHomeIsThatOfTheUser(t *testing.T) {
	me, err := user.Current()
	require.NoError(t, err)
	named := t.TempDir()
	t.Setenv("HOME", named)
	if TakeHome(); os.Getenv("HOME") != named {
		t.Errorf("the home is %q", os.Getenv("HOME"))
	}
	t.Setenv("HOME", "")
	entry, err := user.LookupId(me.Uid)
	require.NoError(t, err)
	if TakeHome(); os.Getenv("HOME") != entry.HomeDir {
		t.Errorf("the home is %q, want %q", os.Getenv("HOME"), entry.HomeDir)
	}
}
