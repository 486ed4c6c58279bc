package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Build builds the hub's executable, as it is delivered, into dir and returns its
// path. Arguments are added to go build's.
func Build(ctx context.Context, dir string, args ...string) (string, error) {
	exe := filepath.Join(dir, "hubcli")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-trimpath", "-o", exe}, args...), "./cmd/hubcli")...)
	cmd.Dir = filepath.Dir(strings.TrimSpace(string(mod)))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the hub: %w\n%s", err, out)
	}
	return exe, nil
}
