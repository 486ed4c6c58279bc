package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hubcli/internal/require"
)

// reaps names the variable that makes the test a process that waits for all children.
const reaps = "HUBCLI_TEST_REAPS"

// TestProcessOneWaitsForAll: what process 1 does waits for orphans, returns the exit code of its
// own child, and leaves no child behind. The test is no process 1, but gets orphans as one does.
func TestProcessOneWaitsForAll(t *testing.T) {
	if script := os.Getenv(reaps); script != "" {
		require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		child, err := os.StartProcess("/bin/sh", []string{"sh", "-c", script}, &os.ProcAttr{})
		require.NoError(t, err)
		code := reap(child.Pid)
		for _, err = unix.Wait4(-1, nil, 0, nil); err == nil || errors.Is(err, unix.EINTR); _, err = unix.Wait4(-1, nil, 0, nil) {
			code = 99 // a child was left
		}
		os.Exit(code)
	}
	for script, want := range map[string]int{
		"(true &); (true &); sleep 0.2; exit 7": 7,
		"kill -TERM $$":                         signaled + int(syscall.SIGTERM),
		"exit 0":                                0,
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessOneWaitsForAll$")
		cmd.Env = append(os.Environ(), reaps+"="+script)
		out, err := cmd.CombinedOutput()
		if got := exitCode(err); got != want {
			t.Errorf("%s: exit code %d, want %d: %s", script, got, want, out)
		}
	}
}
