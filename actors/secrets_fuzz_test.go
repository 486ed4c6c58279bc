package actors

import (
	"regexp"
	"testing"
)

var renderedCode = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)

// FuzzInviteCode: a typed code is refused, or has the one form in which codes are rendered.
func FuzzInviteCode(f *testing.F) {
	for _, s := range []string{"7KQ2-M9XD", "7kq2m9xd", " 7KQ2-M9XD\n", "oiL0-0000", "7KQ2-M9X", "7KQ2M\n9X", "ABC\rDEFG", "--------", "ＡＢＣＤ-0000", "ı000-0000", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := foldCode(typed)
		if !ok {
			return
		}
		if !renderedCode.MatchString(code) {
			t.Errorf("%q is taken as %q", typed, code)
		}
		if again, ok := foldCode(code); !ok || again != code {
			t.Errorf("%q is taken as %q, and that as %q", typed, code, again)
		}
	})
}
