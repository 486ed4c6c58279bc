package harness

import (
	"context"

	"hubcli/hub"
	"hubcli/integrations/harness/files"
)

// Ensure sets the hub up for the user in every harness that is detected, and
// writes anew what has moved. It asks nobody, so it does no more than that: no
// project, nothing that somebody has changed, no place that something else has
// taken. What it cannot do it leaves and logs; it ends early when ctx does.
func (a *Adapters) Ensure(ctx context.Context) {
	for i := range rows {
		if ctx.Err() != nil {
			return
		}
		if r := &rows[i]; r.global != nil && len(a.detect(r)) > 0 {
			if err := a.ensure(ctx, r); err != nil {
				a.config.Logger.Warn("adapter not ensured", "harness", r.harness, "error", err)
			}
		}
	}
}

func (a *Adapters) ensure(ctx context.Context, r *row) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	owner := files.Owner{Harness: r.harness, Scope: files.Global}
	entry, err := a.today()
	if err != nil {
		return err
	}
	all, err := a.wants(r.global, owner, entry)
	if err != nil {
		return err
	}
	var entries []files.Entry
	for _, w := range all {
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
	_, err = a.apply(ctx, p)
	return err
}

// untouched are the entries of a part, with its seeds, if nobody has had a hand in
// any.
func (a *Adapters) untouched(ctx context.Context, w wanted) []files.Entry {
	for _, s := range a.states(ctx, w.entries) {
		switch s.State {
		case files.Absent, files.Installed, files.Outdated:
		case files.Drifted, files.Conflict, files.Unreadable:
			return nil
		}
	}
	return append(a.seeds(ctx, w), w.entries...)
}
