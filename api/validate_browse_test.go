package api

import (
	"strings"
	"testing"

	"hubcli/hub"
)

// TestValidateBrowse: each action takes its own members and no others.
func TestValidateBrowse(t *testing.T) {
	full := hub.BrowseInput{URL: "http://x/", Ref: "e1", Text: "t", Submit: true, Key: "Enter", Values: []string{"a"}, Full: true}
	for _, action := range hub.BrowseActions() {
		in := full
		in.AgentID, in.Action = "a", action
		if ValidateBrowse(&in, false) == nil {
			t.Errorf("%s takes everything", action)
		}
		in = hub.BrowseInput{AgentID: "a", Action: action}
		switch action { //nolint:exhaustive // the others need nothing
		case hub.BrowseOpen:
			in.URL = full.URL
		case hub.BrowseClick, hub.BrowseType:
			in.Ref = full.Ref
		case hub.BrowsePress:
			in.Key = full.Key
		case hub.BrowseSelect:
			in.Ref, in.Values = full.Ref, full.Values
		}
		if err := ValidateBrowse(&in, false); err != nil {
			t.Errorf("%s with what it needs: %v", action, err)
		}
	}
	for what, in := range map[string]hub.BrowseInput{
		"no agent": {Action: hub.BrowseBack}, "no action": {AgentID: "a"}, "another action": {AgentID: "a", Action: "evaluate"}, "no url": {AgentID: "a", Action: hub.BrowseOpen},
		"a long text": {AgentID: "a", Action: hub.BrowseType, Ref: "e1", Text: strings.Repeat("x", hub.MaxTypedChars+1)},
		"many values": {AgentID: "a", Action: hub.BrowseSelect, Ref: "e1", Values: make([]string, hub.MaxSelected+1)},
		"a long ref":  {AgentID: "a", Action: hub.BrowseClick, Ref: strings.Repeat("e", 300)},
		"the system":  {AgentID: "system", Action: hub.BrowseBack},
	} {
		if ValidateBrowse(&in, false) == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

func TestCheckPageURL(t *testing.T) {
	for _, good := range []string{"http://example.com", "https://example.com:8443/a?b=c#d", "http://[::1]:80/", "HTTP://EXAMPLE.com/", "http://bücher.example/ä"} {
		if err := CheckPageURL(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "example.com", "//example.com", "file:///etc/passwd", "chrome://version", "data:text/html,x", "javascript:alert(1)", "about:blank", "view-source:http://x/",
		"ftp://x/", "blob:http://x/1", "http://", "http:///path", "http://user:pw@x/", "http://user@x/", "http://x/\n", " http://x/", "http://x/ y", "http:\\\\x\\", "http://x/\x00",
		"http://x/" + strings.Repeat("a", hub.MaxURLBytes), "http://[::1", "ws://x/", "filesystem:http://x/", "ht\ttp://x/",
	} {
		if CheckPageURL(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
