package adapter

import (
	"context"
	"slices"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// severity orders the states of entries. A part has the worst state of its
// entries.
var severity = []files.State{
	files.Installed, files.Outdated, files.Absent, files.Adoptable, files.Drifted, files.Conflict, files.Unreadable,
}

// look returns the state of an adapter at a place. It never fails: an
// unreadable file is shown as a state.
func (a *Adapters) look(ctx context.Context, r *row, owner files.Owner) hub.AdapterPlace {
	if gone(owner) {
		place := unreadable(r, owner, "the folder is gone; to forget it: "+commandOf("uninstall", owner))
		place.Gone = true
		return place
	}
	place := hub.AdapterPlace{Scope: hub.AdapterScope(owner.Scope), Path: owner.Path, Parts: []hub.AdapterPart{}}
	edits := r.setup(place.Scope)
	s := a.present(ctx, edits, owner)
	entry, noExecutable := a.today()
	var all []wanted
	if s != nil {
		var err error
		if all, err = a.wants(s, owner, entry, keepGrant); err != nil {
			noExecutable = err
		}
	}
	for _, name := range parts {
		part := hub.AdapterPart{Part: name, State: hub.AdapterUnsupported, Files: []string{}}
		i := slices.IndexFunc(all, func(w wanted) bool { return w.part == name })
		switch {
		case i >= 0:
			part = a.part(ctx, all[i], all)
			if noExecutable != nil {
				part.Outdated = false // unknown, because the new entry is unknown
			}
			if name == hub.PartMCP && part.State == hub.AdapterInstalled && part.Reason == "" && edits.own != nil {
				a.otherForm(ctx, &part, edits, s, owner)
			}
		case s != nil:
			part.Reason = s.lacks(name, place.Scope)
		}
		place.Parts = append(place.Parts, part)
	}
	return place
}

// otherForm says of an installed server that an install or a repair would write the other form.
// have is the form that is there.
func (a *Adapters) otherForm(ctx context.Context, part *hub.AdapterPart, edits, have *setup, owner files.Owner) {
	why := a.keepsEdits(ctx, edits, owner, have)
	switch {
	case have == edits && why == "":
		part.Reason = movable
	case have != edits && why != "": // the harness may not take what is there
		part.Reason, part.Outdated = why, true
	}
}

// part returns the state of one part. all are the parts of the setup.
func (a *Adapters) part(ctx context.Context, w wanted, all []wanted) hub.AdapterPart {
	switch {
	case w.err != nil:
		part := hub.AdapterPart{Part: w.part, State: hub.AdapterUnreadable, Files: []string{}, Reason: w.err.Error()}
		if len(w.entries) > 0 {
			part.Files = append(part.Files, w.entries[0].File)
		}
		return part
	case w.part == hub.PartPermissions:
		return a.permissions(ctx, w, all)
	}
	return stateOf(w.part, a.states(ctx, w.entries))
}

// unreadable returns a place whose files cannot be read.
func unreadable(r *row, owner files.Owner, why string) hub.AdapterPlace {
	place := hub.AdapterPlace{Scope: hub.AdapterScope(owner.Scope), Path: owner.Path, Parts: []hub.AdapterPart{}}
	s := r.setup(place.Scope)
	for _, name := range parts {
		part := hub.AdapterPart{Part: name, State: hub.AdapterUnreadable, Files: []string{}, Reason: why}
		if s == nil || s.lacks(name, place.Scope) != "" {
			part.State = hub.AdapterUnsupported
			if s != nil {
				part.Reason = s.lacks(name, place.Scope)
			}
		}
		place.Parts = append(place.Parts, part)
	}
	return place
}

// stateOf returns the state of a part with these entries.
func stateOf(name hub.AdapterPartName, all []files.Status) hub.AdapterPart {
	part := hub.AdapterPart{Part: name, State: hub.AdapterAbsent, Files: []string{}}
	worst, absent := files.Installed, 0
	var why error
	for _, s := range all {
		if !slices.Contains(part.Files, s.Entry.File) {
			part.Files = append(part.Files, s.Entry.File)
		}
		if s.State == files.Absent && s.Known {
			s.State = files.Drifted
		}
		if s.State == files.Absent {
			absent++
		}
		if slices.Index(severity, s.State) > slices.Index(severity, worst) {
			worst, why = s.State, s.Err
		}
	}
	switch worst {
	case files.Installed, files.Outdated:
		part.State, part.Outdated = hub.AdapterInstalled, worst == files.Outdated
	case files.Absent:
		if absent < len(all) { // a removed entry is known and counts as drifted
			part.State, part.Outdated, part.Reason = hub.AdapterInstalled, true, "this version writes more entries; repair adds them"
		}
	case files.Adoptable:
		part.State, part.Reason = hub.AdapterDrifted, "it is there but not recorded as the hub's; install or repair takes it over"
	case files.Drifted:
		part.State, part.Reason = hub.AdapterDrifted, "somebody has changed or removed the hub's entry; repair writes it anew"
	case files.Conflict:
		part.State, part.Reason = hub.AdapterConflict, "there is an entry of the same name that is not the hub's"
	case files.Unreadable:
		part.State, part.Reason = hub.AdapterUnreadable, "the file cannot be read or may not be touched"
	}
	if why != nil {
		part.Reason = why.Error()
	}
	return part
}
