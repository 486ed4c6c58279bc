package adapter

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// parts lists the parts of an adapter, in their order.
var parts = []hub.AdapterPartName{hub.PartMCP, hub.PartHooks, hub.PartInstructions, hub.PartPermissions, hub.PartPlugin}

// wanted holds the entries of one part of an adapter.
type wanted struct {
	part    hub.AdapterPartName
	entries []files.Entry
	seeds   []files.Entry // written only if the place is free
	notes   []string      // what the operator is told before they are written
	err     error         // why the entries cannot be known
	// allow, if it is set, says that the part is a member of the entries, which
	// the part mcp writes.
	allow *allowance
	// approve, if it is set, says that the entries are names in a list.
	approve *approval
}

// wants returns the supported parts of a setup for an owner.
func (a *Adapters) wants(s *setup, owner files.Owner, e Entry, g grant) ([]wanted, error) {
	teach := []piece{}
	if len(s.teach) > 0 {
		teach = append(teach, piece{
			places: s.teach, format: edit.Markdown, keys: []string{blockName}, value: func(Entry) any { return strings.TrimSpace(teaching) },
		})
	}
	hooks, noHooks := a.hooks(s, owner)
	byPart := map[hub.AdapterPartName][]piece{hub.PartMCP: s.mcp, hub.PartHooks: hooks, hub.PartInstructions: teach, hub.PartPermissions: a.permits(s), hub.PartPlugin: s.plugin}
	var all []wanted
	var inside wanted // permissions that are a member of the server's entry
	for _, name := range parts {
		w := wanted{part: name}
		if name == hub.PartHooks {
			w.err = noHooks
		}
		for _, p := range byPart[name] {
			entry, err := a.entry(&p, owner, name, e)
			if err != nil {
				return nil, err
			}
			if name == hub.PartMCP {
				if s.approve != nil {
					entry.At.Apart = s.approve.member
				}
				if err := setValue(&entry, withGrant(withAdded(p.value(e), entry), entry, s.allow, g)); err != nil {
					return nil, err
				}
			}
			if p.note != "" {
				w.notes = append(w.notes, p.note)
			}
			if p.seed {
				w.seeds = append(w.seeds, entry)
			} else {
				w.entries = append(w.entries, entry)
			}
		}
		if name == hub.PartPermissions && s.approve != nil && len(w.entries) > 0 {
			w.approve, w.err = s.approve, s.approve.check(w.entries[0])
		}
		if len(w.entries) > 0 || w.err != nil {
			all = append(all, w)
		}
		if name == hub.PartMCP && s.allow != nil {
			inside = wanted{part: hub.PartPermissions, entries: w.entries, allow: s.allow}
		}
	}
	if inside.allow != nil {
		all = append(all, inside)
	}
	return all, nil
}

// hooks returns the pieces of the hooks. If the user's other file has hooks
// that the usual file would hide, they are pieces of that file. If the other
// file cannot be read, hooks fails, and nothing is written beside it. A repository says
// itself where its hooks lie.
func (a *Adapters) hooks(s *setup, owner files.Owner) ([]piece, error) {
	project := owner.Path
	switch {
	case s.repo:
		return a.inRepository(s.hooks, project)
	case s.elsewhere == nil:
		return s.hooks, nil
	}
	w := a.config.World
	own, _ := w.choose(s.hooks[0].places, project, exists)
	other, root, ok := w.resolve(s.elsewhere.file, project)
	if !ok || exists(own) || !exists(other) {
		return s.hooks, nil
	}
	doc, err := files.Read(root, other, owner.Scope)
	if err != nil {
		return nil, err
	}
	_, found, err := edit.Get(edit.JSON, doc, edit.Pointer{Keys: []string{s.elsewhere.key}})
	switch {
	case err != nil:
		return nil, &files.Refusal{
			Reason: files.Refused, File: other, Message: "it cannot be read, and it may hold hooks that a file of the hub's would hide", Err: err,
			Fix: "correct the file",
		}
	case found:
		return s.elsewhere.hooks, nil
	}
	return s.hooks, nil
}

// entry makes the entry of a piece.
func (a *Adapters) entry(p *piece, owner files.Owner, name hub.AdapterPartName, e Entry) (files.Entry, error) {
	at, root := p.file, p.root
	if at == "" {
		at, root = a.config.World.choose(p.places, owner.Path, exists)
	}
	if at == "" {
		return files.Entry{}, fmt.Errorf("harness: %s has no place for its %s", owner.Harness, name)
	}
	entry := files.Entry{
		Owner: owner, Part: string(name), Root: root, File: at, Format: p.format, At: p.at(e), Mode: p.mode,
		Rewrites: owner.Harness.Facts().RewritesServers && name == hub.PartMCP,
	}
	err := setValue(&entry, p.value(e))
	return entry, err
}

func setValue(e *files.Entry, value any) (err error) {
	if e.Value, err = json.Marshal(value); err != nil {
		return fmt.Errorf("harness: value of the %s of %s: %w", e.Part, e.Owner.Harness, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
