package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	planted  = flag.Bool("faults", false, "plant every fault and run the tests that must catch it")
	only     = flag.String("fault", "", "with -faults: only faults whose name matches this expression")
	patience = flag.Duration("patience", 90*time.Second, "how long the tests of one fault may take; who hangs is caught too")
)

// atOnce is how many faults are tested at a time.
const atOnce = 2

// fault is one mistake: in file, old becomes new, and then one of the tests in
// pkg that match test must fail.
type fault struct {
	name, file, old, new, pkg, test string
}

// root is the folder of the module, seen from this package.
const root = "../.."

// replaced returns the file with the mistake in it.
func (f *fault) replaced(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(f.old)); n != 1 {
		t.Fatalf("%s holds the text %d times, want once; fit the fault to the code:\n%s", f.file, n, f.old)
	}
	return bytes.Replace(text, []byte(f.old), []byte(f.new), 1)
}

// tests returns the names of the tests in pkg.
func tests(t *testing.T, pkg string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// usesRapid reports whether the tests of pkg draw their inputs.
func usesRapid(t *testing.T, pkg string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-test", "-deps", "./"+pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(out, []byte("pgregory.net/rapid\n"))
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

func TestEveryFaultCanBePlanted(t *testing.T) {
	seen := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		t.Run(f.name, func(t *testing.T) {
			if seen[f.name] {
				t.Error("the name is taken")
			}
			seen[f.name] = true
			f.replaced(t)
			for _, one := range strings.Split(f.test, "|") {
				found := false
				for _, name := range tests(t, f.pkg) {
					found = found || name == one
				}
				if !found {
					t.Errorf("%s has no test %s", f.pkg, one)
				}
			}
		})
	}
	if len(faults) < 40 {
		t.Errorf("only %d faults", len(faults))
	}
}

func TestEveryFaultIsCaught(t *testing.T) {
	if !*planted {
		t.Skip("run with -faults")
	}
	names := regexp.MustCompile(*only)
	slots := make(chan struct{}, atOnce)
	for i := range faults {
		f := &faults[i]
		if !names.MatchString(f.name) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			begun := time.Now()
			verdict, output := f.run(t)
			t.Logf("%-9s %5.1fs  %s (%s %s)", verdict, time.Since(begun).Seconds(), f.name, f.pkg, f.test)
			if verdict != "caught" {
				t.Errorf("%s: the planted fault was not caught by a failing test\n%s", f.name, output)
			}
		})
	}
}

// run plants the fault and runs its tests.
func (f *fault) run(t *testing.T) (verdict, output string) {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(filepath.Join(root, f.file))
	if err != nil {
		t.Fatal(err)
	}
	spoilt, overlay := filepath.Join(dir, "spoilt.go"), filepath.Join(dir, "overlay.json")
	plan, err := json.Marshal(map[string]map[string]string{"Replace": {file: spoilt}})
	if err == nil {
		err = errors.Join(os.WriteFile(spoilt, f.replaced(t), 0o600), os.WriteFile(overlay, plan, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), *patience+5*time.Minute) // building takes its time
	defer cancel()
	args := []string{
		"test", "-vet=off", "-count=1", "-overlay", overlay,
		"-timeout", patience.String(), "-run", "^(" + f.test + ")$", "./" + f.pkg,
	}
	if usesRapid(t, f.pkg) {
		args = append(args, "-rapid.nofailfile") // it would keep the failure in the tree
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return "NOT BUILT", text
	case err == nil:
		return "MISSED", text
	case strings.Contains(text, "--- FAIL: ") || strings.Contains(text, "panic: ") || strings.Contains(text, "fatal error: "):
		return "caught", text
	}
	return "UNCLEAR", text
}
