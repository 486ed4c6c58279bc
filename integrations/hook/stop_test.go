package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStopWaitsForWhatIsBeingRead: of what the bridge has just given the agent the
// hub hears a moment later. A turn that ends sooner is not held for it; one that ends
// later, or whose agent has not called lately, is held at once for unread messages.
func TestStopWaitsForWhatIsBeingRead(t *testing.T) {
	for name, tt := range map[string]struct {
		called  time.Duration // before the turn ends, the agent's last call; 0: it has no bridge
		reads   time.Duration // after that call the hub hears that all was read; 0: never
		budget  time.Duration // of the hook; 0: as much as it likes
		held    bool
		took    time.Duration // at most
		broken  bool          // the hub does not say who is live
		refused bool          // nor, the second time, what is unread
	}{
		"read just now":                {called: time.Millisecond, reads: time.Second, took: 1100 * time.Millisecond},
		"read half a second ago":       {called: 500 * time.Millisecond, reads: time.Second, took: 600 * time.Millisecond},
		"something else was asked":     {called: time.Millisecond, held: true, took: settles},
		"nothing was asked lately":     {called: 2 * time.Second, held: true},
		"a clock far ahead":            {called: -time.Hour, held: true, took: settles},
		"no bridge":                    {held: true},
		"nobody says whether it has":   {called: time.Millisecond, reads: time.Second, broken: true, held: true},
		"the hub goes away in between": {called: time.Millisecond, reads: time.Second, refused: true, held: true, took: lookAgain},
		"little time is left":          {called: time.Millisecond, budget: time.Second, held: true, took: time.Second - speaks},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begun(t)
				w.Now = time.Now
				w.hub.attention = withDirected(7)
				began := time.Now()
				if tt.called != 0 {
					w.hub.bridge, w.hub.called = agent, began.Add(-tt.called)
				}
				if tt.reads != 0 {
					w.hub.reads = began.Add(tt.reads - tt.called)
				}
				if tt.broken {
					w.hub.fails["agents"] = errors.New("no")
				}
				if tt.refused {
					time.AfterFunc(time.Millisecond, func() {
						w.hub.mu.Lock()
						defer w.hub.mu.Unlock()
						w.hub.fails["attention"] = errors.New("no")
					})
				}
				ctx := t.Context()
				if tt.budget != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.budget)
					defer cancel()
				}
				got := w.Run(ctx, Stop, []byte("{"+session+"}"))
				if held := strings.Contains(got.Stdout, "#7 from lead"); held != tt.held {
					t.Errorf("held %v, want %v: %+v", held, tt.held, got)
				}
				if took := time.Since(began); took > tt.took {
					t.Errorf("it took %s, want at most %s", took, tt.took)
				}
			})
		})
	}
}
