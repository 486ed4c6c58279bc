package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// requirements pins the builder of the wheel, with the tools of the checks.
const requirements = "python/requirements-dev.txt"

var builderPin = regexp.MustCompile(`(?m)^flit-core==(\S+)$`)

// buildWheel builds the wheel of the package in the current folder and prints its name.
const buildWheel = "import sys; from flit_core.buildapi import build_wheel; print(build_wheel(sys.argv[1]))"

// wheel builds the wheel of the Python client. The builder times files by
// SOURCE_DATE_EPOCH and gives them fixed modes.
func (r *release) wheel(ctx context.Context) (file, error) {
	builder, err := wheelBuilder(ctx, r.root, r.cache)
	if err != nil {
		return file{}, err
	}
	dir, err := os.MkdirTemp("", "hubclient-wheel-")
	if err != nil {
		return file{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.CommandContext(ctx, pythonProgram(), "-c", buildWheel, dir)
	cmd.Dir = filepath.Join(r.root, "python")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+builder, "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1",
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	out, err := output(cmd)
	if err != nil {
		return file{}, err
	}
	name := string(bytes.TrimSpace(out))
	if want := "hubclient-" + r.version + "-py3-none-any.whl"; name != want {
		return file{}, fmt.Errorf("the wheel is %s, want %s: python/pyproject.toml and internal/program/VERSION name one version", name, want)
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	return file{path: name, mode: 0o644, data: data}, err
}

// pythonProgram is python3, or the interpreter that PYTHON names.
func pythonProgram() string {
	if name := os.Getenv("PYTHON"); name != "" {
		return name
	}
	return "python3"
}

// wheelBuilder returns the folder that holds the pinned builder. It is fetched once,
// into the folder cache, and then found there without a network.
func wheelBuilder(ctx context.Context, root, cache string) (string, error) {
	pins, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(requirements)))
	if err != nil {
		return "", err
	}
	pin := builderPin.FindSubmatch(pins)
	if pin == nil {
		return "", fmt.Errorf("%s does not pin flit-core", requirements)
	}
	dir, err := filepath.Abs(filepath.Join(cache, "flit-core-"+string(pin[1])))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	loading, err := os.MkdirTemp(filepath.Dir(dir), "flit-core.")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(loading) }()
	cmd := exec.CommandContext(ctx, pythonProgram(), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
		"--no-deps", "--no-compile", "--target", loading, strings.TrimSpace(string(pin[0])))
	if _, err := output(cmd); err != nil {
		return "", fmt.Errorf("the builder of the wheel could not be fetched (--wheel=false leaves the wheel out): %w", err)
	}
	if err := os.Rename(loading, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil // renamed, or another run was faster
}
