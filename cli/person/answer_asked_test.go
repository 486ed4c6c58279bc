package person

import (
	"testing"

	"hubcli/hub"
)

// TestWordsOfOnesOwn: what is none of the options of a question is words of one's own. A question
// without options has no others, and the reason behind deny belongs to the option.
func TestWordsOfOnesOwn(t *testing.T) {
	options := []string{"yes", "no"}
	later := "later"
	for _, c := range []struct {
		ask    hub.Ask
		answer string
		free   bool
	}{
		{hub.Ask{Options: options}, "yes", false},
		{hub.Ask{Options: options}, " no ", false},
		{hub.Ask{Options: options}, "maybe", true},
		{hub.Ask{Options: options}, "Yes", true},
		{hub.Ask{Options: options}, "", true},
		{hub.Ask{Options: options, Default: &later}, "later", false},
		{hub.Ask{}, "plain words", false},
		{hub.Ask{Permission: &hub.PermissionPrompt{}}, "deny: not today", false},
	} {
		if got := isFree(&c.ask, c.answer); got != c.free {
			t.Errorf("%q to %q: %v, want %v", c.answer, c.ask.Choices(), got, c.free)
		}
	}
}
