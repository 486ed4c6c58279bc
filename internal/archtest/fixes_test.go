package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestFixesNameNoPath: every audience reads what an error says of itself, so it names no
// path and no header. The row of its code says that to those who send requests.
func TestFixesNameNoPath(t *testing.T) {
	http := regexp.MustCompile(`/v1/|X-Hub-|\b(GET|POST|PUT|DELETE) `)
	fixes := 0
	for _, f := range goFiles(t) {
		if f.test || strings.HasPrefix(f.path, "cli") || strings.HasPrefix(f.path, "relay") { // a spool holds paths
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); !ok || method.Sel.Name != "WithFix" {
				return true
			}
			fixes++
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && http.MatchString(text.Value) {
						t.Errorf("%s: the fix %s names a path or a header", f.path, text.Value)
					}
					return true
				})
			}
			return true
		})
	}
	if fixes < 100 {
		t.Errorf("found only %d fixes", fixes)
	}
}
