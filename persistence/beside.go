package persistence

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Beside returns the index in the folder of the store, as one that changes nothing once that
// folder is gone. The process ends then with the files of the index open.
func (s *Store) Beside(x core.Index) core.Index {
	return indexBeside{x, func() error {
		if err := s.Check(); errors.Is(err, &hub.Error{Code: hub.CodeStoreGone}) {
			return err
		}
		return nil
	}}
}

type indexBeside struct {
	core.Index
	gone func() error
}

func (x indexBeside) Open(end core.IndexPosition) (core.IndexPosition, error) {
	if err := x.gone(); err != nil {
		return core.IndexPosition{}, err
	}
	return x.Index.Open(end)
}

func (x indexBeside) Put(ctx context.Context, docs []core.IndexDocument, upto core.IndexPosition) error {
	if err := x.gone(); err != nil {
		return err
	}
	return x.Index.Put(ctx, docs, upto)
}

func (x indexBeside) Close() error {
	if x.gone() != nil {
		return nil
	}
	return x.Index.Close()
}
