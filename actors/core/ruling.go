package core

import (
	"encoding/json"
	"slices"

	"hubcli/hub"
)

// RulingKind is one kind of what the operator decides for the hub: the table of its rows and how a
// row is found, named and ordered.
type RulingKind[Target, Row any] struct {
	Table Table
	What  string // in errors, such as "a pause"
	Key   func(Target) []byte
	Of    func(*Row) Target
	Order func(a, b *Row) int // of a list; rows that it holds equal stand in the order of their keys
}

// The kinds of rulings. Their rows are in force until an empty value replaces them.
var (
	PauseKind  = RulingKind[hub.PauseTarget, hub.Pause]{TablePause, "a pause", PauseKey, (*hub.Pause).Target, func(a, b *hub.Pause) int { return int(a.Since - b.Since) }}
	MuteKind   = RulingKind[hub.MuteTarget, hub.Mute]{TableMute, "a mute", MuteKey, (*hub.Mute).Target, func(a, b *hub.Mute) int { return int(a.Since - b.Since) }}
	BudgetKind = RulingKind[hub.BudgetTarget, hub.Budget]{TableBudget, "a budget", BudgetKey, (*hub.Budget).Target, func(a, b *hub.Budget) int { return int(a.Since - b.Since) }}
	PassKind   = RulingKind[hub.PassID, hub.Pass]{TablePass, "a pass", passKey, func(p *hub.Pass) hub.PassID { return p.PassID }, latestPassFirst}
	UserKind   = RulingKind[string, hub.AllowedUser]{TableUser, "a user", userKey, func(u *hub.AllowedUser) string { return u.ID }, usersByName}
)

// Rulings are the rows of one kind that are in force. The owner of the kind changes them by its
// facts; a view holds a copy that it feeds with the committed rows.
type Rulings[Target, Row any] struct {
	kind *RulingKind[Target, Row]
	held map[string]Row // by key
}

// None returns that nothing of the kind is in force.
func (k *RulingKind[Target, Row]) None() Rulings[Target, Row] {
	return Rulings[Target, Row]{kind: k, held: map[string]Row{}}
}

// Table is where the rows are stored.
func (r *Rulings[Target, Row]) Table() Table { return r.kind.Table }

// Restore adds a stored row to what is being loaded. An empty value is a ruling that is over.
func (r *Rulings[Target, Row]) Restore(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row Row
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of "+r.kind.What+" cannot be read")
	}
	r.held[string(r.kind.Key(r.kind.Of(&row)))] = row
	return nil
}

// Shown takes a committed row under its key. A value that is empty or cannot be read ends the ruling.
func (r *Rulings[Target, Row]) Shown(key, value []byte) {
	delete(r.held, string(key))
	var row Row
	if json.Unmarshal(value, &row) == nil {
		r.held[string(key)] = row
	}
}

// For returns the ruling for a target, if one is in force.
func (r *Rulings[Target, Row]) For(t Target) (row Row, held bool) {
	row, held = r.held[string(r.kind.Key(t))]
	return row, held
}

// Count returns how many there are.
func (r *Rulings[Target, Row]) Count() int { return len(r.held) }

// List returns all in the order of the kind.
func (r *Rulings[Target, Row]) List() []Row {
	all := make([]Row, 0, len(r.held))
	for _, row := range r.held {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Row) int {
		if c := r.kind.Order(&a, &b); c != 0 {
			return c
		}
		return slices.Compare(r.kind.Key(r.kind.Of(&a)), r.kind.Key(r.kind.Of(&b)))
	})
	return all
}

// set puts a row in force.
func (r *Rulings[Target, Row]) set(row Row, rows RowSink) {
	key := r.kind.Key(r.kind.Of(&row))
	r.held[string(key)] = row
	rows.Put(r.kind.Table, key, mustJSON(row))
}

// end ends the ruling for a target.
func (r *Rulings[Target, Row]) end(t Target, rows RowSink) {
	key := r.kind.Key(t)
	delete(r.held, string(key))
	rows.Put(r.kind.Table, key, nil)
}

// full returns the error for one more than there may be, or nil.
func (r *Rulings[Target, Row]) full(limit int, sentence, fix string) error {
	if len(r.held) < limit {
		return nil
	}
	return hub.Errorf(hub.CodeLimitReached, sentence, limit).With("limit", limit).WithFix(fix)
}
