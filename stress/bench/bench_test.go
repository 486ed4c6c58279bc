package bench

import (
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

// The ratio is the median of the rounds' ratios, not the ratio of the medians: a
// noisy round spoils both its sides alike.
func TestComparedTakesTheMedianOfTheRatios(t *testing.T) {
	rounds := []Round{{Hub: 10, Ceiling: 20}, {Hub: 60, Ceiling: 100}, {Hub: 4, Ceiling: 5}}
	got := compared("f", "/s", rounds, atLeast(0.5))
	if got.Ratio != 0.6 || got.Hub != 10 || got.Ceiling != 20 || !got.Pass {
		t.Errorf("got %+v", got)
	}
	if compared("f", "/s", rounds, atLeast(0.7)).Pass || compared("f", "ms", rounds, atMost(0.5, "")).Pass {
		t.Error("a ratio on the wrong side of its bound passes")
	}
}

func TestDoubleHolders(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	good := []hold{
		{key: 1, fence: 4, from: at(30), to: at(40)},
		{key: 1, fence: 1, from: at(0), to: at(10)},
		{key: 2, fence: 2, from: at(0), to: at(50)},
		{key: 1, fence: 3, from: at(12), to: at(20)},
	}
	if n := doubleHolders(good); n != 0 {
		t.Errorf("%d double holders among proper holds", n)
	}
	for name, bad := range map[string]hold{
		"overlapping":          {key: 1, fence: 5, from: at(35), to: at(60)},
		"inside another":       {key: 2, fence: 5, from: at(20), to: at(30)},
		"older with new fence": {key: 1, fence: 5, from: at(21), to: at(25)},
		"fence of another key": {key: 3, fence: 4, from: at(70), to: at(80)},
	} {
		if n := doubleHolders(append([]hold{bad}, good...)); n != 1 {
			t.Errorf("%s: %d double holders, want 1", name, n)
		}
	}
}

func TestWriteText(t *testing.T) {
	r := Report{Platform: "linux/amd64", CPUs: 2, Go: "go1", Options: "5 rounds", Results: []Result{
		compared("posts", "/s", []Round{{Hub: 15_000, Ceiling: 30_000}}, atLeast(0.5), "a note"),
		absolute("memory", 41.5, atMost(40, "MB")),
	}}
	var out strings.Builder
	require.NoError(t, r.WriteText(&out))
	for _, want := range []string{
		"posts   15000 /s  30000 /s  0.50   >= 0.5    pass", "memory  41.5 MB   -         -      <= 40 MB  short", "posts: a note",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
