package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestPausesAreTheirRows: after any pauses and resumptions the state equals its rows, a
// change of words keeps the time, and what changes nothing writes no fact.
func TestPausesAreTheirRows(t *testing.T) {
	targets := []hub.PauseTarget{{All: true}, {AgentID: "ann"}, {AgentID: "r_1"}, {RoomID: "r_1"}}
	rapid.Check(t, func(t *rapid.T) {
		live, rows, want := core.NewPauses(), map[string][]byte{}, map[hub.PauseTarget]hub.Pause{}
		at := core.Position{}
		for n := range rapid.IntRange(1, 30).Draw(t, "commands") {
			at.Seq, at.Now.Wall = hub.Seq(n+1), hub.Time(1000*n)
			c := core.PauseCommand{
				Target: rapid.SampledFrom(targets).Draw(t, "target"), Words: rapid.SampledFrom([]string{"wait", "stop"}).Draw(t, "words"),
				Tell: []hub.ChannelName{"general", "room-r_1"},
			}
			was, held := want[c.Target]
			var d core.Decision[hub.Pause]
			var err error
			if rapid.Bool().Draw(t, "resume") {
				d, err = live.Resume(c)
				if errors.Is(err, &hub.Error{Code: hub.CodeNotPaused}) == held {
					t.Fatalf("resuming %s, held %v: %v", c.Target, held, err)
				}
				delete(want, c.Target)
			} else {
				d, err = live.Pause(c, at.Now)
				require.NoError(t, err)
				if d.Empty() != (held && was.Words == c.Words) {
					t.Fatalf("pausing %s with %q over %+v gives %d facts", c.Target, c.Words, was, len(d.Facts))
				}
				row := d.Answer(at)
				if held && row.Since != was.Since || row.Target() != c.Target || row.Words != c.Words {
					t.Fatalf("the answer is %+v after %+v", row, was)
				}
				want[c.Target] = row
			}
			for _, f := range d.Facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				live.Apply(decoded, at, func(r core.Row) {
					if r.Table == core.TablePause {
						rows[string(r.Key)] = r.Value
					}
				})
			}
			for _, m := range d.Messages {
				if m.From != hub.AgentOperator || m.Authority != hub.AuthorityOperator || (m.To == "") != (c.Target.AgentID == "") || (m.Room == "r_1") != (m.Channel == "room-r_1") {
					t.Fatalf("the notice is %+v", m)
				}
			}
		}
		loaded := core.NewPauses()
		for _, value := range rows {
			require.NoError(t, loaded.Restore(value))
		}
		if got, live := asJSON(loaded.List()), asJSON(live.List()); got != live || len(loaded.List()) != len(want) {
			t.Fatalf("the rows say %s, the state %s, want %v", got, live, want)
		}
	})
}

// TestPausesAreBounded: beyond the limit a new target is refused, and a change of words is not.
func TestPausesAreBounded(t *testing.T) {
	p := core.NewPauses()
	pause := func(agent, words string) error {
		d, err := p.Pause(core.PauseCommand{Target: hub.PauseTarget{AgentID: hub.AgentID(agent)}, Words: words}, core.Now{})
		for _, f := range d.Facts {
			p.Apply(f, core.Position{}, nil)
		}
		return err
	}
	for n := range hub.MaxPauses {
		require.NoError(t, pause(fmt.Sprint("a", n), "x"))
	}
	if err := pause("another", "x"); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("one more: %v", err)
	}
	require.NoError(t, pause("a1", "y"))
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
