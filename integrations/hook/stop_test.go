package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStopWaitsForWhatIsBeingRead: of what a poll has just given the agent the hub
// hears a moment later. A turn that ends sooner is not held for it; one that ends
// later, or whose agent was given nothing lately, is held at once for unread messages.
func TestStopWaitsForWhatIsBeingRead(t *testing.T) {
	for name, tt := range map[string]struct {
		given   time.Duration // before the turn ends, the answer to the agent's last poll; 0: it had none
		reads   time.Duration // after that answer the hub hears that all was read; 0: never
		budget  time.Duration // of the hook; 0: as much as it likes
		held    bool
		took    time.Duration // at most
		refused bool          // the hub does not say, the second time, what is unread
	}{
		"read just now":                {given: time.Millisecond, reads: time.Second, took: 1100 * time.Millisecond},
		"read half a second ago":       {given: 500 * time.Millisecond, reads: time.Second, took: 600 * time.Millisecond},
		"the call was canceled":        {given: time.Millisecond, held: true, took: settles},
		"given long ago":               {given: 2 * time.Second, held: true},
		"nothing was given":            {held: true},
		"the hub goes away in between": {given: time.Millisecond, reads: time.Second, refused: true, held: true, took: lookAgain},
		"little time is left":          {given: time.Millisecond, budget: time.Second, held: true, took: time.Second - speaks},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begun(t)
				w.Now = time.Now
				w.hub.attention = withDirected(7)
				began := time.Now()
				if tt.given != 0 {
					w.hub.bridge, w.hub.given = agent, began.Add(-tt.given)
				}
				if tt.reads != 0 {
					w.hub.reads = began.Add(tt.reads - tt.given)
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
