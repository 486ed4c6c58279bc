package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/harness/files"
)

// planned is a plan with all that is told of it.
type planned struct {
	hub.AdapterPlan
	row   *row
	owner files.Owner
	files *files.Plan
}

// PreviewAdapter says what an action would do.
func (a *Adapters) PreviewAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterPlan, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	p, err := a.plan(ctx, harness, action, in)
	if err != nil {
		return hub.AdapterPlan{}, err
	}
	return p.AdapterPlan, nil
}

// ChangeAdapter does what a plan says, if it is the one that was confirmed.
func (a *Adapters) ChangeAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterResult, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	p, err := a.plan(ctx, harness, action, in)
	if err != nil {
		return hub.AdapterResult{}, err
	}
	done := hub.AdapterResult{Files: p.Files, Backups: []string{}, FollowUps: []string{}}
	if !p.files.Empty() {
		// Where the files stay as they are, only the ledger changes.
		if err := p.confirmed(in.Confirm); err != nil && len(p.Files) > 0 {
			return hub.AdapterResult{}, err
		}
		if done.Backups, err = a.apply(ctx, p); err != nil {
			return hub.AdapterResult{}, err
		}
		done.Changed, done.FollowUps = true, p.FollowUps
	}
	done.Place = a.look(ctx, p.row, p.owner)
	return done, nil
}

// name is the adapter as commands name it.
func (p *planned) name() string {
	if p.Path == "" {
		return string(p.Harness)
	}
	return string(p.Harness) + " --scope project --path " + p.Path
}

// confirmed compares what the operator has seen with what would be done.
func (p *planned) confirmed(digest string) error {
	detail := map[string]any{"prompt": p.Prompt, "digest": p.Digest, "files": p.Files}
	switch digest {
	case p.Digest:
		return nil
	case "":
		return hub.NewError(hub.CodeConfirmRequired, "this changes files of yours and has to be confirmed").WithDetail(detail).
			WithFix("show detail.prompt word for word; if the answer is yes, send the call again with confirm: detail.digest")
	}
	return hub.NewError(hub.CodePlanChanged, "what would be done is no longer what was confirmed").WithDetail(detail).
		WithFix("look at it again and confirm it anew")
}

// apply carries a plan out and says so in the log, file by file.
func (a *Adapters) apply(ctx context.Context, p *planned) ([]string, error) {
	written, err := a.store.Apply(ctx, p.files)
	if err != nil {
		return nil, asError(err, p.name())
	}
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

// plan works out what an action would do.
func (a *Adapters) plan(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (*planned, error) {
	r, s, owner, err := a.where(harness, in)
	if err != nil {
		return nil, err
	}
	store, err := a.open(ctx)
	if err != nil {
		return nil, asError(err, string(harness))
	}
	p := &planned{row: r, owner: owner, AdapterPlan: hub.AdapterPlan{
		Harness: harness, Action: action, Scope: hub.AdapterScope(owner.Scope), Path: owner.Path,
		Files: []hub.AdapterFile{}, Warnings: []string{}, FollowUps: []string{},
	}}
	if action == hub.AdapterUninstall {
		// The operator sees what goes, changed by somebody or not.
		p.files, err = store.PlanUninstall(ctx, owner, files.Repair)
	} else {
		p.files, err = a.planInstall(ctx, store, s, owner, action)
		p.Warnings, p.FollowUps = append(p.Warnings, s.warnings...), append(p.FollowUps, s.followUps...)
	}
	if err != nil {
		return nil, asError(err, p.name())
	}
	for _, c := range p.files.Changes {
		p.Files = append(p.Files, hub.AdapterFile{File: c.File, Change: changeOf(c)})
		p.Warnings = append(p.Warnings, c.Notes...)
	}
	if len(p.Files) == 0 {
		p.Warnings, p.FollowUps = []string{}, []string{}
	}
	p.Diff = p.files.Diff()
	p.Prompt = p.question()
	sum := sha256.Sum256([]byte(strings.Join([]string{string(harness), string(action), string(owner.Scope), owner.Path, p.files.Digest()}, "\x00")))
	p.Digest = hex.EncodeToString(sum[:])
	return p, nil
}

func (a *Adapters) planInstall(ctx context.Context, store *files.Store, s *setup, owner files.Owner, action hub.AdapterAction) (*files.Plan, error) {
	entry, err := a.today()
	if err != nil {
		return nil, err
	}
	all, err := a.wants(s, owner, entry)
	if err != nil {
		return nil, err
	}
	mode := files.Keep
	if action == hub.AdapterRepair {
		mode = files.Repair
	}
	var entries []files.Entry
	for _, w := range all {
		entries = append(append(entries, a.seeds(ctx, w)...), w.entries...)
	}
	return store.PlanInstall(ctx, entries, mode)
}

// seeds are those of a part in whose place nothing of others stands.
func (a *Adapters) seeds(ctx context.Context, w wanted) []files.Entry {
	var free []files.Entry
	for _, status := range a.states(ctx, w.seeds) {
		if status.State != files.Conflict {
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

// question is what the operator is asked.
func (p *planned) question() string {
	if len(p.Files) == 0 {
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
	fmt.Fprintf(&b, "%s %s, %s?\n\nFiles that change:\n", verb, p.row.title, where)
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
