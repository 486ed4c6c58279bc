package capsules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/capsule"
	"hubcli/hub"
)

// How an import works. It takes a gap of numbers out of the journal. It stages every thing of
// the capsule under a number of the gap, out of sight. Then it has the owner of projects
// decide one record, which makes the project with its rooms and all that was staged visible.
// An import that ends before this record leaves nothing: what was staged is deleted, by the
// import itself or by the next start.

// maxGaps is how many gaps an import tries. A gap does not do if a text of the capsule names a
// number of it that means nothing in the project. The second gap is free of all numbers that
// the first try has met; only a capsule that names a great many needs more.
const maxGaps = 5

// ImportOptions are what an Importer needs.
type ImportOptions struct {
	View   *view.View
	Engine *engine.Engine
	Gate   *gate.Gate
	Stager core.Stager
	Log    *slog.Logger
}

// An Importer brings capsules into the hub. Its methods may be called by any goroutine.
type Importer struct{ ImportOptions }

// NewImporter returns an importer.
func NewImporter(o ImportOptions) *Importer { return &Importer{o} }

// Sweep deletes what imports have left that ended before they were done. It is called once,
// before the first import. While the owner of projects is in quarantine it deletes nothing: the
// record that this owner cannot apply may be the one that makes an import visible.
func (i *Importer) Sweep(ctx context.Context) {
	broken := func(q hub.QuarantinedActor) bool { return q.Owner == core.OwnerProjects.String() }
	if slices.ContainsFunc(i.Engine.Quarantined(), broken) {
		return
	}
	for _, g := range i.Stager.Staged() {
		if err := i.Stager.Unstage(ctx, g); err != nil {
			i.Log.LogAttrs(ctx, slog.LevelWarn, "an import that was not finished could not be deleted; the next start tries again", slog.Any("error", err))
		}
	}
}

// Told makes the answer of the call that has begun an import from the project that came of it.
type Told func(hub.Project) hub.CapsuleImportPlan

// Progress is told how many rows of how many an import has staged.
type Progress func(done, total int64)

// errNumberTaken says that a text of the capsule names a number that an imported thing was
// about to get.
var errNumberTaken = errors.New("capsules: a text names a number of the gap")

// Import makes the project of a capsule, which has been verified, a project of this hub.
// Errors: limit_reached, capsule_invalid if the capsule has changed since, storage_full,
// stopping, store_failed, and the cause of ctx. After any error but store_failed the hub is
// as before.
func (i *Importer) Import(ctx context.Context, src *capsule.Reader, now hub.Time, told Told, progress Progress) (plan hub.CapsuleImportPlan, err error) {
	m := src.Manifest()
	if _, _, err := i.Names(m.Project.Slug, m.Project.Name, int(m.Counts.Rooms)); err != nil {
		return plan, err
	}
	p := newPlacing(&m.Counts)
	for range maxGaps {
		if plan, err = i.try(ctx, src, now, told, progress, p); !errors.Is(err, errNumberTaken) {
			return plan, err
		}
	}
	return plan, hub.NewError(hub.CodeCapsuleInvalid, "the texts of the capsule name so many numbers that none are left for what it holds").
		WithFix("export fewer rooms, or import into another hub")
}

// Names returns the slug and the name that a project with so many rooms would get now. Errors:
// limit_reached.
func (i *Importer) Names(slug, name string, rooms int) (freeSlug, freeName string, err error) {
	view.Look(i.View.Places, func(index *core.ProjectIndex) any {
		freeSlug, freeName, err = index.FreeNames(slug, name, rooms)
		return nil
	})
	return freeSlug, freeName, err
}

// SharedRooms returns those of the slugs that rooms of the hub have already. By such a slug
// alone no room is found when the project is here.
func (i *Importer) SharedRooms(slugs []string) []string {
	return view.Look(i.View.Places, func(index *core.ProjectIndex) []string { return index.RoomSlugs(slugs) })
}

// try imports with one gap.
func (i *Importer) try(ctx context.Context, src *capsule.Reader, now hub.Time, told Told, progress Progress, p *placing) (plan hub.CapsuleImportPlan, err error) {
	var at place
	gap, err := i.Engine.PassOver(ctx, i.Stager, func(head core.Head) (seqs, messages int64) {
		at, seqs, messages = p.at(head)
		return seqs, messages
	})
	if err != nil {
		return plan, err
	}
	plan, err = i.fill(ctx, src, gap, now, told, progress, &finding{placing: p, place: at})
	if err == nil || errors.Is(err, &hub.Error{Code: hub.CodeStoreFailed}) {
		return plan, err
	}
	if left := i.Stager.Unstage(context.WithoutCancel(ctx), gap); left != nil {
		i.Log.LogAttrs(ctx, slog.LevelWarn, "an import that failed could not be deleted; the next start does it", slog.Any("error", left))
	}
	return plan, err
}

// fill stages the capsule in a gap and makes it visible.
func (i *Importer) fill(ctx context.Context, src *capsule.Reader, gap core.Gap, now hub.Time, told Told, progress Progress, found *finding) (hub.CapsuleImportPlan, error) {
	s := newStaging(ctx, i.Stager, gap, src, progress, found)
	project, rooms, err := s.everything(now)
	if err != nil {
		return hub.CapsuleImportPlan{}, err
	}
	command := core.ImportCommand{
		Gap: gap, Project: project, Rooms: rooms,
		Vacant: int64(gap.UptoMessage-gap.FromMessage) + 1 - src.Manifest().Counts.Messages,
	}
	// The caller may leave now, but whether the record is committed must be known. The record keeps
	// the answer under the key of the call that has begun the import.
	act := gate.Act{Op: "confirmImport", Agent: hub.AgentOperator, Caller: &hub.Caller{Operator: true, Idempotency: hub.CallerOf(ctx).Idempotency}}
	answer, _, err := gate.Do(context.WithoutCancel(ctx), i.Gate, &act, gate.Outside[hub.CapsuleImportPlan](), func() (engine.Command[*core.Projects, hub.Project, hub.CapsuleImportPlan], error) {
		return engine.Command[*core.Projects, hub.Project, hub.CapsuleImportPlan]{
			Owner:  core.Owner{Kind: core.OwnerProjects},
			Size:   1024 * (1 + len(rooms)),
			Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) { return p.Import(command) },
			Answer: func(p hub.Project, _ *core.Record) hub.CapsuleImportPlan { return told(p) },
		}, nil
	})
	return answer, err
}

// ids are the numbers that an import gives: the n-th thing of a kind gets the n-th sequence
// number of the place, and the message or task with number n its n-th message id.
type ids struct {
	place
	counts  capsule.Counts
	project hub.ProjectID
}

// prefixes of ids by the letter of a reference, with how many there are.
func (x *ids) prefix(letter byte) (prefix string, count int64) {
	switch letter {
	case 'r':
		return core.PrefixRoom, x.counts.Rooms
	case 'd':
		return core.PrefixDecision, x.counts.Decisions
	case 'a':
		return core.PrefixArtifact, x.counts.Artifacts
	case 'k':
		return core.PrefixMemory, x.counts.Memories
	case 'u':
		return core.PrefixRun, x.counts.Runs
	case 'p':
		return core.PrefixProject, 1
	}
	return "", 0
}

// seq returns the sequence number of the thing that a reference names.
func (x *ids) seq(ref capsule.Ref) (hub.Seq, string, bool) {
	if ref == "" {
		return 0, "", false
	}
	prefix, count := x.prefix(ref[0])
	n, err := strconv.ParseInt(string(ref[1:]), 10, 64)
	if err != nil || n < 1 || n > count {
		return 0, "", false
	}
	return x.firstSeq + hub.Seq(n) - 1, prefix, true
}

// thing returns the id of the thing that a reference names.
func (x *ids) thing(ref capsule.Ref) (string, bool) {
	seq, prefix, ok := x.seq(ref)
	return core.IDAt(prefix, seq), ok
}

// message returns the id of a message or task.
func (x *ids) message(n capsule.Number) (hub.MessageID, bool) {
	return x.firstMessage + hub.MessageID(n) - 1, n >= 1 && int64(n) <= x.counts.Messages+x.counts.Tasks
}

// agent returns the id of an author in this hub.
func (x *ids) agent(name hub.AgentID) hub.AgentID {
	if name == "" {
		return ""
	}
	return hub.ImportedAgent(name, x.project)
}

// thread returns the id of a thread in this hub.
func (x *ids) thread(name hub.ThreadID) hub.ThreadID {
	if name == "" {
		return ""
	}
	return hub.ImportedThread(name, x.project)
}

// errChanged says that a capsule is not what was verified.
func errChanged(what string) error {
	return hub.NewError(hub.CodeCapsuleInvalid, fmt.Sprintf("the capsule has changed since it was checked: %s", what)).
		WithFix("plan the import again")
}
