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

	"hubcli/internal/target"
)

// tool returns the command line of a pinned tool. The tools have their own
// module file, so that the file of the product lists only what the product
// needs.
func tool(name string, args ...string) []string {
	return append([]string{"tool", "-modfile=internal/tools/go.mod", name}, args...)
}

// format fails if a file is not formatted: gofumpt lists such files, but exits
// with 0.
func format(ctx context.Context) error {
	folders, err := ourFolders()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", tool("gofumpt", append([]string{"-l"}, folders...)...)...)
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

// ourFolders lists the folders with code of the project. Those with copies of other people's
// modules keep the form in which they came.
func ourFolders() (folders []string, err error) {
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && name != "third_party" {
			folders = append(folders, name)
		}
	}
	return folders, nil
}

// vet runs the go command's own analyzers. It reads the code as the tests are
// compiled, without cgo.
func vet(ctx context.Context) error {
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", "vet", "./...")
}

// lint runs the analyzers of internal/tools/lint. The go command caches their
// findings for a package until the package changes.
func lint(ctx context.Context) error {
	exe, err := buildTool(ctx, "lint")
	if err != nil {
		return err
	}
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", "vet", "-vettool="+exe, "./...")
}

// staticcheck runs all checks except quick fixes and initialisms: here
// initialisms follow the names of the wire.
func staticcheck(ctx context.Context) error {
	return command(ctx, []string{"CGO_ENABLED=0"}, "go", tool("staticcheck", "-checks=all,-ST1003,-QF*", "./...")...)
}

// platformTypes checks the types of the programs for all platforms, because the
// tests run on one only. It compiles nothing, so it takes seconds; the step
// cross builds the programs.
func platformTypes(ctx context.Context) error {
	exe, err := buildTool(ctx, "typecheck")
	if err != nil {
		return err
	}
	return command(ctx, []string{"CGO_ENABLED=0"}, exe, append(slices.Clone(target.Platforms), "./...")...)
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

// gremlins is the tool for mutation tests. It is pinned, and fetched only when
// mutate runs.
const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

// mutate changes the code of the package that MUTATE names, one place at a
// time, and lists the changes that no test of the package notices. It works on
// a copy of the module.
func mutate(ctx context.Context) error {
	folder := os.Getenv("MUTATE")
	if folder == "" {
		return errors.New("name the folder of a package: make mutate MUTATE=./hub")
	}
	return command(ctx, []string{"CGO_ENABLED=0", "GOFLAGS="}, "go", "run", gremlins, "unleash", "--timeout-coefficient=10", folder)
}

// cross builds the programs for every platform, and weighs the executable. It omits
// debug symbols and everything that only tests need, because dependencies take most of
// the time.
func cross(ctx context.Context) (err error) {
	out, err := os.MkdirTemp("", "hubcli-cross-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	var failed []string
	for _, platform := range target.Platforms {
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
		name := "hubcli"
		if goos == "windows" {
			name += ".exe"
		}
		exe, err := os.Stat(filepath.Join(out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(writer(ctx), "%s, %d bytes\n", platform, exe.Size())
		if exe.Size() > target.MaxExecutable {
			return fmt.Errorf("the executable for %s has %d bytes, at most %d are meant: see go run ./internal/release weigh", platform, exe.Size(), target.MaxExecutable)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("the build failed for %s", strings.Join(failed, ", "))
	}
	return nil
}
