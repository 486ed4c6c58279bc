package redact

import (
	"os"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// falsePositives is the largest share of lines of ordinary talk that may change.
const falsePositives = 0.01

func talk(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/talk.txt")
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestOrdinaryTalkStays redacts what agents write all day. The machine of the test has
// names and addresses that the lines do not have.
func TestOrdinaryTalkStays(t *testing.T) {
	lines := talk(t)
	if len(lines) < 300 {
		t.Errorf("there are %d lines only", len(lines))
	}
	r := newRedactor(t, machine())
	changed := 0
	for _, line := range lines {
		if got := r.Text(line); got != line {
			changed++
			t.Logf("changed: %s", got)
		}
	}
	t.Logf("%d of %d lines of ordinary talk changed", changed, len(lines))
	if float64(changed) > falsePositives*float64(len(lines)) {
		t.Errorf("%d of %d lines changed, more than %.0f %%", changed, len(lines), 100*falsePositives)
	}
	// The same lines in one text.
	whole := strings.Join(lines, "\n")
	if got := len(tagPattern.FindAllString(r.Text(whole), -1)); got > changed+2 {
		t.Errorf("%d places of the whole text changed, and %d of its lines alone", got, changed)
	}
}
