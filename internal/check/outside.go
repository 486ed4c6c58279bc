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
	"time"
)

// Bounds of the tests in stress/outside. At the end of the budget they are interrupted,
// so that they end what they started. All harnesses took a quarter of an hour on two processors.
// A run of many random acts gets longer.
const (
	outsideBudget   = 25 * time.Minute
	harnessesBudget = 2 * time.Hour
	actsBudget      = 3 * time.Hour
	outsideGrace    = 30 * time.Second
)

// rig says which files of tests run, beside the programs that the lock file in the
// folder of the first one pins.
type rig struct {
	files  []string
	latest bool // with the latest programs instead of the pinned ones
	matrix bool // drives all harnesses, and prints what the run measured of each
}

// outside runs what other people wrote against the executable as it is delivered:
// the official clients, the conformance suite and the inspector.
func outside(ctx context.Context, total *tally) error {
	return rig{files: []string{"sdk_v1.test.mjs", "sdk_v2.test.mjs", "inspector.test.mjs", "conformance.test.mjs"}}.run(ctx, total)
}

// outsideFaults spoils the bridge's answers, one way after the other, and expects
// the tests that guard against it to fail.
func outsideFaults(ctx context.Context, total *tally) error {
	return errors.Join(rig{files: []string{"faults.mjs"}}.run(ctx, total), rig{files: []string{"turns/faults.mjs"}}.run(ctx, total))
}

// outsideTurns lets harnesses work turns against a scripted model.
func outsideTurns(ctx context.Context, total *tally) error {
	return rig{files: []string{firstHour, "turns/turns.test.mjs", "turns/permissions.test.mjs", "turns/run.test.mjs", "turns/background.test.mjs"}}.run(ctx, total)
}

// firstHour begins with the files of a release, which are made for it.
const firstHour = "turns/firsthour.test.mjs"

// harnessTests let all harnesses read what the adapters write, and work turns.
var harnessTests = []string{"harnesses/harnesses.test.mjs", firstHour, "turns/turns.test.mjs", "turns/idle.test.mjs", "turns/bridges.test.mjs", "turns/ends.test.mjs", "turns/continued.test.mjs", "turns/prompts.test.mjs", "turns/permissions.test.mjs", "turns/run.test.mjs", "turns/background.test.mjs"}

func outsideHarnesses(ctx context.Context, total *tally) error {
	return rig{files: harnessTests, matrix: true}.run(ctx, total)
}

// outsideHarnessesLatest shows whether a new release of a harness needs work.
func outsideHarnessesLatest(ctx context.Context, total *tally) error {
	return rig{files: harnessTests, matrix: true, latest: true}.run(ctx, total)
}

// run runs the tests in a folder of their own, in which the programs that they use
// lie beside them. Where those cannot be had it says so and counts one test as
// skipped.
func (r rig) run(ctx context.Context, total *tally) error {
	err := r.prove(ctx, total)
	if errors.Is(err, errUnavailable) {
		fmt.Fprintf(writer(ctx), "SKIPPED: other people's programs are %v\n", err)
		total.skip("other people's programs", err.Error())
		return nil
	}
	return err
}

func (r rig) prove(ctx context.Context, total *tally) (err error) {
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
	if err := r.layOut(ctx, dir); err != nil {
		return err
	}
	hubcli := filepath.Join(dir, "hubcli")
	if err := command(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", hubcli, "./cmd/hubcli"); err != nil {
		return fmt.Errorf("go build ./cmd/hubcli: %w", err)
	}
	release := filepath.Join(dir, "release")
	if slices.Contains(r.files, firstHour) {
		platform := runtime.GOOS + "/" + runtime.GOARCH
		if err := command(ctx, nil, "go", "run", "./internal/release", "--out", release, "--platforms", platform, "--wheel=false"); err != nil {
			return fmt.Errorf("making a release: %w", err)
		}
	}
	measured, figures := filepath.Join(dir, "matrix.jsonl"), filepath.Join(dir, "figures.txt")
	env := append(os.Environ(), "HUBCLI="+hubcli, "HARNESSES="+filepath.Join(dir, r.folder(), "node_modules"), "MATRIX="+measured, "RELEASE="+release, "FIGURES="+figures, "NO_COLOR=1", "FORCE_COLOR=0")
	err = nodeTest(ctx, total, node, dir, r.budget(), env, r.files)
	if told, readErr := os.ReadFile(figures); readErr == nil {
		fmt.Fprintf(writer(ctx), "%s", told)
	}
	if r.matrix {
		m, readErr := readMatrix(measured)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		fmt.Fprintln(writer(ctx), m.table(time.Now()))
	}
	return err
}

// budget is the time that the run may take.
func (r rig) budget() time.Duration {
	switch {
	case os.Getenv("ACTS") != "":
		return actsBudget
	case r.matrix:
		return harnessesBudget
	}
	return outsideBudget
}

// folder is the folder of the first file, below stress/outside.
func (r rig) folder() string { return filepath.Dir(r.files[0]) }

// layOut copies the tests into dir and links the programs that they import and run.
func (r rig) layOut(ctx context.Context, dir string) error {
	if err := os.CopyFS(dir, os.DirFS("stress/outside")); err != nil {
		return err
	}
	source := filepath.Join("stress/outside", r.folder())
	args := []string{"ci", "--omit=optional"}
	if r.folder() != "." {
		// A harness brings one package per platform, of which a registry may hold
		// only some; ci would refuse the lock file that was made with it.
		args = []string{"install", "--no-save"}
	}
	if r.latest {
		latest := filepath.Join(dir, filepath.Base(source)+"-latest")
		if err := lockLatest(ctx, source, latest); err != nil {
			return err
		}
		source = latest
	}
	installed, err := npmFolder(ctx, source, args...)
	if err != nil {
		return err
	}
	return os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, r.folder(), "node_modules"))
}

// nodeTest runs the tests and adds what their report counts to the total. What
// they say is shown if one fails.
func nodeTest(ctx context.Context, total *tally, node, dir string, budget time.Duration, env, files []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("the tests took longer than %v", budget))
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
	if runErr != nil || os.Getenv("ACTS") != "" {
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
