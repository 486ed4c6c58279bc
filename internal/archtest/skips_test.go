package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// TestSkippedTestsSayWhatTheyNeed: what keeps a test from running is a program, which
// testprogram names, or another thing, which its text names after "needs ". internal/check
// counts them, and takes no other reason.
func TestSkippedTestsSayWhatTheyNeed(t *testing.T) {
	seen := 0
	for _, f := range goFiles(t) {
		if !f.test || f.dir == "internal/testprogram" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch receiver, _ := method.X.(*ast.Ident); {
			case method.Sel.Name == "LookPath" && receiver != nil && receiver.Name == "exec" && !mayLookFor(call):
				t.Errorf("%s looks for a program by itself: add the program to internal/testprogram, and call its Need", f.path)
			case method.Sel.Name == "SkipNow":
				t.Errorf("%s skips a test without a word", f.path)
			case method.Sel.Name != "Skip" && method.Sel.Name != "Skipf":
			case f.imported("pgregory.net/rapid") && (receiver == nil || receiver.Name != "t" || len(call.Args) == 0):
				// One example of many is left out, and the test runs.
			default:
				if seen++; !saysWhatItNeeds(call) {
					t.Errorf("%s skips a test whose text neither begins with \"needs \" nor comes from testprogram.Missing", f.path)
				}
			}
			return true
		})
	}
	if seen < 30 {
		t.Errorf("found %d tests that may be skipped; there are more", seen)
	}
}

func (f *goFile) imported(path string) bool {
	for _, i := range f.imports {
		if i == path {
			return true
		}
	}
	return false
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// mayLookFor reports whether every machine on which the tests run has the program, or whether
// it is the hub's own.
func mayLookFor(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	name, plain := text(call.Args[0])
	return !plain || name == "sh" || name == "bash" || name == "hubcli" || name == "false"
}

func saysWhatItNeeds(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	first := call.Args[0]
	for { // the beginning of a sum
		sum, ok := first.(*ast.BinaryExpr)
		if !ok {
			break
		}
		first = sum.X
	}
	if made, ok := first.(*ast.CallExpr); ok {
		of, ok := made.Fun.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Missing"
	}
	s, ok := text(first)
	return ok && strings.HasPrefix(s, "needs ")
}

// TestScriptsSayWhatTheyNeed: the same for the scripts of cmd/hubcli. A line that only a
// machine with a program runs would hide what was not tried.
func TestScriptsSayWhatTheyNeed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "cmd", "hubcli", "testdata", "script", "*.txt"))
	require.NoError(t, err)
	skip := regexp.MustCompile(`(?m)^(?:\[([^\]\n]*)\] )+skip(?: '([^'\n]*)')?$`)
	hidden := regexp.MustCompile(`(?m)^.*\[exec:.*$`)
	seen := 0
	for _, file := range files {
		script, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range hidden.FindAllString(string(script), -1) {
			t.Errorf("%s has a line for machines with a program: %s; put it into a script of its own", filepath.Base(file), line)
		}
		for _, m := range skip.FindAllStringSubmatch(string(script), -1) {
			seen++
			condition, says := m[1], m[2]
			if program, ok := strings.CutPrefix(condition, "!exec:"); ok {
				if want := testprogram.Missing(program); says != want {
					t.Errorf("%s is skipped with %q, want %q", filepath.Base(file), says, want)
				}
			} else if !strings.HasPrefix(says, "needs ") {
				t.Errorf("%s is skipped with %q, which does not begin with \"needs \"", filepath.Base(file), says)
			}
		}
	}
	if seen < 15 {
		t.Errorf("found %d scripts that may be skipped; there are more", seen)
	}
}
