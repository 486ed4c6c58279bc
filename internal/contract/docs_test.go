package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// errorRow matches a row of the table of errors: its code and its status, or
// two statuses if the call decides.
var errorRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]+[^|]*) \\|")

// TestErrorTable: the table of errors in docs/api.md has a row for each code that a hub
// may answer, with its usual status, and no other row.
func TestErrorTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "\n## Errors\n")
	table, _, _ = strings.Cut(table, "\n## ")
	statuses := regexp.MustCompile("[0-9]+")
	twice := map[hub.Code]bool{hub.CodeChannelNotFound: true, hub.CodeRunNotFound: true} // a post answers them with 400
	documented := map[hub.Code]string{}
	for _, row := range errorRow.FindAllStringSubmatch(table, -1) {
		code := hub.Code(row[1])
		if documented[code] != "" {
			t.Errorf("docs/api.md has two rows for %s", code)
		}
		documented[code] = row[2]
	}
	for code, status := range hub.Codes() {
		got := documented[code]
		if numbers := statuses.FindAllString(got, -1); !slices.Contains(numbers, strconv.Itoa(status)) || len(numbers) > 1 && !twice[code] {
			t.Errorf("%s has the status %d in hub/code.go and %q in the table of errors in docs/api.md", code, status, got)
		}
		delete(documented, code)
	}
	for code := range documented {
		t.Errorf("docs/api.md has a row for %s, which hub/code.go does not define as a code that a hub answers", code)
	}
}
