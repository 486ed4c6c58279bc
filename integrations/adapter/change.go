package adapter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// planned is a plan with everything that the operator is shown of it.
type planned struct {
	hub.AdapterPlan
	row   *row
	owner files.Owner
	files *files.Plan
}

// PreviewAdapter says what an action would do.
func (a *Adapters) PreviewAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterPlan, error) {
	return outside(ctx, a, "plan "+string(harness), planLimit, func(ctx context.Context) (hub.AdapterPlan, error) {
		p, unlock, err := a.plan(ctx, harness, action, in)
		if err != nil {
			return hub.AdapterPlan{}, err
		}
		defer unlock()
		return p.AdapterPlan, nil
	})
}

// ChangeAdapter executes a plan if the operator confirmed that plan.
func (a *Adapters) ChangeAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterResult, error) {
	return outside(ctx, a, "plan "+string(harness), planLimit, func(ctx context.Context) (hub.AdapterResult, error) {
		p, unlock, err := a.plan(ctx, harness, action, in)
		if err != nil {
			return hub.AdapterResult{}, err
		}
		defer unlock()
		return a.change(ctx, p, in.Confirm)
	})
}

func (a *Adapters) change(ctx context.Context, p *planned, confirm string) (hub.AdapterResult, error) {
	done := hub.AdapterResult{Files: p.Files, Backups: []string{}, FollowUps: []string{}}
	if !p.files.Empty() {
		// Without a prompt only the ledger changes.
		if err := p.confirmed(confirm); err != nil && p.Prompt != "" {
			return hub.AdapterResult{}, err
		}
		if err := ctx.Err(); err != nil {
			return hub.AdapterResult{}, err // the caller has gone
		}
		var err error
		if done.Backups, err = a.apply(ctx, p); err != nil {
			return hub.AdapterResult{}, err
		}
		done.Changed, done.FollowUps = true, p.FollowUps
	}
	done.Place = a.look(ctx, p.row, p.owner)
	return done, nil
}

// nameOf returns the adapter's name in commands.
func nameOf(o files.Owner) string {
	if o.Path == "" {
		return string(o.Harness)
	}
	return string(o.Harness) + " --scope project --path " + shellWord(o.Path)
}

// commandOf returns the command line for an action on an adapter.
func commandOf(action string, o files.Owner) string {
	return "hubcli adapter " + action + " " + nameOf(o)
}

// confirmed compares the digest that the operator confirmed with that of the
// plan.
func (p *planned) confirmed(digest string) error {
	detail := map[string]any{"prompt": p.Prompt, "digest": p.Digest, "files": p.Files}
	switch digest {
	case p.Digest:
		return nil
	case "":
		return hub.NewError(hub.CodeConfirmRequired, "this changes files of yours and must be confirmed").WithDetail(detail).
			WithFix("show detail.prompt word for word; if the answer is yes, send the call again with confirm: detail.digest")
	}
	return hub.NewError(hub.CodePlanChanged, "the plan has changed since it was confirmed").WithDetail(detail).
		WithFix("preview it again and confirm the new digest")
}

// apply carries a plan out and logs each file that it changes.
func (a *Adapters) apply(ctx context.Context, p *planned) ([]string, error) {
	written, err := a.store.Apply(ctx, p.files)
	if err != nil {
		return nil, asError(err, nameOf(p.owner))
	}
	a.unverify(p.owner.Harness)
	for _, f := range p.Files {
		a.config.Logger.Info("adapter", "harness", p.Harness, "scope", p.Scope, "action", p.Action, "change", f.Change, "file", f.File)
	}
	backups := []string{}
	for _, w := range written {
		if w.Backup != "" {
			backups = append(backups, w.Backup)
		}
	}
	return backups, nil
}

// plan finds out what an action would do, and keeps other changes out until
// unlock is called. It reads files that may hang before it takes the lock.
func (a *Adapters) plan(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (p *planned, unlock func(), err error) {
	r, s, owner, err := a.where(harness, in)
	lost := err != nil && action == hub.AdapterUninstall && a.lost(ctx, harness, in, &owner)
	if err != nil && !lost {
		return nil, nil, err
	}
	if !lost {
		a.look(ctx, r, owner)
	}
	store, err := a.open(ctx)
	if err != nil {
		return nil, nil, asError(err, nameOf(owner))
	}
	if unlock, err = a.lock(ctx); err != nil {
		return nil, nil, err
	}
	p = &planned{row: r, owner: owner, AdapterPlan: hub.AdapterPlan{
		Harness: harness, Action: action, Scope: hub.AdapterScope(owner.Scope), Path: owner.Path,
		Files: []hub.AdapterFile{}, Warnings: []string{}, FollowUps: []string{},
	}}
	switch {
	case lost:
		p.row, _ = find(harness)
		p.files, err = store.PlanForget(ctx, owner)
	case action == hub.AdapterUninstall:
		// The operator sees all that goes, drifted or not.
		p.files, err = store.PlanUninstall(ctx, owner, files.Repair)
		if line := a.running(ctx, r); line != "" && owner.Scope == files.Global {
			p.FollowUps = append(p.FollowUps, line) // no part of the digest: sessions come and go
		}
	default:
		g := grantOf(action, in)
		if offer := a.grants(ctx, r, s, owner, g); offer != "" {
			p.Warnings = append(p.Warnings, offer)
		}
		var notes []string
		var kept string
		s, g, kept = a.form(ctx, s, owner, in, g)
		if kept != "" {
			p.Warnings = append(p.Warnings, kept)
		}
		p.files, notes, err = a.planInstall(ctx, store, s, owner, action, in, g)
		p.Warnings = append(append(p.Warnings, s.warnings...), notes...)
		p.FollowUps = append(p.FollowUps, s.followUps...)
		if err == nil {
			p.Warnings = append(p.Warnings, r.warnStrict(p.files.Changes)...)
		}
	}
	if err != nil {
		unlock()
		return nil, nil, asError(err, nameOf(owner))
	}
	p.tell(lost)
	return p, unlock, nil
}

// tell fills in the texts for the operator.
func (p *planned) tell(lost bool) {
	for _, c := range p.files.Changes {
		p.Files = append(p.Files, hub.AdapterFile{File: c.File, Change: changeOf(c)})
		p.Warnings = append(p.Warnings, c.Notes...)
	}
	switch {
	case lost && !p.files.Empty():
		p.Warnings = append(p.Warnings, "the folder is gone: no file changes, and the hub forgets its entries there; if the folder comes back, the entries stay in it")
	case len(p.Files) == 0:
		p.Warnings, p.FollowUps = []string{}, []string{}
	}
	p.Warnings = append(p.Warnings, p.files.Adopted...)
	p.Diff = p.files.Diff()
	p.Prompt = p.question()
	sum := sha256.Sum256([]byte(strings.Join([]string{
		string(p.Harness), string(p.Action), string(p.owner.Scope), p.owner.Path, p.files.Digest(), strings.Join(p.Warnings, "\n"),
	}, "\x00")))
	p.Digest = hex.EncodeToString(sum[:])
}

// planInstall also returns what the operator is told of the entries.
func (a *Adapters) planInstall(ctx context.Context, store *files.Store, s *setup, owner files.Owner, action hub.AdapterAction, in hub.AdapterInput, g grant) (*files.Plan, []string, error) {
	entry, err := a.today()
	if err != nil {
		return nil, nil, err
	}
	all, err := a.wants(s, owner, entry, g)
	if err != nil {
		return nil, nil, err
	}
	mode := files.Keep
	if action == hub.AdapterRepair {
		mode = files.Repair
	}
	var entries []files.Entry
	var notes []string
	for _, w := range a.chosen(ctx, all, g, pluginGrant(in)) {
		if w.allow != nil {
			continue // the part mcp writes it
		}
		if w.err != nil {
			return nil, nil, w.err
		}
		notes = append(notes, w.notes...)
		entries = append(append(entries, a.seeds(ctx, w)...), w.entries...)
	}
	plan, err := store.PlanInstall(ctx, entries, mode)
	return plan, notes, err
}

// seeds returns the seeds of a part whose places are free.
func (a *Adapters) seeds(ctx context.Context, w wanted) []files.Entry {
	var free []files.Entry
	for _, status := range a.states(ctx, w.seeds) {
		if status.State != files.Conflict && status.State != files.Adoptable {
			free = append(free, status.Entry)
		}
	}
	return free
}

func changeOf(c files.Change) hub.AdapterChange {
	switch {
	case c.Before == nil:
		return hub.FileCreated
	case c.After == nil:
		return hub.FileRemoved
	}
	return hub.FileEdited
}

// question returns the question for the operator.
func (p *planned) question() string {
	if len(p.Files) == 0 && len(p.Warnings) == 0 {
		return ""
	}
	verb := map[hub.AdapterAction]string{
		hub.AdapterInstall: "Set the hub up in", hub.AdapterUninstall: "Take the hub out of", hub.AdapterRepair: "Write the hub's part anew in",
	}[p.Action]
	where := "for this user"
	if p.Path != "" {
		where = "in the project " + p.Path
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s?\n", verb, p.row.title(), where)
	if len(p.Files) > 0 {
		b.WriteString("\nFiles that change:\n")
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "  %-6s  %s\n", f.Change, f.File)
	}
	fmt.Fprintf(&b, "\n%s", p.Diff)
	for _, line := range p.Warnings {
		fmt.Fprintf(&b, "\nNote: %s.", line)
	}
	for _, line := range p.FollowUps {
		fmt.Fprintf(&b, "\nAfterwards: %s.", line)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
