// Command check proves a change, in at most two lanes at a time: all tests in Go
// in one, the static checks and the tests in Python in the other.
//
//	go run ./internal/check [step ...]
//
// Without a step it runs those that CONTRIBUTING.md lists under "make test". The
// other steps have to be named. "bare" before the steps runs them without any program that tests
// may do without, fails if a test does not say which of them it lacks, and keeps what was
// skipped: the step "skipped" runs those tests. "missing" names the packages of Debian with such
// programs that are not installed, and does nothing else. A step that fails does not stop the others: one
// run tells everything. The last line counts the tests that ran; the exit code is 1
// if anything failed. The interpreter is python3, or the one that PYTHON names. It
// downloads pinned tools through the Go module proxy, with pip and with npm, and
// writes nowhere but the Go caches and .cache/ of this folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is one thing to prove, by a run or by tests that are counted.
type step struct {
	name  string
	run   func(context.Context) error
	tests func(context.Context, *tally) error
	lane  int
	extra bool // runs only when it is named
}

// steps are in the order in which they run in their lane. What needs nothing that
// the tests in Go compile comes first in the other lane, so that nothing is
// compiled twice on a machine with empty caches.
var steps = []step{
	{name: "test", tests: test},
	{name: "format", run: format, lane: 1},
	{name: "python", run: python, lane: 1},
	{name: "console", tests: console, lane: 1},
	{name: "platforms", run: platformTypes, lane: 1},
	{name: "vet", run: vet, lane: 1},
	{name: "lint", run: lint, lane: 1},
	{name: "staticcheck", run: staticcheck, lane: 1},
	{name: "pytest", tests: pytest, lane: 1},

	{name: "reformat", run: reformat, extra: true},
	{name: "race", tests: race, extra: true},
	{name: "skipped", tests: skipped, extra: true},
	{name: "faults", tests: faults, extra: true},
	{name: "cross", run: cross, lane: 1, extra: true},
	{name: "omitted", tests: omitted, extra: true},
	{name: "install", tests: install, lane: 1, extra: true},
	{name: "browser", tests: browser, extra: true},
	{name: "outside", tests: outside, lane: 1, extra: true},
	{name: "engines", tests: engines, lane: 1, extra: true},
	{name: "outside-turns", tests: outsideTurns, lane: 1, extra: true},
	{name: "outside-faults", tests: outsideFaults, lane: 1, extra: true},
	{name: "outside-harnesses", tests: outsideHarnesses, lane: 1, extra: true},
	{name: "outside-harnesses-latest", tests: outsideHarnessesLatest, lane: 1, extra: true},
	{name: "fuzz", run: fuzz, extra: true},
	{name: "mutate", run: mutate, extra: true},
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

func run(ctx context.Context, names []string) (err error) {
	if slices.Equal(names, []string{"missing"}) {
		fmt.Println(strings.Join(missingPackages(), " "))
		return nil
	}
	isBare := len(names) > 0 && names[0] == bareWord
	if isBare {
		names = names[1:]
	}
	var chosen []step
	for _, name := range names {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return fmt.Errorf("no step %q; the steps are %s, and %s before them", name, strings.Join(stepNames(), ", "), bareWord)
		}
	}
	for _, s := range steps {
		if slices.Contains(names, s.name) || len(names) == 0 && !s.extra {
			chosen = append(chosen, s)
		}
	}
	if err := enterRoot(ctx); err != nil {
		return err
	}
	if isBare {
		restore, err := bare(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
	}
	r := &report{begun: time.Now(), now: map[string]func() string{}}
	stop := r.tell()
	failed := r.prove(ctx, chosen)
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.tested {
		fmt.Println(r.total.String() + r.total.wants())
	}
	if len(failed) > 0 {
		err = fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	if isBare {
		err = errors.Join(err, bareProblems(r.total.skips), keepSkips(r.total.skips))
	}
	return err
}

// prove runs the steps, lane beside lane, and returns the names of those that
// failed.
func (r *report) prove(ctx context.Context, chosen []step) (failed []string) {
	var lanes sync.WaitGroup
	for lane := range 2 {
		lanes.Go(func() {
			for _, s := range chosen {
				if s.lane != lane || ctx.Err() != nil {
					continue
				}
				if err := r.step(ctx, &s); err != nil {
					r.mu.Lock()
					failed = append(failed, s.name)
					r.mu.Unlock()
				}
			}
		})
	}
	lanes.Wait()
	return failed
}

func (r *report) step(ctx context.Context, s *step) (err error) {
	out := r.begin(s.name)
	ctx = context.WithValue(ctx, output{}, out)
	begun := time.Now()
	if s.tests == nil {
		err = s.run(ctx)
	} else {
		var count tally
		err = s.tests(ctx, &count)
		r.count(&count)
	}
	took := time.Since(begun).Round(100 * time.Millisecond)
	r.end(s.name)
	var exit *exec.ExitError
	switch {
	case err == nil:
		fmt.Fprintf(out, "ok, %v\n", took)
	case errors.As(err, &exit):
		fmt.Fprintf(out, "FAILED after %v: it ended with %v\n", took, err)
	default:
		fmt.Fprintf(out, "FAILED after %v: %v\n", took, err)
	}
	return err
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

// command runs a program with its output on the step's.
func command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = writer(ctx), writer(ctx)
	cmd.Env = append(os.Environ(), env...)
	return cmd.Run()
}
