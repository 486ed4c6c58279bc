package capsules

import (
	"strings"
	"testing"

	"hubcli/hub"
)

// Every kind of things that is left out has words for people, not a name of a program.
func TestLeftOutThingsHaveWords(t *testing.T) {
	for _, kind := range []string{leftDirect, leftTasks, leftNamed, leftRuns, leftBinary, leftMemories, leftMetadata, leftContent} {
		for _, n := range []int{1, 2} {
			if got := hub.LeftOutWords(map[string]int{kind: n}, func(int64) string { return "2" }); strings.Contains(got, "_") {
				t.Errorf("%d %s are %q", n, kind, got)
			}
		}
	}
	if got := hub.LeftOutWords(map[string]int{leftDirect: 0}, nil); got != "nothing" {
		t.Errorf("no thing is %q", got)
	}
}
