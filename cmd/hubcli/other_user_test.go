//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// otherUser is an account that every Unix has, and that is not the one of a test as root.
const otherUser = 65534

// cmdOther runs a command as another user of the machine, with a home of its own and none of the
// script's variables. OTHER_BASE_URL is its HUB_BASE_URL.
func cmdOther(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "other <code> <command...>")
	home := filepath.Join(ts.Getenv("WORK"), "other")
	_, err := os.Stat(home)
	fresh := err != nil
	ts.Check(os.MkdirAll(home, 0o700))
	ts.Check(os.Chown(home, otherUser, otherUser))
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	for _, dir := range []string{filepath.Dir(home), filepath.Dir(path)} {
		for ; strings.HasPrefix(dir, filepath.Clean(os.TempDir())); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			ts.Check(err)
			ts.Check(os.Chmod(dir, info.Mode()|0o011)) // so that another user may pass through
		}
	}
	as := func(path string, args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir = "/"
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), busName + "=" + noBus}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
		return cmd
	}
	if fresh {
		hubcli, err := exec.LookPath("hubcli")
		ts.Check(err)
		ts.Defer(func() { _ = as(hubcli, "stop").Run() }) // which a script that fails has left
	}
	cmd := as(path, args[2:]...)
	if url := ts.Getenv("OTHER_BASE_URL"); url != "" {
		cmd.Env = append(cmd.Env, "HUB_BASE_URL="+url)
	}
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if got := exitCode(cmd.Run()); got != number(ts, args[0]) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
