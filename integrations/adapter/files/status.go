package files

import (
	"context"
	"fmt"

	"hubcli/integrations/adapter/edit"
)

// Status looks at an entry and changes nothing. While another process writes,
// it may see the old file and the new ledger, or the other way round.
func (s *Store) Status(ctx context.Context, e Entry) Status {
	out := Status{Entry: e, State: Unreadable}
	if out.Err = ctx.Err(); out.Err != nil {
		return out
	}
	l, _, err := s.readLedger()
	if err != nil {
		out.Err = err
		return out
	}
	t, err := openTarget(e.Root, e.File, e.Owner.Scope)
	if err != nil {
		out.Err = err
		return out
	}
	defer t.close()
	if t.outside() {
		out.Outside = t.real
	}
	doc, _, err := t.read()
	if err != nil {
		out.Err = err
		return out
	}
	value, err := e.value()
	if err != nil {
		out.Err = fmt.Errorf("files: value of %s: %w", e.At, err)
		return out
	}
	wanted, err := edit.Canonical(e.Format, e.At, value)
	if err != nil {
		out.Err = err
		return out
	}
	rec := l.file(t.real).entry(e.At)
	out.Known = rec != nil
	out.State, out.Have, err = stateOf(doc, rec, e.Format, e.At, wanted)
	switch {
	case err != nil:
		out.Err = documentRefused(e.File, err)
	case out.State == Conflict:
		out.Err = refuse(IsConflict, e.File, "rename or remove it", "there is another %s that the hub did not write", e.At)
	case rec != nil:
		out.Installed, out.Version, out.Backup = rec.Installed, rec.Version, s.backupPath(rec.Backup)
	}
	return out
}

// Owners lists the owners that have entries in the ledger.
func (s *Store) Owners() ([]Owner, error) {
	l, _, err := s.readLedger()
	if err != nil {
		return nil, err
	}
	var owners []Owner
	seen := map[Owner]bool{}
	for _, f := range l.Files {
		for _, e := range f.Entries {
			for _, o := range e.Owners {
				if !seen[o] {
					seen[o] = true
					owners = append(owners, o)
				}
			}
		}
	}
	return owners, nil
}
