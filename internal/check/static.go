package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

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
	cmd.Stderr = writer(ctx)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if len(out) > 0 {
		fmt.Fprint(writer(ctx), string(out))
		return errors.New("these files are not formatted; run make format")
	}
	return nil
}

// vet finds what the go command's own analyzers find. It is compiled as the tests
// are, without cgo.
func vet(ctx context.Context) error {
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", "vet", "./...")
}

// lint runs the analyzers of internal/tools/lint. The go command keeps what they
// say of a package until it changes.
func lint(ctx context.Context) error {
	exe, err := buildTool(ctx, "lint")
	if err != nil {
		return err
	}
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", "vet", "-vettool="+exe, "./...")
}

// staticcheck runs all its checks but the one of initialisms, which follow the names
// of the wire here.
func staticcheck(ctx context.Context) error {
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", tool("staticcheck", "-checks=all,-ST1003,-QF*", "./...")...)
}

// platformTypes checks the types of the programs for the systems on which the tests
// do not run. It reads all source anew and compiles nothing, which takes seconds;
// the step cross builds the programs for all platforms.
func platformTypes(ctx context.Context) error {
	exe, err := buildTool(ctx, "typecheck")
	if err != nil {
		return err
	}
	return command(ctx, []string{"CGO_ENABLED=0"}, exe, append(slices.Clone(platforms), "./...")...)
}

// buildTool builds a program of internal/tools into .cache/bin.
func buildTool(ctx context.Context, name string) (string, error) {
	exe, err := filepath.Abs(filepath.Join(".cache", "bin", name))
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-C", "internal/tools", "-o", exe, "./"+name); err != nil {
		return "", fmt.Errorf("building internal/tools/%s: %w", name, err)
	}
	return exe, nil
}

// gremlins is the tool that changes code on trial, pinned and fetched only when it
// is asked for.
const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

// mutate changes the code of the package that MUTATE names, one place at a time, and
// lists the changes that no test of it notices. It reads a copy of the module.
func mutate(ctx context.Context) error {
	folder := os.Getenv("MUTATE")
	if folder == "" {
		return errors.New("name the folder of a package: make mutate MUTATE=./hub")
	}
	return command(ctx, []string{"CGO_ENABLED=0", "GOFLAGS="}, "go", "run", gremlins, "unleash", "--timeout-coefficient=10", folder)
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
		fmt.Fprintf(writer(ctx), "%s\n", platform)
	}
	if len(failed) > 0 {
		return fmt.Errorf("no build for %s", strings.Join(failed, ", "))
	}
	return nil
}
