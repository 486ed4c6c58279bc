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

// parts are those of an adapter, in their order.
var parts = []hub.AdapterPartName{hub.PartMCP, hub.PartHooks, hub.PartInstructions}

// wanted is what one part of an adapter is to put where.
type wanted struct {
	part    hub.AdapterPartName
	entries []files.Entry
	seeds   []files.Entry // written only where nothing stands
	err     error         // why nobody knows what belongs where
}

// wants are the parts of a setup that are supported, at a place.
func (a *Adapters) wants(s *setup, owner files.Owner, e Entry) ([]wanted, error) {
	teach := []piece{}
	if len(s.teach) > 0 {
		teach = append(teach, piece{
			places: s.teach, format: edit.Markdown, keys: []string{blockName}, value: func(Entry) any { return strings.TrimSpace(teaching) },
		})
	}
	hooks, noHooks := a.hooks(s, owner.Path)
	byPart := map[hub.AdapterPartName][]piece{hub.PartMCP: s.mcp, hub.PartHooks: hooks, hub.PartInstructions: teach}
	var all []wanted
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
			if p.seed {
				w.seeds = append(w.seeds, entry)
			} else {
				w.entries = append(w.entries, entry)
			}
		}
		if len(w.entries) > 0 || w.err != nil {
			all = append(all, w)
		}
	}
	return all, nil
}

// hooks are the pieces of the hooks, or those of the other file that they would
// hide. That file is somebody else's: one that cannot be read says nothing, and
// nothing is put beside it then.
func (a *Adapters) hooks(s *setup, project string) ([]piece, error) {
	if s.elsewhere == nil {
		return s.hooks, nil
	}
	w := a.config.World
	own, _ := w.choose(s.hooks[0].places, project, exists)
	other, root, ok := w.resolve(s.elsewhere.file, project)
	if !ok || exists(own) || !exists(other) {
		return s.hooks, nil
	}
	doc, err := files.Read(root, other)
	if err != nil {
		return nil, err
	}
	_, found, err := edit.Get(edit.JSON, doc, edit.Pointer{Keys: []string{s.elsewhere.key}})
	switch {
	case err != nil:
		return nil, &files.Refusal{
			Reason: files.Refused, File: other, Message: "nobody knows whether it holds hooks, which a file of the hub's would hide", Err: err,
			Fix: "correct the file",
		}
	case found:
		return s.elsewhere.hooks, nil
	}
	return s.hooks, nil
}

// entry is a piece at its place.
func (a *Adapters) entry(p *piece, owner files.Owner, name hub.AdapterPartName, e Entry) (files.Entry, error) {
	at, root := a.config.World.choose(p.places, owner.Path, exists)
	if at == "" {
		return files.Entry{}, fmt.Errorf("harness: %s has no place for its %s", owner.Harness, name)
	}
	entry := files.Entry{
		Owner: owner, Part: string(name), Root: root, File: at, Format: p.format, At: p.at(e),
		Rewrites: owner.Harness.Facts().RewritesServers && name == hub.PartMCP,
	}
	value := p.value(e)
	if name == hub.PartMCP {
		value = withAdded(value, entry)
	}
	var err error
	if entry.Value, err = json.Marshal(value); err != nil {
		return files.Entry{}, fmt.Errorf("harness: value of the %s of %s: %w", name, owner.Harness, err)
	}
	return entry, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
