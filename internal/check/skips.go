package main

import (
	"fmt"
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
