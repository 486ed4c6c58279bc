package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// unknown is the cell of the matrix that nothing measured.
const unknown = "unknown"

// matrixRows are the rows of the matrix, in the order of docs/harnesses.md.
var matrixRows = []string{
	"connects", "tools seen", "deferred tools", "tool calls allowed", "identity", "session-start text", "mail during a turn",
	"mail at the end of a turn", "mail that was read", "idle wake", "driven by `hubcli run`", "operator's words", "bridge killed", "harness killed", "terminal quit", "resumed", "compacted", "edit of a locked file", "permission prompt",
	"permission prompt in the inbox", "sub-agents", "tokens", "error of the model", "end of session",
}

// matrixHarnesses are the columns of the matrix.
var matrixHarnesses = []struct{ id, title string }{
	{"claude-code", "Claude Code"},
	{"codex", "Codex"},
	{"gemini-cli", "Gemini CLI"},
	{"qwen-code", "Qwen Code"},
	{"opencode", "opencode"},
	{"copilot-cli", "Copilot CLI"},
	{"cline", "Cline CLI"},
	{"droid", "Droid"},
	{"kimi", "Kimi Code"},
}

// matrix holds what a run measured: the cells of a harness by the names of their rows.
type matrix map[string]map[string][]string

// readMatrix reads what the tests wrote. A file that is absent holds nothing.
func readMatrix(file string) (matrix, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	m := matrix{}
	for line := range bytes.Lines(text) {
		var note struct{ Harness, Row, Cell string }
		if err := json.Unmarshal(line, &note); err != nil {
			return nil, fmt.Errorf("the matrix has a line that is none: %q: %w", line, err)
		}
		if note.Row != "version" && !slices.Contains(matrixRows, note.Row) {
			return nil, fmt.Errorf("the matrix has no row %q", note.Row)
		}
		if m[note.Harness] == nil {
			m[note.Harness] = map[string][]string{}
		}
		m[note.Harness][note.Row] = append(m[note.Harness][note.Row], note.Cell)
	}
	return m, nil
}

// table returns the matrix as docs/harnesses.md shows it, with the day of the run.
func (m matrix) table(day time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s on %s.\n\n|", day.Format(time.DateOnly), runtime.GOOS)
	for _, h := range matrixHarnesses {
		fmt.Fprintf(&b, " | %s %s", h.title, m.cell(h.id, "version"))
	}
	b.WriteString(" |\n|" + strings.Repeat(" --- |", len(matrixHarnesses)+1) + "\n")
	for _, row := range matrixRows {
		b.WriteString("| " + row)
		for _, h := range matrixHarnesses {
			b.WriteString(" | " + m.cell(h.id, row))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

func (m matrix) cell(harness, row string) string {
	if notes := m[harness][row]; len(notes) > 0 {
		return strings.ReplaceAll(strings.Join(notes, ", "), "|", `\|`)
	}
	return unknown
}
