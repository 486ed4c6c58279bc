package view

import (
	"slices"
	"sync"

	"hubcli/actors/core"
)

// imports shows the imports that are committed. There are few: each makes a project.
type imports struct {
	mu   sync.RWMutex
	list []core.Import // in the order of their records
}

// apply takes the row of an import that this process has encoded or the store has read.
func (i *imports) apply(value []byte) {
	row, err := core.DecodeImport(value)
	if err != nil {
		panic(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, row)
}

func (i *imports) last() core.Import {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.list[len(i.list)-1]
}

// Imports returns the imports that are committed, in the order of their records.
func (v *View) Imports() []core.Import {
	v.imports.mu.RLock()
	defer v.imports.mu.RUnlock()
	return slices.Clone(v.imports.list)
}

// RestoreImports takes the stored imports at a start.
func (v *View) RestoreImports() error {
	var bad error
	err := v.rows.RowsOf(core.TableImport, nil, false, func(_, value []byte) bool {
		var row core.Import
		if row, bad = core.DecodeImport(value); bad != nil {
			return false
		}
		v.imports.list = append(v.imports.list, row)
		return true
	})
	if bad != nil {
		return bad
	}
	slices.SortFunc(v.imports.list, func(a, b core.Import) int { return int(int64(a.Revealed) - int64(b.Revealed)) })
	return err
}
