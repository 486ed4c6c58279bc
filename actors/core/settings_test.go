package core_test

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestSettingsAreTheirRows: after any choices the state equals its rows, and a
// choice that changes nothing writes no fact.
func TestSettingsAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, rows, want := core.NewSettings(), map[hub.Harness]hub.Surface{}, map[hub.Harness]hub.Surface{}
		var at core.Position
		for range rapid.IntRange(1, 20).Draw(t, "choices") {
			in := hub.ToolSurfaceInput{
				Harness: rapid.SampledFrom(hub.Harnesses()[:3]).Draw(t, "harness"),
				Surface: rapid.SampledFrom([]hub.Surface{"", hub.SurfaceFull, hub.SurfaceProgressive}).Draw(t, "surface"),
			}
			d := live.SetToolSurface(in)
			if d.Empty() != (want[in.Harness] == in.Surface) {
				t.Fatalf("choosing %+v after %q gives %d facts", in, want[in.Harness], len(d.Facts))
			}
			if want[in.Harness] = in.Surface; in.Surface == "" {
				delete(want, in.Harness)
			}
			at.Seq++
			for _, f := range d.Facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				live.Apply(decoded, at, func(r core.Row) { rows[hub.Harness(r.Key)] = hub.Surface(r.Value) })
			}
			if got := d.Answer(at); got.Default != (in.Surface == "") || got.Harness != in.Harness {
				t.Fatalf("the answer to %+v is %+v", in, got)
			}
		}
		maps.DeleteFunc(rows, func(_ hub.Harness, s hub.Surface) bool { return s == "" })
		if !maps.Equal(rows, want) {
			t.Fatalf("the rows say %v, want %v", rows, want)
		}
		loaded := core.NewSettings()
		for h, s := range rows {
			loaded.RestoreSurface(h, s)
		}
		for h, s := range want {
			if d := loaded.SetToolSurface(hub.ToolSurfaceInput{Harness: h, Surface: s}); !d.Empty() {
				t.Fatalf("%s is not loaded", h)
			}
		}
	})
}
