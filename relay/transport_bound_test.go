package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/internal/require"
)

// patience is how long a test waits for what must come.
const patience = 45 * time.Second

// TestTransportKeepsToItsCallersTime: a call ends with its wait and the timeout,
// or before its caller's deadline by as much as its account needs.
func TestTransportKeepsToItsCallersTime(t *testing.T) {
	const wait = 3 * time.Second
	for _, c := range []struct{ timeout, own, want time.Duration }{
		{time.Second, 0, wait + time.Second},
		{time.Second, time.Minute, wait + time.Second},
		{time.Minute, 5 * time.Second, 5*time.Second - accountMargin},
		{time.Minute, 400 * time.Millisecond, 300 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr, err := NewTransport(TransportConfig{Agent: "a", Timeout: c.timeout})
			require.NoError(t, err)
			ctx := t.Context()
			if c.own > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.own)
				defer cancel()
			}
			bounded, cancel := tr.bound(ctx, wait)
			defer cancel()
			if end, _ := bounded.Deadline(); time.Until(end) != c.want {
				t.Errorf("timeout %s, deadline in %s: ends in %s, want %s", c.timeout, c.own, time.Until(end), c.want)
			}
		})
	}
}

// TestTransportAccountsLate: a caller whose time is over by the time that the
// account of its call is made gets it all the same; one that has left gets none.
func TestTransportAccountsLate(t *testing.T) {
	tr, err := NewTransport(TransportConfig{Dir: t.TempDir(), Agent: "a", Timeout: patience, NoNotify: true})
	require.NoError(t, err)
	send := func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://spool/v1/messages", strings.NewReader("{}"))
		require.NoError(t, err)
		return tr.RoundTrip(r)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if resp, err := send(late); err != nil || resp.StatusCode != StatusNoAnswer {
		t.Errorf("too late: %v, %v", resp, err)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if resp, err := send(left); !errors.Is(err, context.Canceled) {
		t.Errorf("left: %v, %v", resp, err)
	}
}
