package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Command returns a command of the executable for a hub. It is not started yet.
func (e Executable) Command(ctx context.Context, hub *Process, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.Path, args...)
	cmd.Env = append(os.Environ(), dataRootEnv+"="+hub.DataRoot)
	return cmd
}

// BuildBare builds the program of stress/bare into dir.
func BuildBare(ctx context.Context, dir string) (path string, err error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "bare")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./stress/bare")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the bare program: %w\n%s", err, out)
	}
	return path, nil
}
