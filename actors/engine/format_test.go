package engine

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/internal/formatlist"
	"hubcli/internal/require"
)

var updateFormat = flag.Bool("update", false, "add what has a number of the store's format to the list")

// TestStoredThingsHaveNumbers holds the kinds of stored answers and the rows that the
// engine makes; see the test of this name in package core.
func TestStoredThingsHaveNumbers(t *testing.T) {
	var things []formatlist.Thing
	file, err := parser.ParseFile(token.NewFileSet(), "codec.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Effect") {
			return true
		}
		number := spec.Values[0].(*ast.BasicLit).Value
		var kind uint8
		_, err := fmt.Sscan(number, &kind)
		require.NoError(t, err)
		things = append(things, formatlist.Thing{Name: fmt.Sprintf("effect %d (%s)", kind, spec.Names[0]), Number: core.StoreFormats().EffectNumber(kind)})
		return true
	})
	if len(things) < 20 {
		t.Errorf("%d kinds of answers were found", len(things))
	}
	for table, v := range map[core.Table]any{core.TableQuarantine: quarantineRow{}, core.TableDirty: dirtyRow{}} {
		things = append(things, formatlist.Members(fmt.Sprintf("table %d", table), v, func(path []string) int {
			return core.StoreFormats().MemberNumber(core.FormatMember{Table: table}, path)
		})...)
	}
	formatlist.Check(t, "testdata/format.txt", things, *updateFormat)
}
