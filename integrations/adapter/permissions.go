package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
)

// grant says what a plan does with the permissions of an adapter.
type grant int

const (
	keepGrant grant = iota // they stay as they are
	giveGrant              // they are written where they are absent
	takeGrant              // they are taken out
)

// grantOf returns what the operator wants of an action. Only an install gives
// permissions that are not there, because it is the one that offers them.
func grantOf(action hub.AdapterAction, in hub.AdapterInput) grant {
	switch {
	case in.NoPermissions:
		return takeGrant
	case action == hub.AdapterInstall:
		return giveGrant
	}
	return keepGrant
}

// allowance is a member of the server's entry by which a harness calls the
// server's tools without asking.
type allowance struct {
	member string
	value  any
}

// Reasons for which a setup has no permissions.
const (
	noPermissions = "the hub knows no allow list of this harness for single servers"
	notForOthers  = "the project's files may be committed, and an allow list in them would speak for other people"
)

// lacks says why the setup has no such part; empty if it has one.
func (s *setup) lacks(name hub.AdapterPartName, scope hub.AdapterScope) string {
	switch {
	case name == hub.PartPlugin && len(s.plugin) > 0:
		return ""
	case name == hub.PartPlugin && s.lacking[name] == "":
		return noPlugin
	case name != hub.PartPermissions:
		return s.lacking[name]
	case s.allow != nil || s.approve != nil || len(s.permit) > 0:
		return ""
	case scope == hub.AdapterProject:
		return notForOthers
	}
	return noPermissions
}

// allowed is a rule in a list of rules: an element that is just this string.
// Rules of the user that only resemble it are not touched.
func allowed(rule func(Entry) string, keys []string, places ...place) piece {
	return piece{
		places: places, format: edit.JSON, keys: keys, mark: rule, exact: true,
		value: func(e Entry) any { return rule(e) },
	}
}

// withGrant adds the member of an allowance to the value of a bridge's entry. A
// value that the user chose stays.
func withGrant(value any, e files.Entry, allow *allowance, g grant) any {
	o, ok := value.(object)
	if !ok || allow == nil {
		return value
	}
	have, there := entryOf(e)[allow.member]
	switch {
	case there && (g != takeGrant || !allow.is(have)):
		return append(slices.Clone(o), member{allow.member, have})
	case !there && g == giveGrant:
		return append(slices.Clone(o), member{allow.member, allow.value})
	}
	return o
}

// is reports whether a member's value is the one that an install writes.
func (a *allowance) is(have json.RawMessage) bool {
	own, err := json.Marshal(a.value)
	return err == nil && bytes.Equal(own, have)
}

// chosen returns the parts that a plan writes: all, but of the permissions only
// what g says, and of the plugin only what plugin says. Rules of the user that equal those of the hub are left out,
// so that they stay when the hub's are taken out.
func (a *Adapters) chosen(ctx context.Context, all []wanted, g, plugin grant) []wanted {
	lost := a.lostLedger(ctx, all)
	var list []wanted
	for _, w := range all {
		switch {
		case w.part == hub.PartPermissions && w.allow == nil:
			w.entries = a.rules(ctx, w, g, lost)
		case w.part == hub.PartPlugin:
			w.entries = a.rules(ctx, w, plugin, true)
		}
		list = append(list, w)
	}
	return list
}

func (a *Adapters) rules(ctx context.Context, w wanted, g grant, lost bool) []files.Entry {
	states := a.states(ctx, w.entries)
	known := slices.ContainsFunc(states, func(s files.Status) bool {
		return s.Known && (w.approve == nil || s.State != files.Absent)
	})
	if g == takeGrant || g == keepGrant && !known && (!lost || w.part == hub.PartPlugin) {
		return nil
	}
	// Without a ledger nobody knows whether the user has refused. What is there is taken
	// for the hub's, and nothing is added.
	adopts := g == keepGrant && !known
	var list []files.Entry
	for i, s := range states {
		if adopts && s.State == files.Adoptable || !adopts && (s.State != files.Adoptable || lost) {
			list = append(list, w.entries[i])
		}
	}
	return list
}

// lostLedger reports whether the hub's own entries are there but not recorded.
// Equal rules are then the hub's too.
func (a *Adapters) lostLedger(ctx context.Context, all []wanted) bool {
	return slices.ContainsFunc(all, func(w wanted) bool {
		return w.part == hub.PartMCP &&
			slices.ContainsFunc(a.states(ctx, w.entries), func(s files.Status) bool { return s.State == files.Adoptable })
	})
}

// permissions returns the state of the part. all are the parts of the setup.
func (a *Adapters) permissions(ctx context.Context, w wanted, all []wanted) hub.AdapterPart {
	if w.allow != nil {
		return a.allowance(ctx, w)
	}
	lost := a.lostLedger(ctx, all)
	states := a.states(ctx, w.entries)
	ours := slices.DeleteFunc(slices.Clone(states), func(s files.Status) bool { return s.State == files.Adoptable && !lost })
	missing := absent(ours)
	if w.approve != nil && len(missing) == len(ours) {
		for i := range ours {
			ours[i].Known = false // a user who takes all names out has refused the permissions
		}
	}
	part := stateOf(w.part, ours)
	part.Files = stateOf(w.part, states).Files
	if w.approve != nil && len(missing) > 0 && (part.State == hub.AdapterInstalled || part.State == hub.AdapterDrifted) {
		part.Reason = w.approve.member + " lacks " + strings.Join(missing, ", ") + "; repair adds what is missing"
	}
	return part
}

// absent returns the marks of the entries that are not in their files.
func absent(all []files.Status) []string {
	var marks []string
	for _, s := range all {
		if s.State == files.Absent {
			marks = append(marks, s.Entry.At.Mark)
		}
	}
	return marks
}

// allowance returns the state of permissions that are a member of the server's
// entry.
func (a *Adapters) allowance(ctx context.Context, w wanted) hub.AdapterPart {
	part := hub.AdapterPart{Part: w.part, State: hub.AdapterAbsent, Files: []string{w.entries[0].File}}
	server := stateOf(w.part, a.states(ctx, w.entries))
	if server.State == hub.AdapterUnreadable || server.State == hub.AdapterConflict {
		return server
	}
	have, there := entryOf(w.entries[0])[w.allow.member]
	switch {
	case there && w.allow.is(have):
		part.State = hub.AdapterInstalled
	case there:
		part.Reason = w.allow.member + " has another value, which stays"
	}
	return part
}

// grants says what the permissions of a plan allow; empty if the plan gives
// none that are not there.
func (a *Adapters) grants(ctx context.Context, r *row, s *setup, owner files.Owner, g grant) string {
	if g != giveGrant || s.lacks(hub.PartPermissions, hub.AdapterScope(owner.Scope)) != "" {
		return ""
	}
	for _, part := range a.look(ctx, r, owner).Parts {
		settled := part.State == hub.AdapterInstalled || part.Reason != ""
		if s.approve != nil { // an install also adds the names that the list lacks
			settled = part.State == hub.AdapterInstalled && !part.Outdated
		}
		if part.Part == hub.PartPermissions && settled {
			return ""
		}
	}
	what, proviso := "calls the hub's tools", ""
	if slices.ContainsFunc(s.permit, func(p piece) bool { return p.exact }) {
		what += " and runs hubcli watch"
	}
	if s.approve != nil {
		proviso = s.approve.proviso
	}
	return r.title() + " then " + what + " without asking you" + proviso + "; with --no-permissions it goes on asking"
}
