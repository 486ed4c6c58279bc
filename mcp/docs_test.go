package mcp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// toolsTable is the table of docs/tools.md.
func toolsTable() string {
	var b strings.Builder
	b.WriteString("| Tool | Use | Arguments | |\n| --- | --- | --- | --- |\n")
	for _, t := range table() {
		var names []string
		for _, name := range t.form().input.PropertyOrder {
			if slices.Contains(t.form().input.Required, name) {
				name = "**" + name + "**"
			}
			names = append(names, name)
		}
		var marks []string
		for _, m := range []struct {
			is   bool
			word string
		}{{slices.Contains(few, t.name), "always shown"}, {t.reads, "reads"}, {t.idempotent, "idempotent"}} {
			if m.is {
				marks = append(marks, m.word)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", t.name, strings.ReplaceAll(t.description, "|", `\|`), strings.Join(names, ", "), strings.Join(marks, ", "))
	}
	return b.String()
}

// TestToolsAreDocumented: docs/tools.md lists the tools that there are, with their
// arguments, and nothing else.
func TestToolsAreDocumented(t *testing.T) {
	const path, begin, end = "../docs/tools.md", "<!-- table: go test ./mcp -run Documented -rewrite -->\n", "<!-- end of table -->\n"
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), begin)
	listed, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between its marks", path)
	}
	want := toolsTable()
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644))
		return
	}
	if listed != want {
		t.Errorf("%s lists other tools than there are; if that is meant: go test ./mcp -run Documented -rewrite", path)
	}
	for _, figure := range []string{fmt.Sprint(maxProgressiveTokens), fmt.Sprint(maxFullTokens), fmt.Sprint(maxAnswer)} {
		if !strings.Contains(strings.ReplaceAll(string(b), " ", ""), figure) {
			t.Errorf("%s does not name the limit %s", path, figure)
		}
	}
}
