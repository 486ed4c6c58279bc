package hub_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestDigestNamesTheQuestion: whatever differs in what a human is shown, the digest differs, and
// what happens to a question leaves it alone. A text cannot pass for the members beside it.
func TestDigestNamesTheQuestion(t *testing.T) {
	asked := func(change func(*hub.Ask)) string {
		a := hub.Ask{AskID: "ask_7", AgentID: "qa-1", Question: "Bash: go test ./cart", Options: []string{"a", "b"}, MessageID: 3, CreatedAt: 1_000, State: hub.AskOpen}
		change(&a)
		text, err := json.Marshal(a) // as a client has read it
		var read hub.Ask
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil || read.DigestOf() != a.DigestOf() {
			t.Errorf("the digest of %s is another one after it was read: %v", text, err)
		}
		return a.DigestOf()
	}
	first := asked(func(*hub.Ask) {})
	seen := map[string]int{first: -1}
	for i, change := range []func(*hub.Ask){
		func(a *hub.Ask) { a.AskID = "ask_8" },
		func(a *hub.Ask) { a.AgentID = "qa-2" },
		func(a *hub.Ask) { a.Question = "Bash: rm -rf /home/sam/shop" },
		func(a *hub.Ask) { a.Options = []string{"b", "a"} },
		func(a *hub.Ask) { a.Options = []string{`a","b`} },
		func(a *hub.Ask) { a.Options = []string{"a"} },
		func(a *hub.Ask) { a.Default = new("a") },
		func(a *hub.Ask) { a.RoomID = new(hub.RoomID("r_1")) },
		func(a *hub.Ask) { a.Blocks = new(hub.TaskID(4)) },
		func(a *hub.Ask) { a.ArtifactID = new(hub.ArtifactID("a_1")) },
		func(a *hub.Ask) { a.MessageID = 4 },
		func(a *hub.Ask) { a.CreatedAt = 1_001 },
		func(a *hub.Ask) { a.Permission = &hub.PermissionPrompt{Tool: "Bash"} },
		func(a *hub.Ask) { a.Permission = &hub.PermissionPrompt{Tool: "Bash", Folder: "/home/sam"} },
	} {
		digest := asked(change)
		if other, same := seen[digest]; same {
			t.Errorf("changes %d and %d have the same digest", i, other)
		}
		seen[digest] = i
	}
	if asked(func(a *hub.Ask) {
		a.State, a.Answer, a.ClosedBy, a.DeadlineAt = hub.AskAnswered, new("a"), "eva", new(hub.Time(9))
	}) != first {
		t.Error("an answer changes the digest")
	}
}

// TestNearlyAnOption: a word that may be meant as a choice is told from choices and from words.
func TestNearlyAnOption(t *testing.T) {
	yesNo := &hub.Ask{Options: []string{"yes", "no"}}
	regions := &hub.Ask{Options: []string{"eu-central", "eu-west", "us-east"}}
	colors := &hub.Ask{Options: []string{"Red", "red", "Blue"}}
	later := &hub.Ask{Options: []string{"now"}, Default: new("tomorrow")}
	prompt := &hub.Ask{Permission: &hub.PermissionPrompt{Tool: "Bash"}}
	wide := &hub.Ask{Options: []string{"löschen", "削除する", "نعم", "👍"}}
	open := &hub.Ask{}
	for _, c := range []struct {
		ask    *hub.Ask
		answer string
		near   string // separated by |
	}{
		{yesNo, "yes", ""},
		{yesNo, " yes\n", ""},
		{yesNo, "no", ""},
		{yesNo, "yse", "yes"},
		{yesNo, "Yes", "yes"},
		{yesNo, "YES!", "yes"},
		{yesNo, "ye", "yes"},
		{yesNo, "y", "yes"},
		{yesNo, "yess", "yes"},
		{yesNo, "n", "no"},
		{yesNo, "on", "no"},
		{yesNo, "go", "no"},
		{yesNo, "es", "yes"},
		{yesNo, "y e s", "yes"},
		{yesNo, "y\u200bes", "yes"},
		{yesNo, "2", "no"},
		{yesNo, " 1 ", "yes"},
		{yesNo, "3", ""},
		{yesNo, "0", ""},
		{yesNo, "maybe", ""},
		{yesNo, "yes, but only the staging cluster", ""},
		{yesNo, "do not", ""},
		{yesNo, "?", ""},
		{yesNo, "", ""},
		{regions, "eu", "eu-west|eu-central"},
		{regions, "eu-wst", "eu-west"},
		{regions, "EU-Central", "eu-central"},
		{regions, "us_east", "us-east"},
		{regions, "asia", ""},
		{colors, "RED", "Red|red"},
		{colors, "red", ""},
		{colors, "bleu", "Blue"},
		{later, "tomorrow", ""},
		{later, "tomorow", "tomorrow"},
		{later, "never", ""},
		{prompt, "allow", ""},
		{prompt, "alow", "allow"},
		{prompt, "a", "allow"},
		{prompt, "Allow", "allow"},
		{prompt, "deny", ""},
		{prompt, "deny: not on Fridays", ""},
		{prompt, "dney", "deny"},
		{prompt, "allow: yes", ""},
		{prompt, "1", "allow"},
		{wide, "loschen", "löschen"},
		{wide, "LÖSCHEN", "löschen"},
		{wide, "削除", "削除する"},
		{wide, "نعم.", "نعم"},
		{wide, "👍", ""},
		{wide, "👎", ""},
		{open, "yes", ""},
		{open, "1", ""},
	} {
		if got := strings.Join(c.ask.Near(c.answer), "|"); got != c.near {
			t.Errorf("%q of %q is near to %q, want %q", c.answer, c.ask.Choices(), got, c.near)
		}
	}
	if got, ok := yesNo.Chosen(" no\t"); !ok || got != "no" {
		t.Errorf("a choice with space around it is %q, %v", got, ok)
	}
	if _, ok := yesNo.Chosen("No"); ok {
		t.Error("capitals make no difference")
	}
}

// TestNearOfLongTexts: the longest texts are compared at once.
func TestNearOfLongTexts(t *testing.T) {
	a := &hub.Ask{}
	for i := range hub.MaxAskOptions {
		a.Options = append(a.Options, strings.Repeat("世", hub.MaxAskOptionChars-i))
	}
	if got := a.Near(strings.Repeat("界", hub.MaxAskOptionChars)); len(got) > 0 {
		t.Errorf("near to %d texts", len(got))
	}
	if got := a.Near(strings.Repeat("x", hub.MaxAnswerChars)); len(got) > 0 {
		t.Errorf("near to %d texts", len(got))
	}
	if got := a.Near(a.Options[0] + "!"); len(got) == 0 || !slices.Contains(got, a.Options[0]) {
		t.Errorf("near to %d texts", len(got))
	}
}
