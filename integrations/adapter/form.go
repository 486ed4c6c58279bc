package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// ownForm is another form of a setup. It holds all that the setup holds, in files of the
// hub's own that the harness loads as a plugin or an extension, so that no file of the user's
// is edited. A plan takes it where nothing is lost by it; see Adapters.form.
type ownForm struct {
	setup
	dir    place  // the hub's folder; empty: the files stand in a folder with those of others
	under  string // where the files of the part mcp stand below the harness's folder, with slashes
	unless []unless
	// settled are files in the harness's folder with which it fetches nothing when it is asked for
	// its servers.
	settled map[string]string
}

// unless is a setting with which the harness would not take all of the own form.
type unless struct {
	places []place // of JSON files; one with the setting is enough
	keys   []string
	why    string
}

// Notes of a plan that keeps the edits.
const (
	keepsVariables = "the entry of the server has variables or permissions of your own, so it stays in that file"
	keepsChanged   = "the hub's entries in the harness's own files are not as an install writes them, so they stay there"
	keepsForeign   = "in the place of the hub's own files there is something else, which stays; the hub is set up in the harness's files instead"
)

// movable is said of edits that the next install or repair moves.
const movable = "install or repair moves it into files of the hub's own"

// installedForm returns the form that is installed for an owner; nil if none is.
func (a *Adapters) installedForm(ctx context.Context, s *setup, owner files.Owner) *setup {
	if !a.has(ctx, owner) {
		return nil
	}
	store, _ := a.open(ctx)
	if store == nil {
		return s
	}
	places, err := store.Places(owner)
	if err != nil || len(places) == 0 {
		return s
	}
	for _, p := range s.own.mcp {
		at, _ := a.config.World.choose(p.places, owner.Path, exists)
		if slices.ContainsFunc(places, func(p files.Place) bool { return p.File == at }) {
			return &s.own.setup
		}
	}
	return s
}

// present returns the form that an owner has, or that an install would give it.
func (a *Adapters) present(ctx context.Context, s *setup, owner files.Owner) *setup {
	if s == nil || s.own == nil {
		return s
	}
	if have := a.installedForm(ctx, s, owner); have != nil {
		return have
	}
	if a.keepsEdits(ctx, s, owner, nil) != "" {
		return s
	}
	return &s.own.setup
}

// form returns the form that an action writes, and the grant with which it does so: where
// the form changes, permissions go along as they are. note says why the form is not the hub's own;
// empty if it is.
func (a *Adapters) form(ctx context.Context, s *setup, owner files.Owner, in hub.AdapterInput, g grant) (form *setup, granted grant, note string) {
	if s.own == nil {
		return s, g, ""
	}
	have := a.installedForm(ctx, s, owner)
	form = &s.own.setup
	if in.Plugin != nil && !*in.Plugin {
		form = s
	} else if note = a.keepsEdits(ctx, s, owner, have); note != "" {
		form = s
	}
	if g == keepGrant && have != nil && have != form {
		g = takeGrant
		if a.permitted(ctx, have, owner) {
			g = giveGrant
		}
	}
	return form, g, note
}

// permitted reports whether an installed form has its permissions.
func (a *Adapters) permitted(ctx context.Context, s *setup, owner files.Owner) bool {
	entry, err := a.today()
	if err != nil {
		return false
	}
	all, err := a.wants(s, owner, entry, keepGrant)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(w wanted) bool {
		return w.part == hub.PartPermissions && a.permissions(ctx, w, all).State == hub.AdapterInstalled
	})
}

// keepsEdits says why the own form would lose something; empty if it would not. have is the
// form that is installed.
func (a *Adapters) keepsEdits(ctx context.Context, s *setup, owner files.Owner, have *setup) string {
	for _, u := range s.own.unless {
		if a.set(u, owner) {
			return u.why
		}
	}
	entry, err := a.today()
	if err != nil {
		return "" // the plan fails with it, whatever the form
	}
	edits, err := a.wants(s, owner, entry, keepGrant)
	if err != nil {
		return keepsChanged
	}
	own, err := a.wants(&s.own.setup, owner, entry, keepGrant)
	if err != nil {
		return keepsForeign
	}
	if have != &s.own.setup && a.foreign(ctx, s, owner, own) {
		return keepsForeign
	}
	return a.edited(ctx, edits, own, have == &s.own.setup)
}

// edited says why edits stay in their files; empty if they may go. moved says that the own form is
// installed, so that edits are not the hub's.
func (a *Adapters) edited(ctx context.Context, edits, own []wanted, moved bool) string {
	for _, w := range edits {
		if w.allow == nil && (w.part == hub.PartPermissions || w.part == hub.PartInstructions) {
			continue
		}
		for _, s := range a.states(ctx, w.entries) {
			switch {
			case among(own, s.Entry): // the same file in both forms
			case s.State == files.Conflict, s.State == files.Adoptable:
				return keepsChanged
			case !moved && (s.State == files.Drifted || s.State == files.Unreadable):
				return keepsChanged
			case w.part == hub.PartMCP && s.Known && chosenByUser(s.Entry, edits):
				return keepsVariables
			}
		}
	}
	return ""
}

// among reports whether parts have an entry at the same place.
func among(all []wanted, e files.Entry) bool {
	return slices.ContainsFunc(all, func(w wanted) bool {
		return slices.ContainsFunc(w.entries, func(o files.Entry) bool { return o.File == e.File && o.At.Same(e.At) })
	})
}

// chosenByUser reports whether the entry of a bridge holds something that its user has put
// there: variables, or another value in the place of the permissions.
func chosenByUser(e files.Entry, all []wanted) bool {
	have := entryOf(e)
	if len(addedIn(have)) > 0 {
		return true
	}
	return slices.ContainsFunc(all, func(w wanted) bool {
		if w.allow == nil {
			return false
		}
		value, there := have[w.allow.member]
		return there && !w.allow.is(value)
	})
}

// foreign reports whether there is anything in the places of the own form that the hub has not
// written there.
func (a *Adapters) foreign(ctx context.Context, s *setup, owner files.Owner, own []wanted) bool {
	mine := map[string]bool{}
	for _, w := range own {
		for _, st := range a.states(ctx, w.entries) {
			if st.State == files.Conflict || st.State == files.Unreadable {
				return true
			}
			mine[st.Entry.File] = true
		}
	}
	dir, _, ok := a.config.World.resolve(s.own.dir, owner.Path)
	return s.own.dir != "" && ok && holdsOthers(dir, mine)
}

// holdsOthers reports whether a folder holds a file that is not among mine.
func holdsOthers(dir string, mine map[string]bool) bool {
	list, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		at := filepath.Join(dir, e.Name())
		return e.IsDir() && holdsOthers(at, mine) || !e.IsDir() && !mine[at]
	})
}

// set reports whether a setting is there and not empty.
func (a *Adapters) set(u unless, owner files.Owner) bool {
	for _, p := range u.places {
		at, root, ok := a.config.World.resolve(p, owner.Path)
		if !ok {
			continue
		}
		doc, err := files.Read(root, at, owner.Scope)
		if err != nil {
			continue // the states of the entries say what is wrong with the user's file
		}
		raw, found, err := edit.Get(edit.JSON, doc, edit.Pointer{Keys: u.keys})
		var value any
		if err != nil || !found || json.Unmarshal(raw, &value) != nil {
			continue
		}
		if list, ok := value.([]any); !ok || len(list) > 0 {
			return true
		}
	}
	return false
}

// hooksFile is a file of the hub's own with hooks in the form of a settings file.
func hooksFile(calls []piece, places ...place) piece {
	return whole(func(e Entry) string {
		hooks := object{}
		for _, p := range calls {
			name := p.keys[len(p.keys)-1]
			i := slices.IndexFunc(hooks, func(m member) bool { return m.name == name })
			if i < 0 {
				i, hooks = len(hooks), append(hooks, member{name, []any{}})
			}
			list, _ := hooks[i].value.([]any)
			hooks[i].value = append(list, p.value(e))
		}
		return text(object{{"hooks", hooks}})
	}, places...)
}

// serversFile is a manifest of the hub's own that names its server.
func serversFile(h hub.Harness, s shape, places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{
			{"name", "hubcli"},
			{"version", "1.0.0"},
			{"description", "The hub through which agents work together"},
			{"mcpServers", object{{serverName, s(e, h)}}},
		})
	}, places...)
}
