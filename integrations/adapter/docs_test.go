package adapter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// The table of the documentation stands between these lines.
const tableBegin, tableEnd = "<!-- rows: written by the test of integrations/adapter -->\n", "<!-- end of rows -->\n"

// TestTableOfTheDocumentation: the table equals the rows of the code.
func TestTableOfTheDocumentation(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "adapters.md")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), tableBegin)
	table, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("%s has no table of rows", name)
	}
	want := documented()
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(before+tableBegin+want+tableEnd+after), 0o644))
		return
	}
	if table != want {
		t.Errorf("the table of %s is not that of the rows; write it with: go test ./integrations/adapter -run Documentation -update\n%s", name, want)
	}
}

func documented() string {
	var b strings.Builder
	b.WriteString("| Harness | Found by | Scope | Servers | Hooks | Text | Permissions |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range rows() {
		r := &rows()[i]
		found := append([]string{}, r.harness.Facts().Programs...)
		for _, f := range r.folders {
			found = append(found, strings.TrimSuffix(string(f), "/"))
		}
		for _, scope := range r.scopes() {
			s := r.setup(scope)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.harness, codes(found), scope,
				placesAsText(s, hub.PartMCP, s.mcp), placesAsText(s, hub.PartHooks, s.hooks), teachAsText(s), permissionsAsText(s))
			if own := s.own; own != nil {
				fmt.Fprintf(&b, "| %s |  | %s, own files | %s | %s | %s | %s |\n", r.harness, scope,
					placesAsText(&own.setup, hub.PartMCP, own.mcp), placesAsText(&own.setup, hub.PartHooks, own.hooks), teachAsText(&own.setup), permissionsAsText(&own.setup))
			}
			found = nil
		}
	}
	return b.String()
}

func placesAsText(s *setup, part hub.AdapterPartName, pieces []piece) string {
	var lists []string
	for _, p := range pieces {
		var names []string
		for _, place := range p.places {
			names = append(names, string(place))
		}
		if text := codes(names); !slices.Contains(lists, text) {
			lists = append(lists, text)
		}
	}
	if len(lists) == 0 {
		return "- (" + s.lacking[part] + ")"
	}
	return strings.Join(lists, " and ")
}

func permissionsAsText(s *setup) string {
	if s.allow != nil {
		return fmt.Sprintf("`%s: %v`", s.allow.member, s.allow.value)
	}
	if s.approve != nil {
		return fmt.Sprintf("`%s`: each tool by name", s.approve.member)
	}
	var rules []string
	for _, p := range s.permit {
		if p.mark == nil { // a file of its own
			return code(p.places[len(p.places)-1])
		}
		rules = append(rules, p.mark(Entry{Command: "/path/hubcli"}))
	}
	if len(rules) == 0 {
		return "-"
	}
	return codes(rules)
}

func code(p place) string { return codes([]string{string(p)}) }

func teachAsText(s *setup) string {
	if len(s.teach) == 0 {
		return "-"
	}
	return codes([]string{string(s.teach[0])})
}

func codes(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
