package hub

import (
	"strings"
	"testing"
)

// TestThreadsOfImportsMayBeLonger: by the marks of imports, and by nothing else.
func TestThreadsOfImportsMayBeLonger(t *testing.T) {
	long := strings.Repeat("n", MaxNameChars)
	for id, taken := range map[string]bool{
		"parser": true, long: true, long + "@p_5x": true, long + "@p_5x@p_7": true, "@p_5x": true, "@p_5x@p_5x": true,
		"": false, long + "n": false, long + "n@p_5x": false, long + "@p_5X": false, long + "@p_": false, long + "@q_5": false,
		long + "@p_5x ": false, "a\nb@p_5x": false, long + strings.Repeat("@p_5x", 21): false, "\xff@p_5x": false,
	} {
		if err := CheckThread("thread_id", ThreadID(id)); (err == nil) != taken {
			t.Errorf("%.30q of %d bytes: %v", id, len(id), err)
		}
	}
}
