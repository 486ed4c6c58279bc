package core_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestPassesAreTheirRows: after any exchanges, ends and passing of time the state equals its
// rows, at most hub.MaxPasses are in force, and the latest always is.
func TestPassesAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, rows := core.NewSettings(), map[string][]byte{}
		at := core.Position{Seq: 1}
		apply := func(facts []core.Fact) {
			for _, f := range facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // twice is as once
					live.Apply(decoded, at, func(r core.Row) { rows[string(r.Key)] = r.Value })
				}
			}
		}
		var known []hub.PassID
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			at.Seq++
			at.Now.Wall += hub.Time(rapid.IntRange(0, 400).Draw(t, "passes"))
			if len(known) > 0 && rapid.IntRange(0, 3).Draw(t, "end") == 0 {
				if d, err := live.EndPass(rapid.SampledFrom(known).Draw(t, "pass"), at.Now); err == nil {
					apply(d.Facts)
				}
				continue
			}
			d := live.IssuePass("x", hub.Time(rapid.IntRange(1, 10_000).Draw(t, "life")), at.Now)
			apply(d.Facts)
			known = append(known, d.Answer(at).PassID)
		}
		loaded, stored := core.NewSettings(), 0
		for _, value := range rows {
			if len(value) > 0 {
				stored++
			}
			if err := loaded.Passes.Restore(value); err != nil {
				t.Fatal(err)
			}
		}
		if stored > hub.MaxPasses {
			t.Fatalf("%d passes are stored", stored)
		}
		for _, id := range known {
			_, was := live.EndPass(id, at.Now)
			if _, is := loaded.EndPass(id, at.Now); (was == nil) != (is == nil) {
				t.Fatalf("%s: live says %v, its rows say %v", id, was, is)
			}
		}
	})
}

// TestLatestPassesStay: the passes that give way are the earliest.
func TestLatestPassesStay(t *testing.T) {
	var issued []hub.Pass // the latest first
	s, at := core.NewSettings(), core.Position{Seq: 10}
	for range hub.MaxPasses + 5 {
		at.Seq++
		d := s.IssuePass("", 1000, at.Now)
		for _, f := range d.Facts {
			s.Apply(f, at, nil)
		}
		issued = slices.Insert(issued, 0, d.Answer(at))
	}
	if got := s.Passes.List(); !slices.Equal(got, issued[:hub.MaxPasses]) {
		t.Errorf("the list is %v, want %v", got, issued[:hub.MaxPasses])
	}
	for i, row := range issued {
		if _, err := s.EndPass(row.PassID, at.Now); (err == nil) != (i < hub.MaxPasses) {
			t.Errorf("the pass before %d later ones: %v", i, err)
		}
	}
}
