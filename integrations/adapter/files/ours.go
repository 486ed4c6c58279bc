package files

import (
	"context"
	"slices"

	"hubcli/integrations/adapter/edit"
)

// Read returns the content of a file below root, with the same checks as before
// a change; nil if there is no file. It never waits for a pipe.
func Read(root, file string, scope Scope) ([]byte, error) {
	t, err := openTarget(root, file, scope)
	if err != nil {
		return nil, err
	}
	defer t.close()
	doc, _, err := t.read()
	return doc, err
}

// Place is the place of an entry in the ledger.
type Place struct {
	File   string // path as the entry named it
	Part   string
	Format edit.Format
	At     edit.Pointer
}

// Places lists the entries of an owner.
func (s *Store) Places(owner Owner) ([]Place, error) {
	l, _, err := s.readLedger()
	if err != nil {
		return nil, err
	}
	var all []Place
	for _, f := range l.Files {
		for _, e := range f.Entries {
			if slices.Contains(e.Owners, owner) {
				all = append(all, Place{File: f.File, Part: e.Part, Format: e.Format, At: e.At})
			}
		}
	}
	return all, nil
}

// Made returns the files and folders that installs have made, by their own
// paths.
func (s *Store) Made() (map[string]bool, error) {
	l, _, err := s.readLedger()
	if err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, f := range l.Files {
		if f.Created {
			made[f.Target] = true
		}
		for _, folder := range f.Folders {
			made[folder] = true
		}
	}
	return made, nil
}

// PlanForget plans to remove an owner from the ledger without a change to its
// files, for a project whose folder is gone.
func (s *Store) PlanForget(ctx context.Context, owner Owner) (*Plan, error) {
	return s.plan(ctx, func(ctx context.Context) (*Plan, error) { return s.PlanForget(ctx, owner) }, func(p *planner) error {
		for _, f := range p.ledger.Files {
			for _, e := range slices.Clone(f.Entries) {
				e.Owners = slices.DeleteFunc(e.Owners, func(o Owner) bool { return o == owner })
				if len(e.Owners) == 0 {
					f.drop(e)
				}
			}
		}
		return nil
	})
}
