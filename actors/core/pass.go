package core

import (
	"cmp"

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

// IssuePass decides a pass. Those whose time is over end with it, and so does the earliest
// if there are too many.
func (s *Settings) IssuePass(label string, life hub.Time, now Now) Decision[hub.Pass] {
	f := &PassIssued{Label: label, CreatedAt: now.Wall, ExpiresAt: now.Wall + life}
	live := 0
	for _, row := range s.Passes.List() { // the latest first
		if live++; row.ExpiresAt <= now.Wall || live >= hub.MaxPasses {
			f.Lapsed = append(f.Lapsed, row.PassID)
		}
	}
	return Decision[hub.Pass]{Draft: Draft{Facts: []Fact{f}}, Answer: f.row}
}

// EndPass decides the end of a pass. Error: pass_not_found.
func (s *Settings) EndPass(id hub.PassID, now Now) (Decision[hub.Pass], error) {
	row, held := s.Passes.For(id)
	if !held || row.ExpiresAt <= now.Wall {
		return Decision[hub.Pass]{}, hub.NewError(hub.CodePassNotFound, "there is no such pass in force")
	}
	return answering(row, &PassEnded{Pass: id}), nil
}

func passKey(id hub.PassID) []byte { return []byte(id) }

func latestPassFirst(a, b *hub.Pass) int {
	first, _ := SeqOf(PrefixPass, string(a.PassID))
	second, _ := SeqOf(PrefixPass, string(b.PassID))
	return cmp.Compare(second, first)
}

func (s *Settings) applyPass(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *PassIssued:
		row := f.row(at)
		for _, id := range f.Lapsed {
			s.Passes.end(id, rows)
		}
		s.Passes.set(row, rows)
	case *PassEnded:
		s.Passes.end(f.Pass, rows)
	}
}
