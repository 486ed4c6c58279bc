package view

import (
	"errors"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
)

// rulings shows one kind of what the operator has decided. Many calls ask it, so that nothing in force costs one
// look at a number. It is safe for concurrent use.
type rulings[Target, Row any] struct {
	table core.Table
	mu    sync.RWMutex
	held  core.Rulings[Target, Row]
	count atomic.Int32
}

func newRulings[Target, Row any](kind *core.RulingKind[Target, Row]) *rulings[Target, Row] {
	return &rulings[Target, Row]{table: kind.Table, held: kind.None()}
}

// apply takes a committed row of a target.
func (r *rulings[Target, Row]) apply(key, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held.Shown(key, value)
	r.count.Store(int32(r.held.Count()))
}

// restore takes the stored rows at a start.
func (r *rulings[Target, Row]) restore(rows core.Rows) error {
	return rows.RowsOf(r.table, nil, false, func(key, value []byte) bool {
		r.apply(key, value)
		return true
	})
}

// none reports whether nothing of the kind is in force.
func (r *rulings[Target, Row]) none() bool { return r.count.Load() == 0 }

// first returns the ruling for the first of the targets that has one and for which it counts; nil: there is none.
func (r *rulings[Target, Row]) first(counts func(*Row) bool, targets ...Target) *Row {
	if r.none() {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, t := range targets {
		if row, held := r.held.For(t); held && (counts == nil || counts(&row)) {
			return &row
		}
	}
	return nil
}

// list returns all that count, in the order of their kind.
func (r *rulings[Target, Row]) list(counts func(*Row) bool) []Row {
	r.mu.RLock()
	all := r.held.List()
	r.mu.RUnlock()
	in := all[:0]
	for i := range all {
		if counts == nil || counts(&all[i]) {
			in = append(in, all[i])
		}
	}
	return in
}

// RestoreRulings takes the stored rows of all kinds at a start.
func (v *View) RestoreRulings() error {
	return errors.Join(v.pauses.restore(v.rows), v.mutes.restore(v.rows), v.budgets.restore(v.rows), v.passes.restore(v.rows), v.users.restore(v.rows))
}
