package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

var (
	planted  = flag.Bool("faults", false, "plant every fault and run the tests that must catch it")
	only     = flag.String("fault", "", "with -faults: only faults whose name matches this expression")
	part     = flag.String("part", "0/1", "with -faults: only the faults whose place in the table leaves the rest K when divided by N, as K/N")
	within   = flag.Duration("within", 2*time.Hour, "with -faults: how long faults are begun; the others are skipped")
	patience = flag.Duration("patience", 90*time.Second, "how long the tests of one fault may take; a test that hangs counts as failed")
)

// What a run says about a fault.
const (
	caught   = "caught"
	missed   = "MISSED"
	notBuilt = "NOT BUILT"
	unclear  = "UNCLEAR" // the go command failed, and no test did
)

// atOnce is how many faults are tested at a time.
const atOnce = 2

// fault is one mistake. The edit is made in the function named in, and then the
// test must fail in one of the packages that have a test of that name.
type fault struct {
	promise  int // in docs/guarantees.md
	name, in string
	edit     edit
	test     string
}

func TestEveryFaultCanBePlanted(t *testing.T) {
	m, err := tree()
	require.NoError(t, err)
	guarantees, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	require.NoError(t, err)
	compiler := newChecker(t)
	seen := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		if seen[f.name] {
			t.Errorf("%s: the name is taken", f.name)
		}
		seen[f.name] = true
		path, text, err := f.plant(m)
		if err == nil {
			err = compiler.check(path, text)
		}
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if len(m.tests[f.test]) == 0 {
			t.Errorf("%s: there is no test %s", f.name, f.test)
		}
		if !bytes.Contains(guarantees, []byte("`"+f.test+"`")) {
			t.Errorf("%s: docs/guarantees.md does not name %s", f.name, f.test)
		}
	}
	if len(faults) < 40 {
		t.Errorf("only %d faults", len(faults))
	}
}

func TestEveryFaultIsCaught(t *testing.T) {
	if !*planted {
		t.Skip("needs -faults, as make test-slow gives it")
	}
	m, err := tree()
	require.NoError(t, err)
	names := regexp.MustCompile(*only)
	var rest, of int
	if _, err := fmt.Sscanf(*part, "%d/%d", &rest, &of); err != nil || of < 1 || rest < 0 || rest >= of {
		t.Fatalf("-part %s is not K/N with 0 <= K < N", *part)
	}
	slots := make(chan struct{}, atOnce)
	first := time.Now()
	for i := range faults {
		f := &faults[i]
		if !names.MatchString(f.name) || i%of != rest {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			begun := time.Now()
			if begun.Sub(first) > *within {
				t.Skipf("needs more time than the %v of -within", *within)
			}
			verdict, output := f.run(t, m)
			t.Logf("%-9s %5.1fs  promise %d (%s)", verdict, time.Since(begun).Seconds(), f.promise, f.test)
			if verdict != caught {
				t.Errorf("%s: %s: no test failed because of the planted fault\n%s", f.name, verdict, output)
			}
		})
	}
}

// run plants the fault and runs its tests, package by package until one catches
// it.
func (f *fault) run(t *testing.T, m *module) (verdict, output string) {
	t.Helper()
	dir := t.TempDir()
	file, text, err := f.plant(m)
	require.NoError(t, err)
	spoiled, overlay := filepath.Join(dir, "spoiled.go"), filepath.Join(dir, "overlay.json")
	plan, err := json.Marshal(map[string]map[string]string{"Replace": {file: spoiled}})
	if err == nil {
		err = errors.Join(os.WriteFile(spoiled, []byte(text), 0o600), os.WriteFile(overlay, plan, 0o600))
	}
	require.NoError(t, err)
	for _, pkg := range m.tests[f.test] {
		verdict, output = f.runIn(t, "./"+pkg, overlay)
		// A machine short of memory or disk kills a compiler or a test. That says
		// nothing about the fault.
		if verdict == notBuilt || verdict == unclear {
			t.Logf("%s, once more:\n%s", verdict, output)
			verdict, output = f.runIn(t, "./"+pkg, overlay)
		}
		if verdict == caught {
			break
		}
	}
	return verdict, output
}

func (f *fault) runIn(t *testing.T, pkg, overlay string) (verdict, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *patience+5*time.Minute) // building takes its time
	defer cancel()
	args := []string{
		"test", "-vet=off", "-count=1",
		"-timeout", patience.String(), "-run", "^" + f.test + "$", pkg,
	}
	if usesRapid(t, pkg) {
		// A failure would be kept in the tree, and nobody reads the shortest one. Some mistakes
		// show in one history of a hundred.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1s")
		if f.test == "TestHubIsAsSimpleAsItsModel" {
			args = append(args, "-rapid.checks=400")
		}
	}
	// A test that hangs is killed and deletes nothing.
	temp, err := os.MkdirTemp("", "fault-") //nolint:usetesting // sockets want a short path, and t.TempDir has the name of the mistake
	require.NoError(t, err)
	defer os.RemoveAll(temp)
	require.NoError(t, os.Chmod(temp, 0o711)) // a test that acts as another user gets to its own folder
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	// In the environment, so that a test which builds the executable plants it too.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay), "GOTMPDIR="+temp, "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return notBuilt, text
	case err == nil:
		return missed, text
	case strings.Contains(text, "--- FAIL: ") || strings.Contains(text, "panic: ") || strings.Contains(text, "fatal error: "):
		return caught, text
	case strings.Contains(text, "*** Test killed with quit: ran too long"): // it hung, and could not even say so
		return caught, text
	}
	return unclear, text
}

// usesRapid reports whether the tests of pkg draw their inputs.
func usesRapid(t *testing.T, pkg string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-test", "-deps", pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	return bytes.Contains(out, []byte("pgregory.net/rapid\n"))
}
