package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// folder is the folder of the ledger and the backups in the data root.
const folder = "adapters"

// open returns the store of the installed entries. The first call opens it. If
// this fails, the next call tries again.
func (a *Adapters) open(ctx context.Context) (*files.Store, error) {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.store != nil {
		return a.store, nil
	}
	store, err := files.Open(ctx, filepath.Join(a.config.World.DataRoot, folder), a.config.Version)
	a.store = store // reads work even if err says that an earlier transaction is not finished
	return store, err
}

// states returns the states of entries; an error becomes a state too.
func (a *Adapters) states(ctx context.Context, entries []files.Entry) []files.Status {
	store, err := a.open(ctx)
	all := make([]files.Status, len(entries))
	for i, e := range entries {
		if store == nil {
			all[i] = files.Status{Entry: e, State: files.Unreadable, Err: err}
		} else {
			all[i] = store.Status(ctx, e)
			if all[i].State == files.Absent && !all[i].Known && e.At.Mark != "" {
				all[i] = underOldName(ctx, store, all[i])
			}
		}
	}
	return all
}

// underOldName looks for an entry whose hook command names another executable.
// Such an entry is outdated.
func underOldName(ctx context.Context, store *files.Store, absent files.Status) files.Status {
	e := absent.Entry
	places, _ := store.Places(e.Owner) // an unreadable ledger was reported before
	for _, p := range places {
		if p.File != e.File || p.Part != e.Part || !slices.Equal(p.At.Keys, e.At.Keys) || called(p.At.Mark) != called(e.At.Mark) {
			continue
		}
		old := e
		old.At = p.At
		var value any = map[string]string{"command": p.At.Mark}
		if p.At.Exact {
			value = p.At.Mark
		}
		old.Value, _ = json.Marshal(value) // strings are always valid JSON
		status := store.Status(ctx, old)
		if status.State == files.Installed {
			status.State = files.Outdated
		}
		return status
	}
	return absent
}

// called returns the arguments in a marker, or in the rule that allows
// hubcli watch.
func called(mark string) string {
	if strings.HasSuffix(mark, watchRule) {
		return watchRule
	}
	return mark[max(strings.LastIndex(mark, " hook "), 0):]
}

// installed returns the owners in the ledger; none if there is no ledger yet.
func (a *Adapters) installed(ctx context.Context) ([]files.Owner, error) {
	if _, err := os.Lstat(filepath.Join(a.config.World.DataRoot, folder)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	store, err := a.open(ctx)
	if store == nil {
		return nil, err
	}
	return store.Owners()
}

// asError turns the reason why files were not changed into an error with advice
// for the operator. name is the adapter's name in commands.
func asError(err error, name string) error {
	var h *hub.Error
	var r *files.Refusal
	switch {
	case errors.As(err, &h), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errNoExecutable):
		return hub.NewError(hub.CodeAdapterRefused, err.Error()).
			WithFix("install hubcli at a lasting path on PATH, and start the hub from there")
	case !errors.As(err, &r):
		return hub.NewError(hub.CodeAdapterRefused, err.Error()).WithFix("see its state: hubcli adapter status " + name)
	}
	code, fix := hub.CodeAdapterRefused, r.Fix
	switch r.Reason {
	case files.IsConflict:
		code, fix = hub.CodeAdapterConflict, "rename or remove that entry if you do not need it, and install again"
	case files.IsDrifted:
		code, fix = hub.CodeAdapterConflict, "look at the difference and write the hub's part anew: hubcli adapter repair "+name
	case files.PlanChanged:
		code = hub.CodePlanChanged
	case files.Busy:
		code = hub.CodeAdapterBusy
	case files.LeavesRoot, files.Foreign, files.HardLinked, files.NotRegular, files.TooLarge, files.NoAccess,
		files.Refused, files.NoLedger, files.Interrupted:
	}
	if fix == "" {
		fix = "move it away or correct it; see: hubcli adapter status " + name
	}
	e := hub.NewError(code, r.Error()).With("reason", r.Reason).WithFix(fix)
	if r.File != "" {
		e = e.With("file", r.File)
	}
	return e
}
