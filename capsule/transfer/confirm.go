package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"hubcli/actors/capsules"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Extension ends the name of a capsule.
const Extension = ".hubpack"

// checkTarget refuses a path at which no capsule can be put.
func checkTarget(path, suffix string) error {
	switch {
	case path == "":
		return hub.Invalid("out", "out is missing").WithFix("name the file to write, such as /tmp/shop" + Extension)
	case len(path) > hub.MaxPathBytes || !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return hub.Invalid("out", "out is too long, or has characters that no path of a capsule may have").With("limit", hub.MaxPathBytes).
			WithFix("name a file with a shorter path, and without control characters")
	case !filepath.IsAbs(path):
		return hub.Invalid("out", "out is no absolute path").WithFix("give the whole path on the machine of the hub")
	case !strings.HasSuffix(filepath.Base(path), suffix) || filepath.Base(path) == suffix:
		return hub.Invalid("out", "the name of the file does not end with "+suffix).WithFix("name it such as shop" + suffix)
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(path))); err != nil || !info.IsDir() {
		return hub.Invalid("out", "the folder of the file does not exist").With("folder", filepath.Dir(path)).
			WithFix("make the folder first, or name another file")
	}
	return checkFree(path)
}

func targetExists(path string) error {
	return hub.NewError(hub.CodeTargetExists, "there is a file of that name, and an export never replaces one").With("out", path).
		WithFix("name another file, or move that one away")
}

// ConfirmExport puts the file of a plan at its target; see hub.Capsules.
func (x *Exports) ConfirmExport(ctx context.Context, id string, in hub.CapsuleConfirmInput) (hub.CapsulePlan, error) {
	x.mu.Lock()
	p, err := x.find(id)
	x.mu.Unlock()
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	select {
	case p.placing <- struct{}{}:
		defer func() { <-p.placing }()
	case <-ctx.Done():
		return hub.CapsulePlan{}, context.Cause(ctx)
	}
	row, err := x.confirmable(id, in.Confirm)
	if err != nil || row.State == hub.CapsuleDone {
		return row, err
	}
	if err := x.fits(ctx, p); err != nil {
		return hub.CapsulePlan{}, err
	}
	if err := x.put(ctx, p, row.Target); err != nil {
		return hub.CapsulePlan{}, asError(err)
	}
	mirror := x.writeMirror(ctx, p)
	x.mu.Lock()
	defer x.mu.Unlock()
	p.row.State, p.row.Mirror = hub.CapsuleDone, mirror
	x.discard(p)
	x.options.Log.Info("a project was exported", "project", p.row.Project.Slug, "file", row.Target, "scope", row.Scope, "privacy", row.Privacy)
	return p.shown(), nil
}

// confirmable returns a plan that the digest confirms, or that is done already.
func (x *Exports) confirmable(id, digest string) (hub.CapsulePlan, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, err := x.find(id)
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	row := p.shown()
	switch {
	case p.failed != nil:
		return row, p.failed
	case row.State == hub.CapsulePlanning:
		return row, hub.NewError(hub.CodeConfirmRequired, "the plan is still being made").WithDetail(map[string]any{"plan": row}).
			WithFix("ask for the plan until it is ready, show its prompt word for word, and confirm its digest")
	case digest != row.PlanDigest:
		return row, planChanged("the digest is not that of the plan", &row)
	}
	return row, nil
}

// planChanged is the refusal of a confirmation. The detail has the plan that could be
// confirmed instead.
func planChanged(why string, now *hub.CapsulePlan) error {
	return hub.NewError(hub.CodePlanChanged, why).
		WithDetail(map[string]any{"plan": now, "prompt": now.Prompt, "plan_id": now.PlanID, "plan_digest": now.PlanDigest}).
		WithFix("show detail.prompt word for word; if the answer is yes, confirm detail.plan_digest of detail.plan_id")
}

// fits refuses a plan whose project has changed since, and plans the export again.
func (x *Exports) fits(ctx context.Context, p *plan) error {
	view, err := x.options.Snapshots.Snapshot()
	if err != nil {
		return asError(err)
	}
	changed, err := capsules.Changed(ctx, view, p.request, &p.result)
	view.Close()
	if err != nil {
		return err
	}
	why := "the project has changed since the export was planned"
	if !changed {
		switch {
		case p.strays():
			why = "the path of out leads to another folder than when the export was planned"
		case p.mirror != nil && !p.mirror.fits():
			why = "the folder of the mirror has changed since the export was planned"
		default:
			return nil
		}
	}
	x.mu.Lock()
	if x.plans[p.row.PlanID] == p {
		x.drop(p)
	}
	x.mu.Unlock()
	again, err := x.begin(ctx, p.in, p.row.Form)
	if err != nil {
		return err
	}
	row, err := x.await(ctx, again)
	if err != nil {
		return err
	}
	return planChanged(why, &row)
}

// put puts what was planned at its target.
func (x *Exports) put(ctx context.Context, p *plan, target string) error {
	if err := x.outside(target); err != nil {
		return err
	}
	if p.row.Form == hub.CapsuleBundle {
		if err := checkFolder(target); err != nil {
			return err
		}
		return x.noted(p, target, func(prefix string) error { return x.placeBundle(ctx, p, target, prefix) })
	}
	if err := checkTarget(target, suffixOf(len(p.row.Recipients) > 0)); err != nil {
		return err
	}
	if p.signing != nil {
		if err := checkFree(p.row.Signer.File); err != nil {
			return err
		}
	}
	return x.noted(p, target, func(prefix string) error {
		err := x.place(ctx, p, target, prefix)
		if err != nil {
			err = errors.Join(err, p.withdrawSignature(err))
		}
		return err
	})
}

// place copies the file of a plan to its target: as a part beside it, which is synced,
// compared with what was planned, and gets its name only then. It replaces nothing.
func (x *Exports) place(ctx context.Context, p *plan, target, prefix string) error {
	from, err := os.Open(p.file)
	if err != nil {
		return err
	}
	defer from.Close()
	err = osfile.Create(target, osfile.Content{
		Prefix: prefix, Mode: 0o600, Exactly: true,
		Write: func(w io.Writer) error {
			_, err := io.Copy(w, &until{ctx: ctx, r: from})
			return err
		},
		Check: func(r io.Reader) error {
			sum := sha256.New()
			if _, err := io.Copy(sum, &until{ctx: ctx, r: buffer(r)}); err != nil {
				return err
			}
			if [sha256.Size]byte(sum.Sum(nil)) != p.sum {
				return hub.NewError(hub.CodeCorruptRecord, "the file of the plan is not what was written").
					WithFix("plan the export again; if it happens again, look at the disk")
			}
			return p.placeSignature(prefix) // as late as can be: the name of the file comes next
		},
	})
	if errors.Is(err, fs.ErrExist) {
		return targetExists(target)
	}
	return err
}

// until reads until ctx is done.
type until struct {
	ctx context.Context //nolint:containedctx // it lives as long as one copy
	r   io.Reader
}

func (u *until) Read(b []byte) (int, error) {
	if err := context.Cause(u.ctx); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}

// asError gives every error the form of the hub's.
func asError(err error) error {
	var known *hub.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return hub.NewError(hub.CodePlanNotFound, "the export was cancelled").WithFix("plan the export again")
	case errors.Is(err, syscall.ENOSPC):
		return storageFull(0)
	case errors.Is(err, fs.ErrPermission):
		return hub.NewError(hub.CodeInvalid, "the hub may not write there").With("field", "out").
			WithFix("name a file in a folder that the user of the hub may write")
	}
	return hub.NewError(hub.CodeInternal, fmt.Sprintf("the export failed: %v", err)).WithFix("see the cause in the message, and plan the export again")
}
