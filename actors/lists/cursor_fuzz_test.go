package lists

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"hubcli/hub"
)

// FuzzCursor: no text is a cursor but those that the hub has made, for their list alone.
func FuzzCursor(f *testing.F) {
	c := cursors{func(text string) []byte {
		m := hmac.New(sha256.New, []byte("key"))
		m.Write([]byte(text))
		return m.Sum(nil)
	}}
	good := c.at(listTasks, []byte("place"))
	for _, s := range []string{"", "a", string(good), string(good) + "A", string(good[1:]), string(good) + "\n", "\xff", "===="} {
		f.Add(s, byte(listTasks))
	}
	f.Add(string(good), byte(listRuns))
	f.Fuzz(func(t *testing.T, s string, list byte) {
		place, found, err := c.place(listOf(list), hub.Cursor(s))
		if err == nil && found && c.at(listOf(list), place) != hub.Cursor(s) {
			t.Fatalf("%q is taken as the place %q of list %d", s, place, list)
		}
		if err == nil && !found && s != "" {
			t.Fatalf("%q is taken for the beginning", s)
		}
	})
}
