package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// aTest finds the names of tests.
var aTest = regexp.MustCompile("`((?:Test|Fuzz)\\w+)[`/]")

// TestGuaranteesNameTests holds docs/guarantees.md to the tree: each promise names a
// test, the outside tests or those in a browser, and each test that it names exists. A test that was renamed must be renamed
// there too.
func TestGuaranteesNameTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guarantees.md"))
	require.NoError(t, err)
	there := map[string]bool{}
	for _, f := range goFiles(t) {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && f.test {
				there[fn.Name.Name] = true
			}
		}
	}
	rows := regexp.MustCompile(`(?m)^\| \d+ \|.*$`).FindAllString(string(page), -1)
	if len(rows) < 50 {
		t.Fatalf("found %d promises; the page has more", len(rows))
	}
	for _, row := range rows {
		if !aTest.MatchString(row) && !aPythonTest.MatchString(row) && !strings.Contains(row, "`stress/outside") && !strings.Contains(row, "`stress/console") {
			t.Errorf("docs/guarantees.md names no test for the promise %.80s…", row)
		}
	}
	_, trust, found := strings.Cut(string(page), "\n## Who is trusted with what\n")
	trust, _, _ = strings.Cut(trust, "\n## ")
	cells := 0
	for _, row := range regexp.MustCompile(`(?m)^\| \*\*.*$`).FindAllString(trust, -1) {
		for i, cell := range strings.Split(strings.Trim(row, "| "), " | ")[1:] {
			if cells++; !aTest.MatchString(cell) {
				t.Errorf("docs/guarantees.md names no test for cell %d of %.60s…", i+1, row)
			}
		}
	}
	if !found || cells != 30 {
		t.Errorf("the page says of %d cells what somebody is trusted with, want 30", cells)
	}
	named := aTest.FindAllStringSubmatch(string(page), -1)
	if len(named) < 100 {
		t.Fatalf("found %d names of tests; the page has more", len(named))
	}
	for _, name := range named {
		if !there[name[1]] {
			t.Errorf("docs/guarantees.md names %s, which is no test in the tree", name[1])
		}
	}
	var python []byte
	for _, folder := range []string{"python", "examples"} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "tests", "*.py"))
		require.NoError(t, err)
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			python = append(python, b...)
		}
	}
	for _, name := range aPythonTest.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(string(python), "def "+name[1]+"(") {
			t.Errorf("docs/guarantees.md names %s, which is no test in Python", name[1])
		}
	}
}

var aPythonTest = regexp.MustCompile("`(test_[a-z_0-9]+)`")
