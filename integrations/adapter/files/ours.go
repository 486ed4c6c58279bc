package files

import (
	"context"
	"slices"

	"hubcli/integrations/adapter/edit"
)

// Read returns what a file below root holds, read as carefully as one that is to be
// changed; nil if there is none. It never waits for a pipe.
func Read(root, file string) ([]byte, error) {
	t, err := openTarget(root, file)
	if err != nil {
		return nil, err
	}
	defer t.close()
	doc, _, err := t.read()
	return doc, err
}

// Place is where the ledger knows an entry.
type Place struct {
	File   string // as the entry named it
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

// Made are the files and folders that installs have made, by their own paths.
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

// PlanForget plans that nothing of an owner is known any more, whatever stands in
// its files: for a project whose folder is gone.
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
