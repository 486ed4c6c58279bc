package mcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hubcli/hub"
)

var spokenElsewhere = regexp.MustCompile(`(GET|POST|PUT|PATCH|DELETE) /|hubcli `)

// TestFixesSpeakToAModel: whatever the hub advises, with whatever code, a tool
// answers with what a model can do; but what is its user's to do it hands on.
func TestFixesSpeakToAModel(t *testing.T) {
	fixes := append(fixesOfTheHub(t), "list them with GET /v1/things", "run hubcli ensure", "")
	if len(fixes) < 50 {
		t.Fatalf("only %d fixes are found in the code of the hub", len(fixes))
	}
	for code, status := range hub.Codes() {
		if users[code] {
			continue
		}
		for _, fix := range fixes {
			said := wayOut(&hub.Error{Code: code, Status: status, Fix: fix})
			if spokenElsewhere.MatchString(said) || said == "" {
				t.Errorf("%s with the fix %q is answered with %q", code, fix, said)
			}
		}
	}
}

// TestToolsOwnWordsCount: the table counts before what the hub says, and what a tool
// has said of its own errors before the table.
func TestToolsOwnWordsCount(t *testing.T) {
	for _, c := range []struct {
		code      hub.Code
		fix, want string
	}{
		{hub.CodeRoomNotFound, "hubcli room list lists rooms", ways[hub.CodeRoomNotFound]},
		{hub.CodeTaskNotFound, "wait on with hub_rpc_call", "wait on with hub_rpc_call"},
		{hub.CodeInvalid, "give a number", "give a number"},
		{hub.CodeSpawnNotAllowed, "ask the operator to set remote in PUT /v1/spawn/policy", "ask the operator to set remote in PUT /v1/spawn/policy"},
	} {
		if got := wayOut(hub.NewError(c.code, "x").WithFix(c.fix)); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.code, c.fix, got, c.want)
		}
	}
}

// fixesOfTheHub returns the literals given to WithFix in the packages that answer.
func fixesOfTheHub(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"actors", "hub", "api", "httpapi", "integrations/folders", "persistence/search"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "WithFix" {
						out = append(out, literal(call.Args[0]))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// literal is what an expression says, with x for what is known at run time alone.
func literal(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(v.Value); err == nil {
			return s
		}
	case *ast.BinaryExpr:
		return literal(v.X) + literal(v.Y)
	}
	return "x"
}
