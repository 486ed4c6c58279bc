package api

import (
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// Default and maximum number of rows of an answer.
const (
	DefaultRecallRows = 20
	DefaultSearchRows = 20
	MaxSearchRows     = 100
)

// ValidateMemory checks a new memory. The text may be empty only if a key names
// the memory to forget.
func ValidateMemory(in *hub.MemoryInput, operator bool) error {
	if err := first(
		checkNamedActor("by", in.By, operator),
		checkBounds(in),
		checkScope(in.Scope)); err != nil {
		return err
	}
	switch n := utf8.RuneCountInString(in.Text); {
	case n > hub.MaxMemoryChars:
		return hub.NewError(hub.CodeTextTooLarge, "the text is too large to be remembered").
			With("field", "text").With("limit", hub.MaxMemoryChars).With("size", n).
			WithFix("remember what matters of it; store the rest as an artifact and name its id")
	case strings.TrimSpace(in.Text) == "" && in.Text != "":
		return hub.Invalid("text", "text has no characters but spaces")
	case n == 0 && in.Key == "":
		return hub.Invalid("text", "text is missing").
			WithFix("give a text to remember; to forget one that has a key, give the key and no text")
	}
	return nil
}

func checkScope(s hub.MemoryScope) error {
	if s != "" && s != hub.ScopeRoom && s != hub.ScopeProject {
		return hub.Invalid("scope", "there is no such scope").WithFix("use room or project, or leave scope out")
	}
	return nil
}

// ValidateRecall checks a query for memories.
func ValidateRecall(q *hub.MemoryQuery) error {
	return first(
		hub.CheckName("room_id", string(q.RoomID), hub.MaxNameChars),
		checkScope(q.Scope),
		checkText("query", q.Query, hub.MaxQueryChars))
}

// ValidateSearch checks a search.
func ValidateSearch(q *hub.SearchQuery) error {
	if strings.TrimSpace(q.Text) == "" {
		return hub.Invalid("q", "q is missing").WithFix(`name words to look for, "phrases in quotes", and -words that must not occur`)
	}
	for _, t := range q.Types {
		switch t {
		case hub.FoundMessage, hub.FoundDecision, hub.FoundArtifact, hub.FoundMemory:
		default:
			return hub.Invalid("type", "there is no such type").WithFix("use message, decision, artifact or memory; repeat type for several")
		}
	}
	return checkText("q", q.Text, hub.MaxQueryChars)
}
