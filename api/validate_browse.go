package api

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hubcli/hub"
)

// needs says which members the actions take, and which of them they need.
type browseNeeds struct{ needed, taken []string }

var needs = sync.OnceValue(func() map[hub.BrowseAction]browseNeeds {
	return map[hub.BrowseAction]browseNeeds{
		hub.BrowseOpen:       {needed: []string{"url"}},
		hub.BrowseSnapshot:   {},
		hub.BrowseClick:      {needed: []string{"ref"}},
		hub.BrowseType:       {needed: []string{"ref"}, taken: []string{"text", "submit"}},
		hub.BrowsePress:      {needed: []string{"key"}, taken: []string{"ref"}},
		hub.BrowseSelect:     {needed: []string{"ref", "values"}},
		hub.BrowseScreenshot: {taken: []string{"full"}},
		hub.BrowseBack:       {},
		hub.BrowseClose:      {},
	}
})

// ValidateBrowse checks a step with the page of a room.
func ValidateBrowse(in *hub.BrowseInput, operator bool) error {
	if in.AgentID == "" {
		return hub.Invalid("agent_id", "agent_id is missing").WithFix("name the agent that drives the page")
	}
	if err := checkActor("agent_id", in.AgentID, operator); err != nil {
		return err
	}
	if !slices.Contains(hub.BrowseActions(), in.Action) {
		return hub.Invalid("action", "there is no such action").With("actions", hub.BrowseActions()).WithFix("name one of detail.actions")
	}
	given := map[string]bool{
		"url": in.URL != "", "ref": in.Ref != "", "text": in.Text != "", "submit": in.Submit, "key": in.Key != "",
		"values": len(in.Values) > 0, "full": in.Full,
	}
	rule := needs()[in.Action]
	for _, name := range rule.needed {
		if !given[name] {
			return hub.Invalid(name, "the action "+string(in.Action)+" needs "+name)
		}
	}
	for _, name := range []string{"url", "ref", "text", "submit", "key", "values", "full"} {
		if given[name] && !slices.Contains(rule.needed, name) && !slices.Contains(rule.taken, name) {
			return hub.Invalid(name, "the action "+string(in.Action)+" takes no "+name).WithFix("leave " + name + " out")
		}
	}
	return checkBrowseTexts(in)
}

func checkBrowseTexts(in *hub.BrowseInput) error {
	switch n := utf8.RuneCountInString(in.Text); {
	case n > hub.MaxTypedChars:
		return hub.Invalid("text", "text is too long").With("limit", hub.MaxTypedChars).With("size", n).WithFix("type it in parts")
	case len(in.Values) > hub.MaxSelected:
		return hub.Invalid("values", "there are too many values").With("limit", hub.MaxSelected)
	case len(in.Ref) > hub.MaxNameChars || len(in.Key) > hub.MaxNameChars:
		return hub.Invalid("ref", "ref or key is too long").With("limit", hub.MaxNameChars)
	}
	for _, v := range in.Values {
		if utf8.RuneCountInString(v) > hub.MaxTitleChars {
			return hub.Invalid("values", "a value is too long").With("limit", hub.MaxTitleChars)
		}
	}
	if in.URL != "" {
		return CheckPageURL(in.URL)
	}
	return nil
}

// CheckPageURL checks a URL that a browser is to open: of the web, and without a secret.
func CheckPageURL(s string) error {
	if len(s) > hub.MaxURLBytes {
		return hub.Invalid("url", "the URL is too long").With("limit", hub.MaxURLBytes).With("size", len(s))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }) {
		return hub.Invalid("url", "the URL holds white space, a control character or a backslash").WithFix("escape them with %")
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return hub.Invalid("url", "this is no URL").WithFix("write it as http://host/path or https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return hub.Invalid("url", "only http and https are shown").WithFix("write the URL with its scheme: https://example.com/")
	case u.Hostname() == "":
		return hub.Invalid("url", "the URL names no host").WithFix("write it as http://host/path or https://host/path")
	case u.User != nil:
		return hub.Invalid("url", "the URL holds a name or a password, which would be written down").
			WithFix("open it without them, and type them into the page if you have to")
	}
	return nil
}

// ValidateAllowHost checks a host that the browser of a room may reach.
func ValidateAllowHost(in *hub.AllowHostInput) error {
	_, _, err := hub.ParseHost(string(in.Host))
	return err
}
