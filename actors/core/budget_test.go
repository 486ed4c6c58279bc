package core_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestBudgetsAreTheirRows: after any settings the state equals its rows, and what changes nothing
// writes no fact.
func TestBudgetsAreTheirRows(t *testing.T) {
	targets := []hub.BudgetTarget{{AgentID: "ann"}, {AgentID: "r_1"}, {RoomID: "r_1"}}
	rapid.Check(t, func(t *rapid.T) {
		live, rows, want := core.NewBudgets(), map[string][]byte{}, map[hub.BudgetTarget]int{}
		at := core.Position{}
		for n := range rapid.IntRange(1, 30).Draw(t, "commands") {
			at.Seq, at.Now.Wall = hub.Seq(n+1), hub.Time(1000*n)
			target := rapid.SampledFrom(targets).Draw(t, "target")
			in := hub.BudgetInput{AgentID: target.AgentID, RoomID: target.RoomID, Chars: rapid.SampledFrom([]int{0, 1000, 2000}).Draw(t, "chars")}
			d, err := live.Set(in, at.Now)
			require.NoError(t, err)
			if row := d.Answer(at); row.Chars != in.Chars || row.Target() != target || d.Empty() != (want[target] == in.Chars) {
				t.Fatalf("%+v over %d gives %+v and %d facts", in, want[target], row, len(d.Facts))
			}
			want[target] = in.Chars
			for _, f := range d.Facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				live.Apply(decoded, at, func(r core.Row) { rows[string(r.Key)] = r.Value })
			}
		}
		loaded := core.NewBudgets()
		for _, value := range rows {
			require.NoError(t, loaded.Restore(value))
		}
		if got, live := asJSON(loaded.List()), asJSON(live.List()); got != live {
			t.Fatalf("the rows say %s, the state %s", got, live)
		}
		for _, row := range loaded.List() {
			if row.Chars != want[row.Target()] || row.Chars == 0 {
				t.Fatalf("%+v, want %v", row, want)
			}
		}
	})
}

// TestBudgetsAreBounded: beyond the limit a new one is refused, and a change is not.
func TestBudgetsAreBounded(t *testing.T) {
	b := core.NewBudgets()
	set := func(agent string, chars int) error {
		d, err := b.Set(hub.BudgetInput{AgentID: hub.AgentID(agent), Chars: chars}, core.Now{})
		for _, f := range d.Facts {
			b.Apply(f, core.Position{}, nil)
		}
		return err
	}
	for n := range hub.MaxBudgets {
		require.NoError(t, set(fmt.Sprint("a", n), 1000))
	}
	if err := set("another", 1000); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("one more: %v", err)
	}
	require.NoError(t, set("a1", 2000))
	require.NoError(t, set("another", 0))
}
