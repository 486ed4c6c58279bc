package gate_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/gate"
	"hubcli/api"
	"hubcli/internal/require"
)

var rewrite = flag.Bool("rewrite", false, "print docs/rules.md anew")

// TestEveryWriteHasItsRules: each write of the wire has a row, each row is one of a write, and each
// cell is chosen: a rule that does not apply says why.
func TestEveryWriteHasItsRules(t *testing.T) {
	rows := map[string]gate.Row{}
	for _, r := range gate.Rows() {
		if _, twice := rows[r.Op]; twice {
			t.Errorf("%s has two rows", r.Op)
		}
		rows[r.Op] = r
	}
	if !slices.IsSortedFunc(gate.Rows(), func(a, b gate.Row) int { return strings.Compare(a.Op, b.Op) }) {
		t.Error("the rows are not in the order of their operations")
	}
	for _, op := range api.Operations() {
		row, has := rows[op.ID]
		delete(rows, op.ID)
		if !op.Changes() {
			if has {
				t.Errorf("%s is a read and has a row", op.ID)
			}
			continue
		}
		if !has {
			t.Errorf("%s is a write and has no row: say in the table which rules apply to it", op.ID)
			continue
		}
		for rule, cell := range map[string]gate.Cell{
			"answer": row.Answer, "paused": row.Paused, "archived": row.Archived, "loops": row.Loops, "muted": row.Muted,
		} {
			if !cell.Applies && cell.Why == "" {
				t.Errorf("%s: the rule %s does not apply, and nothing says why", op.ID, rule)
			}
		}
		if row.Paused.Applies && op.Plane == api.PlaneOperator {
			t.Errorf("%s: only the operator calls it, and nothing pauses the operator", op.ID)
		}
		if !row.Paused.Applies && op.Plane != api.PlaneOperator && strings.HasPrefix(row.Paused.Why, "only the operator") {
			t.Errorf("%s: others than the operator call it, and a pause of them does not count", op.ID)
		}
	}
	for op := range rows {
		t.Errorf("the row of %s is of no operation", op)
	}
}

// TestRulesAreTold: docs/rules.md says what the table says.
func TestRulesAreTold(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "rules.md")
	page := gate.Page(otherUsers())
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(was) != page {
		t.Error("docs/rules.md is not what the table says: run go generate ./actors/gate")
	}
}

// otherUsers says for each operation why another user of the machine may not call it.
func otherUsers() map[string]string {
	why := map[string]string{}
	for _, op := range api.Operations() {
		switch {
		case op.Plane == api.PlaneOperator:
			why[op.ID] = "only the operator calls it"
		case op.OwnUser != "":
			why[op.ID] = op.OwnUser
		}
	}
	return why
}
