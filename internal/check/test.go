package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// longest are the packages whose tests take longest. Begun last, one of them alone would take minutes
// at the end.
var longest = []string{"cmd/hubcli", "actors", "relay/forwarder", "stress", "persistence", "mcp", "httpapi", "integrations/adapter"}

// longestFirst orders packages by how long their tests take.
func longestFirst(packages []string) []string {
	place := func(p string) int {
		_, path, _ := strings.Cut(p, "/")
		if i := slices.Index(longest, path); i >= 0 {
			return i
		}
		return len(longest)
	}
	slices.SortStableFunc(packages, func(a, b string) int { return place(a) - place(b) })
	return packages
}

// test runs all tests in Go, without cgo, so that they share what the executable is
// compiled from. Packages mostly wait: more of them run at once than there are
// processors.
func test(ctx context.Context, total *tally) error {
	packages, err := listPackages(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range packages {
		names = append(names, p.ImportPath)
	}
	return goTest(ctx, total, []string{"CGO_ENABLED=0"},
		append([]string{"-shuffle=on", "-timeout=20m", "-p=" + strconv.Itoa(2*runtime.NumCPU())}, longestFirst(names)...)...)
}

// faults plants the mistakes of internal/faults and expects tests to fail.
// FAULTS_PART=K/N takes every N-th of them, from the K-th on; FAULTS_WITHIN is a time after which
// none is begun.
func faults(ctx context.Context, total *tally) error {
	part := os.Getenv("FAULTS_PART")
	return goTest(ctx, total, []string{"CGO_ENABLED=0"}, "-timeout=2h", "-run=TestEveryFaultIsCaught", "./internal/faults", "-faults",
		"-part="+cmp.Or(part, "0/1"), "-within="+cmp.Or(os.Getenv("FAULTS_WITHIN"), "2h"))
}

// install makes a release and installs it as a user does.
func install(ctx context.Context, total *tally) error {
	return goTest(ctx, total, []string{"CGO_ENABLED=0"}, "-timeout=30m", "./internal/release", "-whole")
}

// goTest runs the go command's tests and counts them.
func goTest(ctx context.Context, total *tally, env []string, args ...string) error {
	// The step vet has seen all packages.
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-vet=off"}, args...)...)
	cmd.Stderr = writer(ctx)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := total.read(out, writer(ctx))
	err = cmd.Wait()
	switch {
	case readErr != nil:
		return fmt.Errorf("reading go test's report: %w", readErr)
	case err != nil:
		return err
	case total.failed+total.broken > 0:
		return fmt.Errorf("go test succeeded, yet its report tells of failures")
	case total.passed == 0:
		return fmt.Errorf("no test ran")
	}
	return nil
}

// findCompiler looks for the C compiler that the race detector links with. The
// executable itself never needs one.
func findCompiler(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return fmt.Errorf("go env CC: %w", err)
	}
	cc := strings.Fields(string(out))
	if len(cc) == 0 {
		cc = []string{"cc"}
	}
	if _, err := exec.LookPath(cc[0]); err != nil {
		return fmt.Errorf("the race detector needs a C compiler and %s is not installed; "+
			"install gcc and the C library's headers (Debian: apt-get install gcc libc6-dev)", cc[0])
	}
	return nil
}

// event is a line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// tally counts tests, sub-tests included, and the Go packages that failed without
// one of their tests failing: no build, a panic, a leak found after the tests.
type tally struct {
	passed, failed, skipped, broken int
	failures                        []string // what failed, one line each
	skips                           []skip
}

// skip is a test that was skipped, and what was printed of it.
type skip struct{ test, text string }

// skip counts a test that was skipped.
func (t *tally) skip(test, text string) {
	t.skipped++
	t.skips = append(t.skips, skip{test, text})
}

// maxNamed is how many failures the last lines name.
const maxNamed = 20

// add counts what another tally counted.
func (t *tally) add(other tally) {
	t.passed += other.passed
	t.failed += other.failed
	t.skipped += other.skipped
	t.broken += other.broken
	t.failures = append(t.failures, other.failures...)
	t.skips = append(t.skips, other.skips...)
}

func (t tally) String() string {
	s := fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
	if t.broken > 0 {
		s += fmt.Sprintf(", %d packages failed outside a test", t.broken)
	}
	for i, name := range t.failures {
		if i == maxNamed {
			return s + fmt.Sprintf("\n  and %d more", len(t.failures)-i)
		}
		s += "\n  failed: " + name
	}
	return s
}

// read counts what a report tells and writes the line of each package and the
// output of each test that failed.
func (t *tally) read(report io.Reader, w io.Writer) error {
	outputs := map[[2]string]*strings.Builder{} // of the tests that have not ended
	var now progress
	if l, ok := w.(*lines); ok {
		l.at(now.String)
	}
	failures := map[string]bool{} // packages with a failed test
	lines := bufio.NewReader(report)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if jsonErr := json.Unmarshal(line, &e); jsonErr != nil {
				fmt.Fprintf(w, "%s", line) // not a report line: go itself speaks
			} else {
				now.take(&e)
				t.take(&e, outputs, failures, w)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) take(e *event, outputs map[[2]string]*strings.Builder, failures map[string]bool, w io.Writer) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "output":
		if e.Test == "" && isSummary(e.Output) {
			fmt.Fprint(w, e.Output)
			return
		}
		b := outputs[key]
		if b == nil {
			b = new(strings.Builder)
			outputs[key] = b
		}
		b.WriteString(e.Output)
	case "build-output":
		fmt.Fprint(w, e.Output)
	case "pass", "skip", "fail":
		b := outputs[key]
		said := ""
		if b != nil {
			said = b.String()
		}
		delete(outputs, key)
		switch {
		case e.Action == "fail" && b != nil:
			fmt.Fprint(w, b.String())
		case e.Action == "skip" && e.Test != "" && b != nil:
			fmt.Fprint(w, b.String()) // says why it was skipped
		}
		t.count(e, said, failures)
	}
}

func (t *tally) count(e *event, said string, failures map[string]bool) {
	switch {
	case e.Test == "" && e.Action == "fail" && !failures[e.Package]:
		t.broken++
		t.failures = append(t.failures, e.Package)
	case e.Test == "":
	case e.Action == "pass":
		t.passed++
	case e.Action == "skip":
		t.skip(e.Package+" "+e.Test, said)
	case e.Action == "fail":
		t.failed++
		t.failures = append(t.failures, strings.Join(append([]string{e.Package + " " + e.Test}, lastSaid(said)...), "\n    "))
		failures[e.Package] = true
	}
}

// ofTest is a line that a test has logged, with its file and line.
var ofTest = regexp.MustCompile(`^ +\S+\.go:\d+: `)

// lastSaid returns the beginnings of the last lines that a failed test logged: the last lines of a
// whole run tell why it failed, also where the output of other tests stands between.
func lastSaid(said string) (lines []string) {
	const most, chars = 3, 200
	for line := range strings.Lines(said) {
		if ofTest.MatchString(line) {
			line = strings.TrimSpace(line)
			lines = append(lines, line[:min(len(line), chars)])
		}
	}
	return lines[max(0, len(lines)-most):]
}

// isSummary reports whether a line is go test's closing line of a package.
func isSummary(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t")
}

// progress knows which packages are running and the latest test of each.
type progress struct {
	mu    sync.Mutex
	ended int
	at    map[string]string
}

func (p *progress) take(e *event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = map[string]string{}
	}
	switch {
	case e.Action == "run":
		p.at[e.Package] = e.Test
	case e.Test == "" && e.Action == "start":
		p.at[e.Package] = "starting"
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		delete(p.at, e.Package)
		p.ended++
	}
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.at) == 0 {
		return fmt.Sprintf("compiling, %d packages done", p.ended)
	}
	var at []string
	for pkg, name := range p.at {
		_, short, _ := strings.Cut(pkg, "/")
		at = append(at, short+" "+name)
	}
	slices.Sort(at)
	return fmt.Sprintf("%d packages done, %s", p.ended, strings.Join(at, ", "))
}
