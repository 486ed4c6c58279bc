package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"hubcli/internal/require"
)

// TestGuaranteesNameTests holds docs/guarantees.md to the tree: each test that a
// promise names exists. A test that was renamed must be renamed there too.
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
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)[`/]").FindAllStringSubmatch(string(page), -1)
	if len(named) < 100 {
		t.Fatalf("found %d names of tests; the page has more", len(named))
	}
	for _, name := range named {
		if !there[name[1]] {
			t.Errorf("docs/guarantees.md names %s, which is no test in the tree", name[1])
		}
	}
}
