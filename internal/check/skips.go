package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hubcli/internal/testprogram"
)

// needs is how a skipped test says what it needs beside programs; TestSkippedTestsSayWhatTheyNeed
// holds the tests in Go to it.
var needs = regexp.MustCompile(`(?m)(^|[:\s])needs \S`)

// wanted sorts skipped tests by the programs for want of which they were skipped. The others
// say what else they need, or are in silent.
func wanted(skips []skip) (byProgram map[string][]string, silent []string) {
	byProgram = map[string][]string{}
	for _, s := range skips {
		names := testprogram.Named(s.text)
		for _, name := range names {
			byProgram[name] = append(byProgram[name], s.test)
		}
		if len(names) == 0 && !needs.MatchString(s.text) {
			silent = append(silent, s.test)
		}
	}
	return byProgram, silent
}

// skippedTests has the tests in Go that the last run on a bare machine skipped for want of a
// program, a package and a test in each line.
var skippedTests = filepath.Join(".cache", "skipped-tests")

// keepSkips writes skippedTests.
func keepSkips(skips []skip) error {
	byProgram, _ := wanted(skips)
	var tests []string
	for _, skipped := range byProgram {
		for _, test := range skipped {
			if pkg, name, ok := strings.Cut(test, " "); ok && strings.HasPrefix(pkg, "hubcli/") && strings.HasPrefix(name, "Test") {
				tests = append(tests, pkg+" "+name)
			}
		}
	}
	slices.Sort(tests)
	if err := os.MkdirAll(filepath.Dir(skippedTests), 0o755); err != nil {
		return err
	}
	return os.WriteFile(skippedTests, []byte(strings.Join(slices.Compact(tests), "\n")+"\n"), 0o644)
}

// skipped runs the tests of skippedTests under the race detector, with the programs that this
// machine has by now.
func skipped(ctx context.Context, total *tally) error {
	text, err := os.ReadFile(skippedTests)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no run on a bare machine has told what it skipped: make test-bare")
	}
	if err != nil {
		return err
	}
	pattern, packages := selection(strings.Split(strings.TrimSpace(string(text)), "\n"))
	if len(packages) == 0 {
		return fmt.Errorf("%s names no test", skippedTests)
	}
	return goTest(ctx, total, []string{"CGO_ENABLED=1"}, append([]string{"-race", "-shuffle=on", "-timeout=30m", "-run=" + pattern}, packages...)...)
}

// selection turns lines of skippedTests into the pattern of go test's -run and the packages.
// The name of a test that two packages have selects it in both.
func selection(tests []string) (pattern string, packages []string) {
	var names []string
	for _, test := range tests {
		pkg, name, ok := strings.Cut(test, " ")
		if !ok {
			continue
		}
		var levels []string
		for level := range strings.SplitSeq(name, "/") {
			levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
		}
		names, packages = append(names, strings.Join(levels, "/")), append(packages, pkg)
	}
	slices.Sort(names)
	slices.Sort(packages)
	return strings.Join(slices.Compact(names), "|"), slices.Compact(packages)
}

// wants are lines that say which tests were skipped for want of which program. A test with many
// parts is named once, with their number.
func (t tally) wants() string {
	byProgram, _ := wanted(t.skips)
	var b strings.Builder
	for _, p := range testprogram.All() {
		tests := byProgram[p.Name]
		if len(tests) == 0 {
			continue
		}
		var names []string
		parts := map[string]int{}
		for _, test := range tests {
			name := whole(test)
			if parts[name]++; parts[name] == 1 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		fmt.Fprintf(&b, "\n  skipped for want of %s (%s): %d", p.Name, p.Debian, len(tests))
		for _, name := range names {
			fmt.Fprintf(&b, "\n    %s", name)
			if n := parts[name]; n > 1 {
				fmt.Fprintf(&b, ", %d parts", n)
			}
		}
	}
	return b.String()
}

// whole returns the test that a part belongs to. A script is a test of its own.
func whole(test string) string {
	pkg, name, ok := strings.Cut(strings.TrimPrefix(test, "hubcli/"), " ")
	if !ok || strings.HasPrefix(name, "TestScripts/") {
		return strings.TrimPrefix(test, "hubcli/")
	}
	name, _, _ = strings.Cut(name, "/")
	return pkg + " " + name
}
