package transfer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/capsule/redact"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// Options say what Exports works with. All but Log are required.
type Options struct {
	Dir     string // the folder of the plans; it is made when it is wanted
	Store   string // the folder of the store, in which no export may lie; empty: there is none
	Version string // of the program
	// Snapshots gives the rows of one instant.
	Snapshots core.Snapshotter
	// Project and Room find what a request names.
	Project func(ctx context.Context, ref string) (hub.Project, error)
	Room    func(ctx context.Context, ref hub.RoomRef) (hub.Room, error)
	// Space says whether the disk of the store has room for more, and how many bytes.
	Space func() (ok bool, free int64)
	// Machine says what names this machine and its people, and which values are secret.
	// The salt is not its business.
	Machine func() redact.Options
	// Secrets calls fn with the secrets that agents have of the hub.
	Secrets func(rows core.Rows, fn func(string)) error
	// WorkTrees returns the roots of the Git work trees that are bound to rooms of a
	// project, one for each repository.
	WorkTrees func(ctx context.Context, project hub.ProjectID) ([]string, error)
	// Busy says whether the hub has commands of agents to carry out, which go first.
	Busy func() bool
	// Gone returns why the folder of the plans is not that of the hub any more; nil: it is.
	Gone func() error
	Log  *slog.Logger
}

// Exports keeps the plans of a hub.
type Exports struct {
	options Options
	quit    context.Context //nolint:containedctx // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	plans  map[string]*plan
}

// The ends of the names that plans have in their folder: of the capsule, and of the folder
// with what is rendered from it.
const (
	planSuffix = ".plan"
	treeSuffix = ".tree"
)

// New returns the plans of a hub: none. What a crash has left in the folder, and beside the
// targets of its exports, is deleted.
func New(o Options) *Exports {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Exports{options: o, plans: map[string]*plan{}}
	x.quit, x.stop = context.WithCancel(context.Background())
	entries, err := os.ReadDir(o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.Log.Warn("the folder of export plans cannot be read", "error", err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), planSuffix)
		for _, suffix := range []string{treeSuffix, planSuffix + sealSuffix} {
			if !ok {
				id, ok = strings.CutSuffix(e.Name(), suffix)
			}
		}
		if ok && isPlanID(id) {
			x.remove(filepath.Join(o.Dir, e.Name()))
		}
		if id, ok := strings.CutSuffix(e.Name(), noteSuffix); ok && isPlanID(id) {
			x.removeNoted(filepath.Join(o.Dir, e.Name()), id)
		}
	}
	return x
}

// Close ends all plans and waits for exports under way. The store may be closed then.
func (x *Exports) Close() {
	x.mu.Lock()
	x.closed = true
	for _, p := range x.plans {
		x.drop(p)
	}
	x.mu.Unlock()
	x.stop()
	x.running.Wait()
}

// remove deletes a file or a folder of a plan.
func (x *Exports) remove(path string) {
	if x.gone() != nil { // the folder there is another store's
		return
	}
	if err := os.RemoveAll(path); err != nil {
		x.options.Log.Warn("the file of an export plan cannot be deleted; the next start tries again", "error", err)
	}
}

// gone returns why nothing may be written into the folder of the plans any more, or nil.
func (x *Exports) gone() error {
	if x.options.Gone == nil {
		return nil
	}
	return x.options.Gone()
}

// drop forgets a plan and has its file deleted. The caller holds mu.
func (x *Exports) drop(p *plan) {
	delete(x.plans, p.row.PlanID)
	p.cancel()
	if p.row.State != hub.CapsulePlanning { // else the export under way does it
		x.discard(p)
	}
}

// discard deletes what a plan has written where nobody sees it.
func (x *Exports) discard(p *plan) {
	x.remove(p.file)
	x.remove(p.tree)
}

// sweep drops the plans that have expired. The caller holds mu.
func (x *Exports) sweep() {
	now := hub.TimeOf(time.Now())
	for _, p := range x.plans {
		if p.row.ExpiresAt <= now {
			x.drop(p)
		}
	}
}

// PlanExport begins a plan; see hub.Capsules.
func (x *Exports) PlanExport(ctx context.Context, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	if err := checkTarget(in.Out, suffixOf(len(in.To) > 0)); err != nil {
		return hub.CapsulePlan{}, err
	}
	if err := x.outside(in.Out); err != nil {
		return hub.CapsulePlan{}, err
	}
	p, err := x.begin(ctx, in, hub.CapsuleFile)
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	return x.await(ctx, p)
}

// begin resolves what the input names, and starts to write.
func (x *Exports) begin(ctx context.Context, in hub.CapsuleExportInput, form hub.CapsuleForm) (*plan, error) {
	p, err := x.newPlan(ctx, in, form)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sweep()
	switch {
	case x.closed:
		return nil, hub.NewError(hub.CodeStopping, "the hub is stopping").WithFix("repeat the call when the hub is back")
	case x.unconfirmed() >= hub.MaxCapsulePlans:
		return nil, hub.NewError(hub.CodeLimitReached, "there are as many plans of exports as there may be").
			With("limit", hub.MaxCapsulePlans).WithFix("confirm or cancel one of them; each ends by itself after a quarter of an hour")
	}
	x.plans[p.row.PlanID] = p
	work, cancel := context.WithCancel(x.quit)
	p.cancel = cancel
	x.running.Go(func() {
		defer cancel()
		defer pause.CollectRarely()()
		x.write(work, p)
	})
	return p, nil
}

// unconfirmed counts the plans that are not done. Of those that are done, which hold no file
// and are kept for callers that confirm again, it forgets the oldest if there are too many.
// The caller holds mu.
func (x *Exports) unconfirmed() (n int) {
	var done []*plan
	for _, p := range x.plans {
		if p.row.State == hub.CapsuleDone {
			done = append(done, p)
		} else {
			n++
		}
	}
	slices.SortFunc(done, func(a, b *plan) int { return cmp.Compare(b.row.ExpiresAt, a.row.ExpiresAt) })
	for _, p := range done[min(len(done), hub.MaxCapsulePlans):] {
		x.drop(p)
	}
	return n
}

// await returns the plan when it is ready, or after a while as it is. A plan that failed
// meanwhile is an error, and forgotten.
func (x *Exports) await(ctx context.Context, p *plan) (hub.CapsulePlan, error) {
	patience := time.NewTimer(hub.CapsulePlanAnswer)
	defer patience.Stop()
	select {
	case <-p.written:
	case <-patience.C:
	case <-ctx.Done():
		return hub.CapsulePlan{}, context.Cause(ctx)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if p.failed != nil {
		if x.plans[p.row.PlanID] == p {
			x.drop(p)
		}
		return hub.CapsulePlan{}, p.failed
	}
	return p.shown(), nil
}

// ExportPlan returns a plan; see hub.Capsules.
func (x *Exports) ExportPlan(_ context.Context, id string) (hub.CapsulePlan, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, err := x.find(id)
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	return p.shown(), nil
}

// find returns a plan that has not expired. The caller holds mu.
func (x *Exports) find(id string) (*plan, error) {
	x.sweep()
	if p := x.plans[id]; p != nil {
		return p, nil
	}
	return nil, hub.NewError(hub.CodePlanNotFound, "there is no such plan of an export").With("plan_id", id).
		WithFix("plan the export again; a plan ends by itself after a quarter of an hour")
}

// CancelExport ends a plan; see hub.Capsules.
func (x *Exports) CancelExport(_ context.Context, id string) (hub.CapsulePlan, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, err := x.find(id)
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	row := p.shown()
	x.drop(p)
	return row, nil
}

const idBytes = 16

func newID() string {
	b := make([]byte, idBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func isPlanID(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == idBytes && text == strings.ToLower(text)
}
