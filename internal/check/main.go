// Command check proves a change: formatting, static checks, the builds for every
// platform and all tests under the race detector, each with its time.
//
//	go run ./internal/check [step ...]
//
// Without a step it runs them all but fuzz, which runs every fuzz target for
// FUZZTIME (default 20s), reformat, which rewrites files, and outside-faults and
// outside-harnesses, which docs/outside.md describes; these have to be named. A
// step that fails does not stop the others: one run tells everything. The last
// line counts the tests that ran, in Go, in Python and in JavaScript; the exit code
// is 1 if anything failed. The interpreter is python3, or the one that PYTHON
// names. It downloads pinned tools through the Go module proxy, with pip and with
// npm, and writes nowhere but the Go caches and .cache/ of this folder.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// step is one thing to prove, by a run or by tests that are counted.
type step struct {
	name  string
	run   func(context.Context) error
	tests func(context.Context, *tally) error
	extra bool // runs only when it is named
}

// steps are in the order in which they run: the cheapest first, and the tests
// last.
var steps = []step{
	{name: "format", run: format},
	{name: "vet", run: vet},
	{name: "staticcheck", run: staticcheck},
	{name: "lint", run: lint},
	{name: "cross", run: cross},
	{name: "python", run: python},
	{name: "fuzz", run: fuzz, extra: true},
	{name: "reformat", run: reformat, extra: true},
	{name: "test", tests: test},
	{name: "pytest", tests: pytest},
	{name: "outside", tests: outside},
	{name: "outside-faults", tests: outsideFaults, extra: true},
	{name: "outside-harnesses", tests: outsideHarnesses, extra: true},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return fmt.Errorf("no step %q; the steps are %s", name, strings.Join(stepNames(), ", "))
		}
	}
	if err := enterRoot(ctx); err != nil {
		return err
	}
	var failed []string
	var total tally
	tested := false
	for _, s := range steps {
		if !slices.Contains(names, s.name) && (len(names) > 0 || s.extra) {
			continue
		}
		if s.tests != nil && !tested && len(failed) > 0 {
			fmt.Printf("FAILED before the tests: %s\n", strings.Join(failed, ", "))
		}
		tested = tested || s.tests != nil
		begin := time.Now()
		fmt.Printf("==> %s\n", s.name)
		err := s.prove(ctx, &total)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		took := time.Since(begin).Round(100 * time.Millisecond)
		if err != nil {
			failed = append(failed, s.name)
			fmt.Printf("--- %s FAILED after %v: %v\n", s.name, took, err)
			continue
		}
		fmt.Printf("--- %s ok, %v\n", s.name, took)
	}
	if tested {
		fmt.Println(total)
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// prove runs the step; its tests are added to the total.
func (s *step) prove(ctx context.Context, total *tally) error {
	if s.tests != nil {
		return s.tests(ctx, total)
	}
	return s.run(ctx)
}

func stepNames() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// enterRoot makes the module's root the working folder, so that the command
// works from any folder of the module.
func enterRoot(ctx context.Context) error {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	root, ok := strings.CutSuffix(strings.TrimSpace(string(mod)), "go.mod")
	if !ok {
		return fmt.Errorf("run it inside the module")
	}
	return os.Chdir(root)
}

// command runs a program with its output on ours.
func command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	return cmd.Run()
}
