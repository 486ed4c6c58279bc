package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hubcli/hub"
)

// importPrompt returns the question about a plan that is ready: what the capsule holds, what it
// becomes here, and what has to be done by hand afterwards.
func importPrompt(p *hub.CapsuleImportPlan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Import a new project, %s\n\n", p.Slug)
	line := func(name, text string) { fmt.Fprintf(&b, "  %-9s %s\n", name, text) }
	line("from", fmt.Sprintf("%s, %s bytes", p.Path, number(p.Size)))
	line("made", fmt.Sprintf("%s by hubcli %s, as it says", p.CreatedAt, p.ProductVersion))
	line("signed", signedWords(&p.Signature))
	if p.Encrypted {
		line("encrypted", "yes; the identity that was named opens it")
	}
	if p.Slug != p.FromSlug || p.Name != p.FromName {
		line("name", fmt.Sprintf("%s (%s), because a project here has a name of the capsule: %s (%s)", p.Name, p.Slug, p.FromName, p.FromSlug))
	} else {
		line("name", fmt.Sprintf("%s (%s)", p.Name, p.Slug))
	}
	line("scope", string(p.Scope)+", "+string(p.Privacy))
	line("holds", holds(&p.Counts))
	line("redacted", tally(p.Redactions, "nothing"))
	line("left out", hub.LeftOutWords(p.LeftOut, number))
	if n := len(p.Earlier); n > 0 {
		line("again", fmt.Sprintf("the same content is here already, as %s; this makes one more", joined(p.Earlier)))
	}
	if n := len(p.SharedRooms); n > 0 {
		line("rooms", fmt.Sprintf("%s that rooms here have, too: %s; from then on write %s/%s, and name the room that is here with its project as well",
			plural(int64(n), "slug"), some(p.SharedRooms), p.Slug, p.SharedRooms[0]))
	}
	line("authors", "names with the id of the new project behind them; nobody can act as one of them")
	line("tasks", "history: those that had not ended are cancelled here, and oblige nobody")
	line("by hand", "bind folders to "+plural(p.Counts.Rooms, "room")+" and invite agents; the capsule has no bindings, seats or invites")
	line("content", p.ContentDigest)
	return b.String()
}

// manyNames bounds the names that a line of a question lists.
const manyNames = 10

// some lists names, but not very many.
func some(all []string) string {
	text := strings.Join(all[:min(len(all), manyNames)], ", ")
	if more := len(all) - manyNames; more > 0 {
		text += fmt.Sprintf(" and %s more", number(int64(more)))
	}
	return text
}

// signedWords says who has signed a capsule.
func signedWords(s *hub.CapsuleSignature) string {
	switch s.State {
	case hub.SignatureValid:
		return "by key " + s.KeyID + ", and the signature fits; it says: " + oneLine(s.Comment)
	case hub.SignatureUnknownKey:
		return "by key " + s.KeyID + ", which is not known here: anybody may have made the file and the signature"
	case hub.SignatureNone:
	}
	return "by nobody"
}

func joined(ids []hub.ProjectID) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return strings.Join(all, ", ")
}

// importError gives every error of an import the form of the hub's.
func importError(err error) error {
	var known *hub.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return hub.NewError(hub.CodePlanNotFound, "the import was cancelled; nothing of it is left").WithFix("plan the import again")
	}
	return hub.NewError(hub.CodeInternal, fmt.Sprintf("the import failed: %v", err)).WithFix("see the cause in the message, and plan the import again")
}
