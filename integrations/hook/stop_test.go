package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
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

// TestHookTellsThoughTheHubDies: a hub that is killed may have noted that the agent was
// told, and not have answered. Nobody else tells the agent then, so the hook does: it
// asks again, and without an answer it speaks. A hub that noted nothing is left to tell
// the agent later, so that it is told once.
func TestHookTellsThoughTheHubDies(t *testing.T) {
	coded := func(code hub.Code) error { return hub.NewError(code, "away") }
	cut, refused, stopping := coded(hub.CodeBrokeOff), coded(hub.CodeUnreachable), coded(hub.CodeStopping)
	for name, tt := range map[string]struct {
		lost    []error
		refuses bool // what fails moves nothing
		again   error
		says    bool
		calls   int // at least
	}{
		"it answers":                         {says: true, calls: 1},
		"killed before the answer":           {lost: []error{cut}, says: true, calls: 2},
		"killed, and away for a while":       {lost: []error{cut, refused, refused, stopping}, refuses: false, says: true, calls: 5},
		"killed before the call was decided": {lost: []error{cut, refused}, refuses: true, says: true, calls: 3},
		"killed, and it stays away":          {lost: []error{cut}, again: refused, says: true, calls: 3},
		"away before the call":               {again: refused, refuses: true, calls: 1},
		"it refuses":                         {again: coded(hub.CodeInvalid), refuses: true, calls: 1},
		"killed, and then it refuses":        {lost: []error{cut}, again: coded(hub.CodeInvalid), refuses: true, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begun(t)
				w.Now = time.Now
				w.hub.attention = withDirected(7)
				w.hub.lost, w.hub.refuses, w.hub.fails["tell"] = tt.lost, tt.refuses, tt.again
				w.hub.calls = nil
				ctx, cancel := context.WithTimeout(t.Context(), 1600*time.Millisecond)
				defer cancel()
				got := w.Run(ctx, Stop, []byte("{"+session+"}"))
				if says := strings.Contains(got.Stdout, "#7 from lead"); says != tt.says || ctx.Err() != nil {
					t.Errorf("said %v, want %v: %+v", says, tt.says, got)
				}
				calls := 0
				for _, call := range w.hub.calls {
					if strings.HasPrefix(call, "tell ") {
						calls++
					}
				}
				if calls < tt.calls || !tt.says && calls != tt.calls {
					t.Errorf("the hub was called %d times, want %d: %q", calls, tt.calls, w.hub.calls)
				}
			})
		})
	}
}
