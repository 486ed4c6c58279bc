package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

// The matrix shows what the tests wrote, and nothing that they did not measure.
func TestMatrixShowsWhatWasMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "matrix.jsonl")
	none, err := readMatrix(file)
	require.NoError(t, err)
	empty := none.table(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
	if want := (len(matrixRows) + 1) * len(matrixHarnesses); strings.Count(empty, unknown) != want {
		t.Errorf("a run that measured nothing knows something:\n%s", empty)
	}

	require.NoError(t, os.WriteFile(file, []byte(`{"harness":"codex","row":"version","cell":"1.2.3"}
{"harness":"codex","row":"tool calls allowed","cell":"start"}
{"harness":"codex","row":"tool calls allowed","cell":"a | b"}
`), 0o600))
	m, err := readMatrix(file)
	require.NoError(t, err)
	table := m.table(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		"Measured on 2026-11-23",
		"| | Claude Code unknown | Codex 1.2.3 | Gemini CLI unknown |",
		`| tool calls allowed | unknown | start, a \| b | unknown | unknown | unknown |`,
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if got := strings.Count(table, "\n"); got != len(matrixRows)+4 {
		t.Errorf("%d lines in\n%s", got, table)
	}

	require.NoError(t, os.WriteFile(file, []byte(`{"harness":"codex","row":"no such","cell":"yes"}`), 0o600))
	if _, err := readMatrix(file); err == nil {
		t.Error("a row that the matrix does not have was taken")
	}
}

// The page that shows the matrix has its rows.
func TestMatrixIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/harnesses.md")
	require.NoError(t, err)
	rest := string(page)
	for _, row := range matrixRows {
		_, after, found := strings.Cut(rest, "\n| "+row+" | ")
		if !found {
			t.Fatalf("docs/harnesses.md has no row %q at its place", row)
		}
		rest = "\n" + after
	}
}
