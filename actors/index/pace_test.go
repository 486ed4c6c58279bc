package index

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// TestPace: how long feeding rests after 100 ms, by the rate of records.
func TestPace(t *testing.T) {
	const took = 100 * time.Millisecond
	for _, c := range []struct {
		name    string
		records hub.Seq
		within  time.Duration
		want    time.Duration
	}{
		{"nobody is there", 0, time.Second, took},
		{"just not busy", 299, time.Second, took},
		{"busy", 300, time.Second, busyRest * took},
		{"busy for a short time", 75, paceWindow, busyRest * took},
		{"too short to tell", 10_000, paceWindow - 1, took},
		{"as many over a long time", 300, time.Minute, took},
	} {
		var p pace
		begin := time.Unix(1, 0)
		p.look(begin, 1000)
		p.look(begin.Add(c.within), 1000+c.records)
		if got := p.rest(took); got != c.want {
			t.Errorf("%s: it rests %v, want %v", c.name, got, c.want)
		}
	}
	var p pace
	p.look(time.Unix(1, 0), 1_000_000)
	if got := p.rest(took); got != took {
		t.Errorf("what was there at the beginning counts: it rests %v", got)
	}
	if got := p.rest(time.Hour); got != MaxRest {
		t.Errorf("it rests %v", got)
	}
}

// TestPaceShare: while records come evenly, feeding takes no more than its share,
// however long its batches take, and never rests for longer than it may.
func TestPaceShare(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.Float64Range(0, 50_000).Draw(rt, "records a second")
		begin := time.Unix(1, 0)
		now := begin
		var p pace
		look := func() { p.look(now, hub.Seq(rate*now.Sub(begin).Seconds())) }
		look()
		for range rapid.IntRange(1, 40).Draw(rt, "batches") {
			took := time.Duration(rapid.IntRange(int(2*paceWindow), int(2*time.Second)).Draw(rt, "took"))
			now = now.Add(took)
			look()
			rest := p.rest(took)
			switch {
			case rest < 0 || rest > MaxRest:
				rt.Fatalf("it rests %v", rest)
			case rate > busyRate+10 && rest < min(busyRest*took, MaxRest):
				rt.Fatalf("it rests %v after %v while the hub is busy", rest, took)
			case rate < busyRate-10 && rest > took:
				rt.Fatalf("it rests %v after %v while the hub is not busy", rest, took)
			}
			now = now.Add(rest)
		}
	})
}
