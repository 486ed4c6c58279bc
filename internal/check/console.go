package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"hubcli/internal/testprogram"
)

// Where the console's sources are, and what is built of them.
const (
	consoleSource = "web"
	consoleBuilt  = "httpapi/console/dist"
	viewerBuilt   = "capsule/replayfile/dist" // of replays that are saved as files
)

// console proves that the files that are embedded in the executable are what the sources of
// the console give: it checks their types, builds them beside the tree and compares.
func console(ctx context.Context, total *tally) error {
	err := compareConsole(ctx)
	if errors.Is(err, errUnavailable) {
		fmt.Fprintf(writer(ctx), "SKIPPED: the build of the console is %v\n", err)
		total.skip("the build of the console", err.Error())
		return nil
	}
	if err == nil {
		total.passed++
	}
	return err
}

func compareConsole(ctx context.Context) (err error) {
	if err := needPrograms("node", "npm"); err != nil {
		return err
	}
	installed, err := npmFolder(ctx, consoleSource, "ci")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hubcli-console-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copyTracked(consoleSource, dir); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		return err
	}
	bin := func(name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
	if err := commandIn(ctx, dir, bin("tsc"), "--noEmit"); err != nil {
		return fmt.Errorf("the types of the console: %w", err)
	}
	for config, kept := range map[string]string{"vite.config.ts": consoleBuilt, "vite.saved.config.ts": viewerBuilt} {
		built := filepath.Join(dir, "dist", config)
		if err := commandIn(ctx, dir, bin("vite"), "build", "--logLevel=error", "--config="+config, "--outDir="+built); err != nil {
			return fmt.Errorf("the build of the console: %w", err)
		}
		if err := sameFiles(built, kept); err != nil {
			return err
		}
	}
	return nil
}

// copyTracked copies the sources without what npm has installed beside them.
func copyTracked(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o644)
	})
}

// commandIn runs a program in a folder and shows what it says if it fails.
func commandIn(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(writer(ctx), "%s\n", said)
	}
	return err
}

// sameFiles fails unless two folders hold the same files.
func sameFiles(built, kept string) error {
	want, err := readTree(built)
	if err != nil {
		return err
	}
	have, err := readTree(kept)
	if err != nil {
		return err
	}
	var wrong []string
	for name, text := range want {
		if !bytes.Equal(have[name], text) {
			wrong = append(wrong, name)
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s is not what the sources give, for example %s: run npm ci and npm run build in %s", kept, wrong[0], consoleSource)
	}
	return nil
}

func readTree(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	return files, err
}

// browserNames are the names of browsers that the tests of the console can drive.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

// browser lets the system's browser use the console of a hub.
func browser(ctx context.Context, total *tally) error {
	err := driveBrowser(ctx, total)
	if errors.Is(err, errUnavailable) {
		fmt.Fprintf(writer(ctx), "SKIPPED: a browser for the console is %v\n", err)
		total.skip("the console in a browser", err.Error())
		return nil
	}
	return err
}

func driveBrowser(ctx context.Context, total *tally) (err error) {
	node, err := findNode(ctx)
	if err != nil {
		return err
	}
	chromium := os.Getenv("CHROMIUM")
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = found
		}
	}
	if chromium == "" {
		return fmt.Errorf("%w: %s; CHROMIUM may name one with windows, such as Debian's chromium", errUnavailable, testprogram.Missing(testprogram.Browser))
	}
	installed, err := npmFolder(ctx, consoleSource, "ci")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hubcli-browser-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, folder := range []string{"console", "outside"} {
		if err := copyTracked(filepath.Join("stress", folder), filepath.Join(dir, folder)); err != nil {
			return err
		}
	}
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "console", "node_modules")); err != nil {
		return err
	}
	hubcli := filepath.Join(dir, "hubcli")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", hubcli, "./cmd/hubcli"); err != nil {
		return fmt.Errorf("go build ./cmd/hubcli: %w", err)
	}
	tests, err := filepath.Glob(filepath.Join(dir, "console", cmp.Or(os.Getenv("CONSOLE_TESTS"), "*")+".test.mjs"))
	if err != nil {
		return err
	}
	if len(tests) == 0 { // without a file node takes all
		return fmt.Errorf("no test of the console is called %q", os.Getenv("CONSOLE_TESTS"))
	}
	// The pictures of the pages outlive the tests: a person looks at them.
	pictures, err := filepath.Abs(cmp.Or(os.Getenv("CONSOLE_PICTURES"), filepath.Join(".cache", "console-pictures")))
	if err != nil {
		return err
	}
	env := append(os.Environ(), "HUBCLI="+hubcli, "CHROMIUM="+chromium, "CONSOLE_PICTURES="+pictures, "NO_COLOR=1", "FORCE_COLOR=0")
	return nodeTest(ctx, total, node, dir, outsideBudget, env, tests)
}
