package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Bounds of the tests in stress/outside: of one file and of all. At the end of the
// budget they are interrupted, so that they end what they started.
const (
	outsideBudget = 8 * time.Minute
	outsideGrace  = 30 * time.Second
)

// outside runs what other people wrote against the executable as it is delivered:
// the official clients, the conformance suite and the inspector.
func outside(ctx context.Context, total *tally) error {
	return runOutside(ctx, total, "sdk_v1.test.mjs", "sdk_v2.test.mjs", "inspector.test.mjs", "conformance.test.mjs")
}

// outsideFaults spoils the bridge's answers, one way after the other, and expects
// the tests that guard against it to fail.
func outsideFaults(ctx context.Context, total *tally) error {
	return errors.Join(runOutside(ctx, total, "faults.mjs"), runOutside(ctx, total, "turns/faults.mjs"))
}

// outsideTurns lets harnesses work turns against a scripted model.
func outsideTurns(ctx context.Context, total *tally) error {
	return runOutside(ctx, total, "turns/turns.test.mjs")
}

// outsideHarnesses lets all harnesses read what the adapters write, and work turns.
func outsideHarnesses(ctx context.Context, total *tally) error {
	return runOutside(ctx, total, "harnesses/harnesses.test.mjs", "turns/turns.test.mjs", "turns/idle.test.mjs")
}

// runOutside runs files of tests in a folder of their own, in which the programs
// that they use lie beside them. Where those cannot be had it says so and counts
// one test as skipped.
func runOutside(ctx context.Context, total *tally, files ...string) error {
	err := proveOutside(ctx, total, files)
	if errors.Is(err, errUnavailable) {
		fmt.Fprintf(writer(ctx), "SKIPPED: other people's programs are %v\n", err)
		total.skipped++
		return nil
	}
	return err
}

func proveOutside(ctx context.Context, total *tally, files []string) (err error) {
	node, err := findNode(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hubcli-outside-")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("a program that the tests started seems to run on: %w", removeErr))
		}
	}()
	if err := layOut(ctx, dir, files); err != nil {
		return err
	}
	hubcli := filepath.Join(dir, "hubcli")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", hubcli, "./cmd/hubcli"); err != nil {
		return fmt.Errorf("go build ./cmd/hubcli: %w", err)
	}
	return nodeTest(ctx, total, node, dir, append(os.Environ(), "HUBCLI="+hubcli, "HARNESSES="+filepath.Join(dir, filepath.Dir(files[0]), "node_modules"), "NO_COLOR=1", "FORCE_COLOR=0"), files)
}

// layOut copies the tests into dir and links what they import and run: what the
// lock file in the folder of the files pins.
func layOut(ctx context.Context, dir string, files []string) error {
	if err := os.CopyFS(dir, os.DirFS("stress/outside")); err != nil {
		return err
	}
	folder := filepath.Dir(files[0])
	args := []string{"ci", "--omit=optional"}
	if folder != "." {
		// A harness brings one package per platform, of which a registry may hold
		// only some; ci would refuse the lock file that was made with it.
		args = []string{"install", "--no-save"}
	}
	installed, err := npmFolder(ctx, filepath.Join("stress/outside", folder), args...)
	if err != nil {
		return err
	}
	return os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, folder, "node_modules"))
}

// nodeTest runs the tests and adds what their report counts to the total. What
// they say is shown if one fails.
func nodeTest(ctx context.Context, total *tally, node, dir string, env, files []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, outsideBudget, fmt.Errorf("the tests took longer than %v", outsideBudget))
	defer cancel()
	report := filepath.Join(dir, "report.xml")
	cmd := exec.CommandContext(ctx, node, append([]string{
		"--test", "--test-concurrency=2",
		"--test-reporter=spec", "--test-reporter-destination=stdout",
		"--test-reporter=junit", "--test-reporter-destination=" + report,
	}, files...)...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = outsideGrace
	said, runErr := cmd.CombinedOutput()
	if runErr != nil {
		if ctx.Err() != nil {
			runErr = context.Cause(ctx)
		}
		fmt.Fprintf(writer(ctx), "%s\n", said)
	}
	f, err := os.Open(report)
	if err != nil {
		return errors.Join(runErr, fmt.Errorf("node left no report: %w", err))
	}
	defer f.Close()
	var count tally
	if err := count.readJUnit(f); err != nil {
		return errors.Join(runErr, fmt.Errorf("reading node's report: %w", err))
	}
	total.add(count)
	switch {
	case runErr != nil:
		return runErr
	case count.failed > 0:
		return errors.New("node succeeded, yet its report tells of failures")
	case count.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}
