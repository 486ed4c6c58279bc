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

// TestMutesAreTheirRows: after any mutes and ends of mutes the state equals its rows, one
// that goes on keeps its beginning, and one whose time is over is as if it had never been.
func TestMutesAreTheirRows(t *testing.T) {
	targets := []hub.MuteTarget{{AgentID: "ann"}, {AgentID: "ann", RoomID: "r_1"}, {AgentID: "ben"}}
	rapid.Check(t, func(t *rapid.T) {
		live, rows, want := core.NewMutes(), map[string][]byte{}, map[hub.MuteTarget]hub.Mute{}
		at := core.Position{Now: core.Now{Wall: 1_000}}
		for n := range rapid.IntRange(1, 30).Draw(t, "commands") {
			at.Seq, at.Now.Wall = hub.Seq(n+1), at.Now.Wall+1000*hub.Time(rapid.IntRange(1, 5).Draw(t, "sec"))
			target := rapid.SampledFrom(targets).Draw(t, "target")
			was, held := want[target]
			if held = held && !was.Over(at.Now.Wall); !held {
				delete(want, target)
			}
			var d core.Decision[hub.Mute]
			var err error
			if rapid.Bool().Draw(t, "end") {
				d, err = live.End(target, at.Now)
				if errors.Is(err, &hub.Error{Code: hub.CodeNotMuted}) == held {
					t.Fatalf("ending %s, held %v: %v", target, held, err)
				}
				delete(want, target)
			} else {
				in := hub.MuteInput{AgentID: target.AgentID, RoomID: target.RoomID, Reason: "x", ForSec: rapid.IntRange(0, 4).Draw(t, "for")}
				d, err = live.Mute(in, at.Now)
				require.NoError(t, err)
				row := d.Answer(at)
				since := at.Now.Wall
				if held {
					since = was.Since
				}
				if row.Since != since || row.Target() != target || (row.Until == nil) != (in.ForSec == 0) {
					t.Fatalf("at %d the answer is %+v after %+v", at.Now.Wall, row, was)
				}
				want[target] = row
			}
			if len(d.Messages) > 0 {
				t.Fatalf("a mute says %+v", d.Messages)
			}
			for _, f := range d.Facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				live.Apply(decoded, at, func(r core.Row) { rows[string(r.Key)] = r.Value })
			}
		}
		loaded := core.NewMutes()
		for _, value := range rows {
			require.NoError(t, loaded.Restore(value))
		}
		if got, live := asJSON(loaded.List()), asJSON(live.List()); got != live {
			t.Fatalf("the rows say %s, the state %s", got, live)
		}
		for target, row := range want {
			if got, err := live.End(target, at.Now); !row.Over(at.Now.Wall) && (err != nil || asJSON(got.Answer(at)) != asJSON(row)) {
				t.Fatalf("%s is %v, want %+v", target, err, row)
			}
		}
	})
}

// TestMutesAreBounded: beyond the limit a new target is refused, unless the time of others
// is over.
func TestMutesAreBounded(t *testing.T) {
	m := core.NewMutes()
	mute := func(agent string, now hub.Time) error {
		d, err := m.Mute(hub.MuteInput{AgentID: hub.AgentID(agent), ForSec: 1}, core.Now{Wall: now})
		for _, f := range d.Facts {
			m.Apply(f, core.Position{}, nil)
		}
		return err
	}
	for n := range hub.MaxMutes {
		require.NoError(t, mute(fmt.Sprint("a", n), 1000))
	}
	if err := mute("another", 1999); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("one more: %v", err)
	}
	require.NoError(t, mute("a1", 1999))
	require.NoError(t, mute("another", 2000))
	if n := len(m.List()); n >= hub.MaxMutes {
		t.Errorf("%d are left", n)
	}
}
