package target

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Executable is a built hub.
type Executable struct {
	Path     string
	Profiled bool // it offers profiles where profileEnv says
}

// Build builds the hub's executable, as it is delivered, into dir.
func Build(ctx context.Context, dir string) (Executable, error) {
	return build(ctx, dir)
}

// BuildProfiled builds the hub with the runtime's profiles added. The delivered
// executable has none: they would show the memory of a hub to whoever can reach
// its port.
func BuildProfiled(ctx context.Context, dir string) (Executable, error) {
	source := filepath.Join(dir, "profile.go")
	if err := os.WriteFile(source, []byte(profileSource), 0o600); err != nil {
		return Executable{}, err
	}
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	// The overlay adds a file to the main package for this build alone.
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "cmd", "hubcli", "profile_of_this_build.go"): source},
	})
	if err != nil {
		return Executable{}, err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		return Executable{}, err
	}
	exe, err := build(ctx, dir, "-overlay", overlayFile)
	exe.Profiled = true
	return exe, err
}

func build(ctx context.Context, dir string, args ...string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	path := filepath.Join(dir, "hubcli")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-trimpath", "-o", path}, args...), "./cmd/hubcli")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return Executable{}, fmt.Errorf("building the hub: %w\n%s", err, out)
	}
	return Executable{Path: path}, nil
}

// ModuleRoot is the folder of go.mod, around the folder that the program runs in.
func ModuleRoot(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}
