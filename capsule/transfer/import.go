package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// ImportOptions say what Imports works with. All but Log are required.
type ImportOptions struct {
	// Import makes a project of a capsule that has been verified, and answers what told makes of it.
	// It keeps the answer under the idempotency key of the caller in ctx.
	Import func(ctx context.Context, src *capsule.Reader, told func(hub.Project) hub.CapsuleImportPlan, progress func(done, total int64)) (hub.CapsuleImportPlan, error)
	// Names returns the slug and the name that an imported project would get now.
	// Errors: limit_reached.
	Names func(slug, name string, rooms int) (freeSlug, freeName string, err error)
	// Earlier lists the projects that came from a capsule with this content.
	Earlier func(contentDigest string) []hub.ProjectID
	// SharedRooms returns those slugs of rooms that rooms of the hub have already.
	SharedRooms func(slugs []string) []string
	// Busy says whether the hub has commands of agents to carry out, which go first.
	Busy func() bool
	Log  *slog.Logger
}

// Imports keeps the plans of the imports of a hub. Its methods may be called by any goroutine.
// A plan under way has one goroutine of its own.
type Imports struct {
	options ImportOptions
	quit    context.Context //nolint:containedctx // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	plans  map[string]*importPlan
}

// An importPlan is one import. Imports.mu guards all but done and total.
type importPlan struct {
	in          hub.CapsuleInspectInput
	row         hub.CapsuleImportPlan
	manifest    [sha256.Size]byte
	rooms       []string // their slugs
	cancel      context.CancelFunc
	ended       chan struct{} // closed when what is under way has ended
	failed      error
	done, total atomic.Int64
}

// NewImports returns the plans of a hub: none.
func NewImports(o ImportOptions) *Imports {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Imports{options: o, plans: map[string]*importPlan{}}
	x.quit, x.stop = context.WithCancel(context.Background())
	return x
}

// Close ends all plans and waits for imports under way. The store may be closed then.
func (x *Imports) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.stop()
	x.running.Wait()
}

// PlanImport begins a plan; see hub.CapsuleImports.
func (x *Imports) PlanImport(ctx context.Context, in hub.CapsuleImportInput) (hub.CapsuleImportPlan, error) {
	if !filepath.IsAbs(in.Path) {
		return hub.CapsuleImportPlan{}, hub.Invalid("path", "path is no absolute path").WithFix("give the whole path of the capsule on the machine of the hub")
	}
	in.Path = filepath.Clean(in.Path)
	p := &importPlan{in: hub.CapsuleInspectInput(in), row: hub.CapsuleImportPlan{
		PlanID: newID(), State: hub.CapsulePlanning, Path: in.Path, ExpiresAt: hub.TimeOf(time.Now().Add(hub.CapsulePlanKept)),
		Redactions: map[string]int{}, LeftOut: map[string]int{}, Earlier: []hub.ProjectID{}, SharedRooms: []string{},
		Signature: hub.CapsuleSignature{State: hub.SignatureNone},
	}}
	x.mu.Lock()
	x.sweep()
	if err := x.mayBegin(); err != nil {
		x.mu.Unlock()
		return hub.CapsuleImportPlan{}, err
	}
	x.plans[p.row.PlanID] = p
	x.begin(p, func(ctx context.Context) error { return x.check(ctx, p) })
	x.mu.Unlock()
	return x.await(ctx, p)
}

func (x *Imports) mayBegin() error {
	switch {
	case x.closed:
		return hub.NewError(hub.CodeStopping, "the hub is stopping").WithFix("repeat the call when the hub is back")
	case x.waiting() >= hub.MaxCapsulePlans:
		return hub.NewError(hub.CodeLimitReached, "there are as many plans of imports as there may be").
			With("limit", hub.MaxCapsulePlans).WithFix("confirm or cancel one of them; each ends by itself after a quarter of an hour")
	}
	return nil
}

// waiting counts the plans that are not done. The caller holds mu.
func (x *Imports) waiting() (n int) {
	for _, p := range x.plans {
		if p.row.State != hub.CapsuleDone {
			n++
		}
	}
	return n
}

// begin runs work for a plan. The caller holds mu.
func (x *Imports) begin(p *importPlan, work func(context.Context) error) {
	ctx, cancel := context.WithCancel(x.quit)
	p.cancel, p.ended = cancel, make(chan struct{})
	ended := p.ended
	x.running.Go(func() {
		defer cancel()
		err := work(ctx)
		x.mu.Lock()
		defer x.mu.Unlock()
		defer close(ended)
		if err != nil {
			p.failed = importError(err)
			p.row.State, p.row.Error = hub.CapsuleFailed, p.failed.Error()
		}
		p.row.ExpiresAt = hub.TimeOf(time.Now().Add(hub.CapsulePlanKept))
	})
}

// await returns the plan when what is under way has ended, or after a while as it is. If it
// has failed meanwhile, that is the error, and the plan is forgotten.
func (x *Imports) await(ctx context.Context, p *importPlan) (hub.CapsuleImportPlan, error) {
	x.mu.Lock()
	ended := p.ended
	x.mu.Unlock()
	patience := time.NewTimer(hub.CapsulePlanAnswer)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-ctx.Done():
		return hub.CapsuleImportPlan{}, context.Cause(ctx)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if p.failed != nil {
		delete(x.plans, p.row.PlanID)
		return hub.CapsuleImportPlan{}, p.failed
	}
	return p.shown(), nil
}

// sweep drops the plans that have expired; none that is under way. The caller holds mu.
func (x *Imports) sweep() {
	now := hub.TimeOf(time.Now())
	for id, p := range x.plans {
		if p.row.ExpiresAt <= now && p.row.State != hub.CapsulePlanning && p.row.State != hub.CapsuleImporting {
			delete(x.plans, id)
		}
	}
}

// find returns a plan that has not expired. The caller holds mu.
func (x *Imports) find(id string) (*importPlan, error) {
	x.sweep()
	if p := x.plans[id]; p != nil {
		return p, nil
	}
	return nil, hub.NewError(hub.CodePlanNotFound, "there is no such plan of an import").With("plan_id", id).
		WithFix("plan the import again; a plan ends by itself after a quarter of an hour")
}

// shown returns the row with how far the plan is. The caller holds Imports.mu.
func (p *importPlan) shown() hub.CapsuleImportPlan {
	row := p.row
	row.Done, row.Total = p.done.Load(), p.total.Load()
	return row
}

func (p *importPlan) progress(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// ImportPlan returns a plan; see hub.CapsuleImports.
func (x *Imports) ImportPlan(_ context.Context, id string) (hub.CapsuleImportPlan, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, err := x.find(id)
	if err != nil {
		return hub.CapsuleImportPlan{}, err
	}
	return p.shown(), nil
}

// CancelImport ends a plan; see hub.CapsuleImports.
func (x *Imports) CancelImport(ctx context.Context, id string) (hub.CapsuleImportPlan, error) {
	x.mu.Lock()
	p, err := x.find(id)
	if err != nil {
		x.mu.Unlock()
		return hub.CapsuleImportPlan{}, err
	}
	p.cancel()
	ended := p.ended
	x.mu.Unlock()
	select {
	case <-ended: // what was staged is deleted now
	case <-ctx.Done():
		return hub.CapsuleImportPlan{}, context.Cause(ctx)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.plans, id)
	return p.shown(), nil
}

// check reads the whole capsule and fills in the plan.
func (x *Imports) check(ctx context.Context, p *importPlan) error {
	r, err := openChecked(ctx, &p.in)
	if err != nil {
		return err
	}
	defer r.file.Close()
	r.Between(pause.NewBeside(x.options.Busy).Rest)
	if err := r.verify(ctx, p.progress); err != nil {
		return err
	}
	var rooms []string
	if err := r.Rooms(func(room *capsule.Room) error {
		rooms = append(rooms, room.Slug)
		return nil
	}); err != nil {
		return err
	}
	row, err := x.describe(r.Manifest(), rooms, p.row)
	if err != nil {
		return err
	}
	row.Size, row.State, row.Encrypted, row.Signature = r.size, hub.CapsuleReady, r.encrypted, r.signature
	x.mu.Lock()
	defer x.mu.Unlock()
	p.row, p.manifest, p.rooms = row, manifestSum(r.Manifest()), rooms
	settleImport(&p.row)
	return nil
}

// describe fills in what a capsule is, and what it would be here now.
func (x *Imports) describe(m *capsule.Manifest, rooms []string, row hub.CapsuleImportPlan) (hub.CapsuleImportPlan, error) {
	slug, name, err := x.options.Names(m.Project.Slug, m.Project.Name, int(m.Counts.Rooms))
	if err != nil {
		return row, err
	}
	row.ProductVersion, row.CreatedAt, row.Scope, row.Privacy = m.ProductVersion, m.CreatedAt, m.Scope, m.Privacy
	row.Counts, row.Redactions, row.LeftOut = countsOf(&m.Counts), m.Redaction.Replaced, m.Redaction.LeftOut
	row.CapsuleID, row.ContentDigest = m.CapsuleID, m.ContentDigest
	row.FromSlug, row.FromName, row.Slug, row.Name = m.Project.Slug, m.Project.Name, slug, name
	row.Earlier = append([]hub.ProjectID{}, x.options.Earlier(m.ContentDigest)...)
	row.SharedRooms = append([]string{}, x.options.SharedRooms(rooms)...)
	return row, nil
}

// settleImport makes the question about a plan, and the digest that confirms it.
func settleImport(row *hub.CapsuleImportPlan) {
	row.Prompt = importPrompt(row)
	sum := sha256.Sum256([]byte(row.PlanID + "\n" + row.ContentDigest + "\n" + row.Prompt))
	row.PlanDigest = "sha256:" + hex.EncodeToString(sum[:])
}

// manifestSum tells two manifests apart.
func manifestSum(m *capsule.Manifest) [sha256.Size]byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic("transfer: a manifest cannot be encoded: " + err.Error())
	}
	return sha256.Sum256(text)
}

// ConfirmImport begins what was planned; see hub.CapsuleImports.
func (x *Imports) ConfirmImport(ctx context.Context, id string, in hub.CapsuleConfirmInput) (hub.CapsuleImportPlan, error) {
	x.mu.Lock()
	p, err := x.find(id)
	if err == nil {
		err = x.confirm(ctx, p, in.Confirm)
	}
	x.mu.Unlock()
	if err != nil {
		return hub.CapsuleImportPlan{}, err
	}
	return x.await(ctx, p)
}

// confirm begins the import of a plan that the digest confirms and that still fits. The caller
// holds mu.
func (x *Imports) confirm(ctx context.Context, p *importPlan, digest string) error {
	switch {
	case p.failed != nil:
		return p.failed
	case p.row.State == hub.CapsulePlanning:
		row := p.shown()
		return hub.NewError(hub.CodeConfirmRequired, "the capsule is still being checked").WithDetail(map[string]any{"plan": row}).
			WithFix("ask for the plan until it is ready, show its prompt word for word, and confirm its digest")
	case digest != p.row.PlanDigest:
		return importChanged("the digest is not that of the plan", p)
	case p.row.State != hub.CapsuleReady:
		return nil // it is under way, or done
	case x.closed:
		return x.mayBegin()
	}
	r, err := openCapsule(p.row.Path, p.in.Identity)
	if err != nil {
		return err
	}
	current, err := x.current(p, r.Reader, r.size)
	if err != nil || !current {
		_ = r.file.Close()
	}
	switch {
	case err != nil:
		return err
	case !current:
		return importChanged("the hub has changed since the import was planned", p)
	}
	p.row.State = hub.CapsuleImporting
	p.progress(0, 0)
	planned := p.row
	caller := &hub.Caller{Idempotency: hub.CallerOf(ctx).Idempotency.Clone()} // it outlives the call
	x.begin(p, func(ctx context.Context) error {
		defer r.file.Close()
		r.Between(pause.NewBeside(x.options.Busy).Rest)
		row, err := x.options.Import(hub.WithCaller(ctx, caller), r.Reader, func(project hub.Project) hub.CapsuleImportPlan {
			done := planned
			done.State, done.Project, done.Done, done.Total = hub.CapsuleDone, &project, p.done.Load(), p.total.Load()
			return done
		}, p.progress)
		if err != nil {
			return err
		}
		x.options.Log.Info("a project was imported", "project", row.Project.ProjectID, "slug", row.Project.Slug, "content", row.ContentDigest)
		x.mu.Lock()
		defer x.mu.Unlock()
		p.row.State, p.row.Project = row.State, row.Project
		return nil
	})
	return nil
}

// current reports whether a plan still says what would happen, and makes it say so. A file that
// is another one now has to be planned anew. The caller holds mu.
func (x *Imports) current(p *importPlan, r *capsule.Reader, size int64) (bool, error) {
	if manifestSum(r.Manifest()) != p.manifest || size != p.row.Size {
		return false, hub.NewError(hub.CodePlanChanged, "the file is not the one that was planned").
			WithFix("plan the import again")
	}
	now, err := x.describe(r.Manifest(), p.rooms, p.row)
	if err != nil {
		return false, err
	}
	if now.Slug == p.row.Slug && now.Name == p.row.Name && slices.Equal(now.Earlier, p.row.Earlier) && slices.Equal(now.SharedRooms, p.row.SharedRooms) {
		return true, nil
	}
	p.row = now
	settleImport(&p.row)
	return false, nil
}

// importChanged is the refusal of a confirmation. The detail has the plan that could be
// confirmed instead.
func importChanged(why string, p *importPlan) error {
	now := p.shown()
	return hub.NewError(hub.CodePlanChanged, why).
		WithDetail(map[string]any{"plan": now, "prompt": now.Prompt, "plan_id": now.PlanID, "plan_digest": now.PlanDigest}).
		WithFix("show detail.prompt word for word; if the answer is yes, confirm detail.plan_digest of detail.plan_id")
}
