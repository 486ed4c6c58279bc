package adapter

import (
	"context"
	"slices"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// Ensure sets the hub up for the user in every harness that is detected, and
// rewrites outdated entries. It asks for no confirmation, so it changes no
// project, no entry that a user changed, and no place that holds something
// else. It logs each failure and ends early when ctx ends.
//
// It detects all harnesses before it writes anything, so that a file made for
// one harness is not taken as a sign of another.
func (a *Adapters) Ensure(ctx context.Context) {
	var here []*row
	for i := range rows() {
		r := &rows()[i]
		found, err := outside(ctx, a, "look "+string(r.harness), lookLimit, func(ctx context.Context) (bool, error) {
			return r.global != nil && (len(a.detect(ctx, r, "")) > 0 || a.has(ctx, files.Owner{Harness: r.harness, Scope: files.Global})), nil
		})
		if err != nil {
			a.config.Logger.Warn("adapter not ensured", "harness", r.harness, "error", err)
		}
		if found {
			here = append(here, r)
		}
	}
	for _, r := range here {
		if ctx.Err() != nil {
			return
		}
		_, err := outside(ctx, a, "plan "+string(r.harness), planLimit, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, a.ensure(ctx, r)
		})
		if err != nil {
			a.config.Logger.Warn("adapter not ensured", "harness", r.harness, "error", err)
		}
	}
}

// has reports whether an owner has an installed entry.
func (a *Adapters) has(ctx context.Context, owner files.Owner) bool {
	installed, _ := a.installed(ctx)
	return slices.Contains(installed, owner)
}

func (a *Adapters) ensure(ctx context.Context, r *row) error {
	owner := files.Owner{Harness: r.harness, Scope: files.Global}
	a.look(ctx, r, owner) // files that may hang are read before the lock is taken
	unlock, err := a.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	entry, err := a.today()
	if err != nil {
		return err
	}
	all, err := a.wants(a.present(ctx, r.global, owner), owner, entry, keepGrant)
	if err != nil {
		return err
	}
	var entries []files.Entry
	for _, w := range a.chosen(ctx, all, keepGrant, keepGrant) {
		if w.allow != nil {
			continue // the part mcp writes it
		}
		if w.part == hub.PartPermissions || w.part == hub.PartPlugin {
			entries = append(entries, a.there(ctx, w)...)
			continue
		}
		if ours := a.untouched(ctx, w); len(ours) > 0 {
			entries = append(entries, ours...)
		} else {
			a.config.Logger.Warn("adapter left as it is", "harness", r.harness, "part", w.part)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	store, err := a.open(ctx)
	if err != nil {
		return err
	}
	plan, err := store.PlanInstall(ctx, entries, files.Keep)
	if err != nil {
		return err
	}
	p := &planned{row: r, owner: owner, files: plan, AdapterPlan: hub.AdapterPlan{
		Harness: r.harness, Action: hub.AdapterInstall, Scope: hub.AdapterGlobal,
	}}
	for _, c := range plan.Changes {
		p.Files = append(p.Files, hub.AdapterFile{File: c.File, Change: changeOf(c)})
	}
	if plan.Empty() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = a.apply(ctx, p)
	return err
}

// there returns the permissions that are in their files. One that the user has
// removed stays away.
func (a *Adapters) there(ctx context.Context, w wanted) []files.Entry {
	var list []files.Entry
	for i, s := range a.states(ctx, w.entries) {
		if s.State == files.Installed || s.State == files.Outdated {
			list = append(list, w.entries[i])
		}
	}
	return list
}

// untouched returns the entries of a part and its seeds if nobody has changed
// any of them.
func (a *Adapters) untouched(ctx context.Context, w wanted) []files.Entry {
	if w.err != nil {
		return nil
	}
	for _, s := range a.states(ctx, w.entries) {
		if s.State == files.Absent && s.Outside != "" {
			return nil // nobody is asked, so nobody is told where the link leads
		}
		switch s.State {
		case files.Absent, files.Installed, files.Outdated:
		case files.Adoptable, files.Drifted, files.Conflict, files.Unreadable:
			return nil
		}
	}
	return append(a.seeds(ctx, w), w.entries...)
}
