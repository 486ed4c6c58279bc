package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lintVersion is the golangci-lint that the configuration is written for. The
// other tools are pinned by internal/tools/go.mod; this one has a dependency
// graph too large to pin there and is built apart.
const lintVersion = "2.15.0"

// platforms are those the executable is built for, without cgo.
var platforms = []string{
	"linux/amd64", "linux/arm64",
	"darwin/amd64", "darwin/arm64",
	"windows/amd64", "windows/arm64",
}

// tool is the command line of a pinned tool. The module file of the tools stays
// apart from the product's, which lists what the product needs and no more.
func tool(name string, args ...string) []string {
	return append([]string{"tool", "-modfile=internal/tools/go.mod", name}, args...)
}

// format fails if a file is not formatted: gofumpt names such files, but ends
// with 0 all the same.
func format(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", tool("gofumpt", "-l", ".")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if len(out) > 0 {
		fmt.Print(string(out))
		return errors.New("these files are not formatted; run make format")
	}
	return nil
}

func vet(ctx context.Context) error {
	return command(ctx, nil, "go", "vet", "./...")
}

func staticcheck(ctx context.Context) error {
	return command(ctx, nil, "go", tool("staticcheck", "./...")...)
}

func lint(ctx context.Context) error {
	bin, err := linter(ctx)
	if err != nil {
		return err
	}
	return command(ctx, nil, bin, "run", "./...")
}

// linter returns the path of the pinned golangci-lint: one that is installed
// already, or else one built into .cache/bin.
func linter(ctx context.Context) (string, error) {
	exe := "golangci-lint"
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	cache, err := filepath.Abs(filepath.Join(".cache", "bin"))
	if err != nil {
		return "", err
	}
	candidates := []string{filepath.Join(cache, exe)}
	if path, err := exec.LookPath(exe); err == nil {
		candidates = append(candidates, path)
	}
	if out, err := exec.CommandContext(ctx, "go", "env", "GOPATH").Output(); err == nil {
		candidates = append(candidates, filepath.Join(strings.TrimSpace(string(out)), "bin", exe))
	}
	for _, path := range candidates {
		out, err := exec.CommandContext(ctx, path, "version", "--short").Output()
		if err == nil && strings.TrimSpace(string(out)) == lintVersion {
			return path, nil
		}
	}
	fmt.Printf("building golangci-lint %s into .cache/bin; this takes some minutes, once\n", lintVersion)
	err = command(ctx, []string{"GOBIN=" + cache, "GOFLAGS="},
		"go", "install", "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v"+lintVersion)
	if err != nil {
		return "", fmt.Errorf("golangci-lint %s could not be built: %w", lintVersion, err)
	}
	return candidates[0], nil
}

// cross builds the programs for every platform. What only tests need is left
// out, and so are debug symbols: most of the time goes into dependencies.
func cross(ctx context.Context) (err error) {
	out, err := os.MkdirTemp("", "hubcli-cross-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	var failed []string
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		err := command(ctx, []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch},
			"go", "build", "-ldflags=-s -w", "-o", out+string(filepath.Separator), "./cmd/hubcli", "./stress")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, platform)
			continue
		}
		fmt.Printf("    %s\n", platform)
	}
	if len(failed) > 0 {
		return fmt.Errorf("no build for %s", strings.Join(failed, ", "))
	}
	return nil
}
