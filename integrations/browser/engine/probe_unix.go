//go:build unix

package engine

import (
	"context"
	"os/exec"
	"syscall"
)

// sayVersion asks an engine for its version.
func sayVersion(ctx context.Context, path string) (string, error) { return run(ctx, path, "--version") }

// ownGroup puts a program and what it starts into a group of their own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what is left of the group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
