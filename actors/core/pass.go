package core

import (
	"cmp"
	"encoding/json"
	"slices"

	"hubcli/hub"
)

// PrefixPass begins the id of a pass.
const PrefixPass = "pass"

// PassIssued says that a code was exchanged for a pass. Its id is made of the place of the
// record. Lapsed are passes that gave way to it: their time was over, or there were too many.
type PassIssued struct {
	Label     string       `json:"label,omitempty"`
	CreatedAt hub.Time     `json:"created_at"`
	ExpiresAt hub.Time     `json:"expires_at"`
	Lapsed    []hub.PassID `json:"lapsed,omitempty"`
}

// PassEnded says that the operator has ended a pass.
type PassEnded struct {
	Pass hub.PassID `json:"pass"`
}

// FactType implements Fact.
func (*PassIssued) FactType() FactType { return factPassIssued }

// FactType implements Fact.
func (*PassEnded) FactType() FactType { return factPassEnded }

// row returns the pass that a fact issues.
func (f *PassIssued) row(at Position) hub.Pass {
	return hub.Pass{PassID: hub.PassID(IDAt(PrefixPass, at.Seq)), Label: f.Label, CreatedAt: f.CreatedAt, ExpiresAt: f.ExpiresAt}
}

// RestorePass adds a stored row to a state that is being loaded. An empty value is a pass
// that has ended.
func (s *Settings) RestorePass(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row hub.Pass
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of a pass cannot be read")
	}
	s.passes[row.PassID] = row
	return nil
}

// IssuePass decides a pass. Those whose time is over end with it, and so does the earliest
// if there are too many.
func (s *Settings) IssuePass(label string, life hub.Time, now Now) Decision[hub.Pass] {
	f := &PassIssued{Label: label, CreatedAt: now.Wall, ExpiresAt: now.Wall + life}
	live := 0
	for _, row := range SortedPasses(s.passes) { // the latest first
		if live++; row.ExpiresAt <= now.Wall || live >= hub.MaxPasses {
			f.Lapsed = append(f.Lapsed, row.PassID)
		}
	}
	return Decision[hub.Pass]{Draft: Draft{Facts: []Fact{f}}, Answer: f.row}
}

// EndPass decides the end of a pass. Error: pass_not_found.
func (s *Settings) EndPass(id hub.PassID, now Now) (Decision[hub.Pass], error) {
	row, held := s.passes[id]
	if !held || row.ExpiresAt <= now.Wall {
		return Decision[hub.Pass]{}, hub.NewError(hub.CodePassNotFound, "there is no such pass in force")
	}
	return Decision[hub.Pass]{
		Draft:  Draft{Facts: []Fact{&PassEnded{Pass: id}}},
		Answer: func(Position) hub.Pass { return row },
	}, nil
}

// SortedPasses returns passes, the latest first.
func SortedPasses(held map[hub.PassID]hub.Pass) []hub.Pass {
	all := make([]hub.Pass, 0, len(held))
	for _, row := range held {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b hub.Pass) int {
		first, _ := SeqOf(PrefixPass, string(a.PassID))
		second, _ := SeqOf(PrefixPass, string(b.PassID))
		return cmp.Compare(second, first)
	})
	return all
}

func (s *Settings) applyPass(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *PassIssued:
		row := f.row(at)
		for _, id := range f.Lapsed {
			s.dropPass(id, rows)
		}
		s.passes[row.PassID] = row
		rows.Put(TablePass, []byte(row.PassID), mustJSON(row))
	case *PassEnded:
		s.dropPass(f.Pass, rows)
	}
}

func (s *Settings) dropPass(id hub.PassID, rows RowSink) {
	delete(s.passes, id)
	rows.Put(TablePass, []byte(id), nil)
}
