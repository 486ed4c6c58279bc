package index

import (
	"testing"
	"time"

	"hubcli/hub"
)

func TestGain(t *testing.T) {
	type look struct {
		after time.Duration // since the first one
		at    hub.MessageID
	}
	for _, c := range []struct {
		name   string
		looks  []look
		behind int64
		want   time.Duration
	}{
		{"nothing known yet", []look{{0, 10}}, 1000, 0},
		{"too early", []look{{0, 10}, {time.Second / 2, 60}}, 1000, 0},
		{"after the first second", []look{{0, 0}, {time.Second, 100}}, 1000, 10 * time.Second},
		{"the last window counts", []look{{0, 0}, {gainWindow, 1200}, {2 * gainWindow, 1800}}, 1000, 20 * time.Second},
		{"an import lets it go back", []look{{0, 0}, {time.Second, 100}, {2 * time.Second, 50}}, 1000, 10 * time.Second},
		{"nothing is left", []look{{0, 0}, {time.Second, 100}}, 0, 0},
		{"it stands still", []look{{0, 7}, {gainWindow, 7}}, 1000, 0},
		{"for ever", []look{{0, 0}, {1000 * time.Hour, 1}}, 1 << 50, 30 * 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g gain
			for _, l := range c.looks {
				g.look(time.Unix(100, 0).Add(l.after), l.at)
			}
			if got := g.left(c.behind); got != c.want {
				t.Errorf("%v are left, want %v", got, c.want)
			}
		})
	}
}
