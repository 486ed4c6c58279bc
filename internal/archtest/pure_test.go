package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// clock lists what reads or runs the clock. Types and constants of package time
// are free to use.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// impure lists the standard packages through which a core would see the world.
// net/http is named for its status constants alone, which hub uses.
var impure = []string{
	"os", "os/exec", "os/signal", "io/ioutil", "net", "syscall", "path/filepath", "log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand", "runtime", "unsafe",
}

// pureModule is the one package of other people that a core may use: tables and
// functions of characters. Only deciding asks it; what it said stands in facts,
// so that a later version of its tables replays the same.
const pureModule = "golang.org/x/text/unicode/norm"

// A core that reads a clock, a random source or a file would not give the same
// state when the journal is replayed.
func TestCoresArePure(t *testing.T) {
	for _, f := range goFiles(t) {
		l, _ := layerOf(f.dir)
		if !l.pure || f.test {
			continue
		}
		for _, imported := range f.imports {
			first, _, _ := strings.Cut(imported, "/")
			if !within(imported, module) && strings.Contains(first, ".") && imported != pureModule {
				t.Errorf("%s imports %s: %s imports the standard library and hub alone", f.path, imported, f.dir)
			}
			if slices.Contains(impure, imported) || imported == "net/http" && f.dir != "hub" {
				t.Errorf("%s imports %s: a replay must give the state that was live", f.path, imported)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s:%d starts a goroutine: an actor owns each state, and nothing else touches it", f.path, f.line(n.Pos()))
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					t.Errorf("%s:%d uses time.%s: cores take the time as an argument", f.path, f.line(n.Pos()), n.Sel.Name)
				}
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "http" && !strings.HasPrefix(n.Sel.Name, "Status") {
					t.Errorf("%s:%d uses http.%s: only the status constants are vocabulary", f.path, f.line(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}
