package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"hubcli/internal/testrace"
)

// race runs all tests in Go, those of packages with goroutines under the race detector: it takes
// several times as long, and finds nothing where nothing runs at once. Of the other packages
// RACE_PART=K/N races every N-th, from the K-th on; without it all are raced. What is not raced runs
// without the detector.
func race(ctx context.Context, total *tally) error {
	if err := findCompiler(ctx); err != nil {
		return err
	}
	raced, rest, err := racedPackages(ctx, cmp.Or(os.Getenv("RACE_PART"), "0/1"))
	if err != nil {
		return err
	}
	var found tally
	err = goTest(ctx, &found, []string{"CGO_ENABLED=1"},
		append([]string{"-race", "-shuffle=on", "-timeout=30m", "-p=" + strconv.Itoa(runtime.NumCPU()+1)}, raced...)...)
	kept := found.takeKeptOut()
	total.add(found)
	plain := func(what string, args ...string) {
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintf(writer(ctx), "%s without the race detector\n", what)
		var more tally
		err = errors.Join(err, goTest(ctx, &more, []string{"CGO_ENABLED=0"},
			append([]string{"-shuffle=on", "-timeout=20m", "-p=" + strconv.Itoa(2*runtime.NumCPU())}, args...)...))
		total.add(more)
	}
	if len(rest) > 0 {
		plain(fmt.Sprintf("%d packages", len(rest)), rest...)
	}
	if len(kept) > 0 {
		pattern, packages := selection(kept)
		plain(fmt.Sprintf("%d tests", len(kept)), append([]string{"-run=" + pattern}, packages...)...)
	}
	return err
}

// takeKeptOut returns the tests that the race detector kept out, a package and a test each, and counts them no
// longer as skipped.
func (t *tally) takeKeptOut() (kept []string) {
	t.skips = slices.DeleteFunc(t.skips, func(s skip) bool {
		if !strings.Contains(s.text, testrace.Without) {
			return false
		}
		kept = append(kept, s.test)
		t.skipped--
		return true
	})
	return kept
}

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath, Dir, Name              string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// tested reports whether the package has tests.
func (p *goPackage) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// racedPackages returns the packages whose tests run under the race detector, and those whose tests
// run without it.
func racedPackages(ctx context.Context, part string) (raced, rest []string, err error) {
	var k, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &k, &n); err != nil || k < 0 || k >= n {
		return nil, nil, fmt.Errorf("RACE_PART is %q and has to be K/N, as 0/4", part)
	}
	packages, err := listPackages(ctx)
	if err != nil {
		return nil, nil, err
	}
	still := 0 // packages without goroutines
	for _, p := range packages {
		if !p.tested() {
			continue
		}
		concurrent, err := p.concurrent()
		if err != nil {
			return nil, nil, err
		}
		if concurrent {
			raced = append(raced, p.ImportPath)
			continue
		}
		if still++; still%n == k {
			raced = append(raced, p.ImportPath)
		} else {
			rest = append(rest, p.ImportPath)
		}
	}
	return longestFirst(raced), longestFirst(rest), nil
}

func listPackages(ctx context.Context) (packages []goPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = writer(ctx)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// concurrent reports whether the package starts goroutines or guards what several of them use. The
// tests of a command drive its executable, which is built without the race detector.
func (p *goPackage) concurrent() (bool, error) {
	if p.Name == "main" {
		return false, nil
	}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"sync"` || i.Path.Value == `"sync/atomic"` }) {
			return true, nil
		}
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			_, begins := n.(*ast.GoStmt)
			found = found || begins
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
