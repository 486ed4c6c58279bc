package mcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// spokenElsewhere finds what only another client of the hub can follow. It is looked
// for in the source, so that no text has to be searched when an error is shown.
var spokenElsewhere = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) /|/v1/|\bhubcli |Idempotency-Key|X-Hub-|Retry-After`)

// TestFixesSpeakToAModel: the row of a code whose words for HTTP a model cannot
// follow has words for a model, and so has the row of each code of which the hub says
// such a thing in a single error. What is the operator's to do is handed on.
func TestFixesSpeakToAModel(t *testing.T) {
	for code, info := range hub.CodeInfos() {
		if spokenElsewhere.MatchString(info.HTTP) && info.Model == "" && !info.Operator {
			t.Errorf("%s: add Model to its row in hub/code.go: a model cannot follow %q", code, info.HTTP)
		}
		if spokenElsewhere.MatchString(info.Model) {
			t.Errorf("%s: a model cannot follow %q", code, info.Model)
		}
		if strings.Contains(info.HTTP+info.CLI, prefix) {
			t.Errorf("%s: a tool is named to who has none", code)
		}
	}
	all := fixesOfTheHub(t)
	if len(all) < 50 {
		t.Fatalf("only %d fixes are found in the code of the hub", len(all))
	}
	names := codesByName(t)
	for _, fix := range all {
		info := hub.InfoOf(names[fix.code])
		if spokenElsewhere.MatchString(fix.text) && info.Model == "" && !info.Operator {
			t.Errorf("%s: %q with the code %q: say it without paths, headers and commands, or in the code's row in hub/code.go", fix.at, fix.text, fix.code)
		}
	}
}

// TestWayOut: what a tool has said of an error counts before the row, and the row
// before what the hub has answered.
func TestWayOut(t *testing.T) {
	row := hub.InfoOf(hub.CodeRoomNotFound).Model
	for _, c := range []struct {
		err  *hub.Error
		want string
	}{
		{&hub.Error{Code: hub.CodeRoomNotFound, Fix: "hubcli room list lists rooms", Answered: true}, row},
		{hub.NewError(hub.CodeRoomNotFound, "").WithFix("wait on with hub_rpc_call"), "wait on with hub_rpc_call"},
		{hub.NewError(hub.CodeRoomNotFound, ""), row},
		{&hub.Error{Code: hub.CodeInvalid, Fix: "give a number", Answered: true}, "give a number"},
		{&hub.Error{Code: hub.CodeSpawnNotAllowed, Fix: "ask the operator", Answered: true}, "ask the operator"},
		{&hub.Error{Code: "a_code_of_the_future", Status: 400}, "change the arguments: the schema of the tool says what it takes"},
	} {
		if got := wayOut(c.err); got != c.want {
			t.Errorf("%+v: %q, want %q", c.err, got, c.want)
		}
	}
}

// codesByName finds the value of each code's name in the source of hub.
func codesByName(t *testing.T) map[string]hub.Code {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "hub", "*.go"))
	require.NoError(t, err)
	var source []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		source = append(source, text...)
	}
	names := map[string]hub.Code{}
	for _, m := range regexp.MustCompile(`(Code\w+)\s+= define\(CodeInfo\{\s*Code: +"(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		names[m[1]] = hub.Code(m[2])
	}
	if len(names) != len(hub.CodeInfos()) {
		t.Fatalf("%d codes are found in the source, there are %d", len(names), len(hub.CodeInfos()))
	}
	return names
}

// said is a literal given to WithFix.
type said struct{ at, code, text string }

// fixesOfTheHub returns the literals given to WithFix in the packages that answer,
// each with the name of the code if the same expression makes the error.
func fixesOfTheHub(t *testing.T) []said {
	t.Helper()
	var out []said
	for _, dir := range []string{"actors", "hub", "api", "httpapi", "integrations/browser/gate", "integrations/browser/room", "integrations/folders", "integrations/spawn", "persistence"} {
		err := filepath.WalkDir(filepath.Join("..", filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(filepath.ToSlash(path), "api/client/") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "WithFix" {
						out = append(out, said{set.Position(sel.Sel.Pos()).String(), codeOf(sel.X), literal(call.Args[0])})
					}
				}
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	return out
}

// codeOf is the name of the code that a chain of calls begins with, or "".
func codeOf(e ast.Expr) string {
	name := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "Code") && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// literal returns the text of an expression, with x for each part that is known
// only at run time.
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
