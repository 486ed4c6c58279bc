package power

import (
	"strings"
	"testing"
)

// TestLedgerSeesBrokenPromises: each loss that a cut may bring is told of, and a whole history
// is not.
func TestLedgerSeesBrokenPromises(t *testing.T) {
	const before = "@@posted 1 a\n@@posted 2 b\n@@granted k 7\n"
	for _, c := range []struct{ name, after, want string }{
		{"all is there", "@@row 1 a\n@@row 2 b\n@@row 3 unanswered\n@@held k 7\n@@checked", ""},
		{"lines of the kernel", "EXT4-fs: recovery complete\n@@row 1 a\n@@row 2 b\n@@held k 7\n@@checked", ""},
		{"a lost message", "@@row 1 a\n@@held k 7\n@@checked", "1 of 2 acknowledged messages are lost, such as 2"},
		{"a changed message", "@@row 1 a\n@@row 2 c\n", `message 2 was "b" and is now "c"`},
		{"an id that is given again", "@@row 1 a\n@@row 2 b\n@@held k 7\n@@checked\n@@posted 2 new", "message 2 was"},
		{"a message that is there twice", "@@row 1 a\n@@row 2 b\n@@row 4 a\n", "is there as 1 and as 4"},
		{"a lost claim", "@@row 1 a\n@@row 2 b\n@@checked", "claim k was granted with fence 7"},
		{"another fence", "@@row 1 a\n@@row 2 b\n@@held k 8\n@@checked", "fence 8"},
		{"a mistake in the machine", "@@failed no disk", "in the machine: no disk"},
		{"a line that is cut", "@@row x", "no id"},
	} {
		l := newLedger()
		l.begin()
		var err error
		for line := range strings.Lines(before) {
			if err := l.take(line); err != nil {
				t.Fatal(err)
			}
		}
		l.begin()
		for line := range strings.Lines(c.after) {
			if err == nil {
				err = l.take(line)
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
