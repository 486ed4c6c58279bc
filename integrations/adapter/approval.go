package adapter

import (
	"encoding/json"
	"slices"

	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// approval is a member of the server's entry that lists the tools that a harness
// calls without asking, each by its name. Each name is an entry of its own, since
// the user adds and removes names too, in the harness or by hand. So the list is
// no part of the server's entry; see edit.Pointer.Apart.
type approval struct {
	member  string
	proviso string // on what else it depends, as the end of a sentence; or empty
}

// permits returns the pieces of the permissions that have entries of their own.
func (a *Adapters) permits(s *setup) []piece {
	if s.approve == nil {
		return s.permit
	}
	var all []piece
	for _, server := range s.mcp {
		for _, tool := range a.config.Tools {
			all = append(all, allowed(func(Entry) string { return tool }, append(slices.Clone(server.keys), s.approve.member), server.places...))
		}
	}
	return all
}

// check refuses a list that holds something else than names. The harness would
// refuse its whole file then, so nothing of the hub's is added to it. A file that
// cannot be read at all is left to the states of the entries.
func (v *approval) check(e files.Entry) error {
	doc, err := files.Read(e.Root, e.File, e.Owner.Scope)
	if err != nil {
		return nil
	}
	at := edit.Pointer{Keys: e.At.Keys}
	have, found, err := edit.Get(e.Format, doc, at)
	if err != nil || !found {
		return nil
	}
	var list any
	names, ok := json.Unmarshal(have, &list) == nil, false
	if elements, isList := list.([]any); names && isList {
		ok = !slices.ContainsFunc(elements, func(name any) bool { _, text := name.(string); return !text })
	}
	if ok {
		return nil
	}
	return &files.Refusal{
		Reason: files.Refused, File: e.File, Message: at.String() + " is no list of names of tools, so the file is left as it is",
		Fix: "make it a list of texts there, or take it out",
	}
}
