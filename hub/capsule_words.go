package hub

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// LeftBinary is the kind of the artifacts that are no texts, of which a plan names some.
const LeftBinary = "binary_artifacts"

// leftKinds are the kinds of things that a capsule leaves out, in words: one, and several.
var leftKinds = sync.OnceValue(func() map[string][2]string {
	return map[string][2]string{
		"direct_messages":    {"direct message", "direct messages"},
		"direct_tasks":       {"task that a direct message opened", "tasks that direct messages opened"},
		"tasks_elsewhere":    {"task elsewhere that a task here names", "tasks elsewhere that tasks here name"},
		"runs_elsewhere":     {"run elsewhere that a task here names", "runs elsewhere that tasks here name"},
		LeftBinary:           {"artifact that is no text", "artifacts that are no texts"},
		"project_memories":   {"memory of the whole project", "memories of the whole project"},
		"oversized_metadata": {"metadata that became too large when it was redacted", "metadata that became too large when they were redacted"},
		"oversized_contents": {"content that became too large when it was redacted", "contents that became too large when they were redacted"},
	}
})

// LeftOutWords says in words how many things of each kind a capsule leaves out. A kind of a
// later version is named as it is. number writes a count.
func LeftOutWords(counts map[string]int, number func(int64) string) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		n := counts[kind]
		words, known := leftKinds()[kind]
		switch {
		case n <= 0:
		case !known:
			parts = append(parts, kind+" "+number(int64(n)))
		case n == 1:
			parts = append(parts, "1 "+words[0])
		default:
			parts = append(parts, number(int64(n))+" "+words[1])
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
