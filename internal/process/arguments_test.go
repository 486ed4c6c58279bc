package process

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

// TestArguments: the command line of a process is read as it was given.
func TestArguments(t *testing.T) {
	got, ok := Arguments(os.Getpid())
	if runtime.GOOS == "windows" {
		t.Skip("needs a system other than Windows")
	}
	if !ok || !slices.Equal(got, os.Args) {
		t.Errorf("this process was called with %q, not %q (%v)", os.Args, got, ok)
	}
	if got, ok := Arguments(1 << 30); ok {
		t.Errorf("a process that is not there has the arguments %q", got)
	}
}
