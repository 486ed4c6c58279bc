package forwarder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/relay"
)

// Bounds of sending again.
const (
	restartPatience = 5 * time.Second // a restarted hub is back within this time
	retryPause      = 100 * time.Millisecond
	busyPatience    = 5 * time.Second // the client follows a longer Retry-After itself
	busyAttempts    = 3
	maxAnswerBytes  = 64 << 20
)

// notHubError says that the server that answered is no hub.
type notHubError struct{ why string }

func (e *notHubError) Error() string { return e.why }

// send sends a request to the hub and returns the response, or nil if the
// forwarder stops. It sends again if the hub is away for a moment or says that
// the same call may succeed soon. The request id is the idempotency key, so the
// hub carries out the call once.
func (f *Forwarder) send(c *call, op *api.Operation, r *relay.Request, path string, wait time.Duration) *relay.Response {
	lost := false  // an attempt may have taken effect although no answer came
	var gone error // why the latest attempt found no hub; nil: it found one
	var away time.Time
	busy := 0
	for {
		got, err := f.attempt(c, op, r, path, max(0, min(wait, c.left()-answerMargin)))
		var notHub *notHubError
		var delay time.Duration
		switch {
		case err == nil && got.Code == hub.CodeStopping:
			gone, delay = nil, f.awayPause(c, &away)
		case err == nil:
			gone, delay = nil, busyPause(c, got, &busy)
		case c.ctx.Err() != nil && !isRefusal(err):
			return f.brokenOff(c, writes(r))
		case errors.As(err, &notHub):
			return unanswered(c.id, f.notAHub(notHub.why))
		default:
			gone, lost = err, lost || writes(r) && !client.NeverSent(err)
			if delay = f.awayPause(c, &away); delay == 0 {
				return unanswered(c.id, f.unreachable(gone, lost))
			}
		}
		if err == nil && delay == 0 {
			return answered(c.id, got.status, got.header, got.body)
		}
		f.drop(c)
		if pause.For(c.ctx, delay) {
			continue
		}
		if gone != nil && c.left() <= 0 { // the machine may have slept meanwhile
			return unanswered(c.id, f.unreachable(gone, lost))
		}
		return f.brokenOff(c, lost)
	}
}

// awayPause returns how long to wait before the next attempt to reach a hub
// that is away; 0 gives up. since is the time of the first failure.
func (f *Forwarder) awayPause(c *call, since *time.Time) time.Duration {
	if since.IsZero() {
		*since = time.Now()
	}
	if time.Since(*since) >= restartPatience || c.left() < 2*retryPause {
		return 0
	}
	return retryPause
}

// busyPause returns how long to wait before the call is sent again after the
// hub has refused it for now; 0 takes the refusal as the answer.
func busyPause(c *call, got *reply, n *int) time.Duration {
	switch {
	case got.Code == hub.CodeInProgress:
		// The same request was sent before, perhaps by a forwarder that has
		// died. The answer comes when that call has ended.
		if c.left() < answerMargin {
			return 0
		}
		return retryPause
	case got.status == http.StatusServiceUnavailable:
		sec, err := strconv.Atoi(got.header.Get("Retry-After"))
		delay := seconds(float64(sec))
		if *n++; err != nil || sec <= 0 || delay > busyPatience || *n >= busyAttempts || delay+answerMargin > c.left() {
			return 0
		}
		return delay
	}
	return 0
}

// attempt sends once. It returns a *notHubError or an error of net/http.
func (f *Forwarder) attempt(c *call, op *api.Operation, r *relay.Request, path string, wait time.Duration) (*reply, error) {
	var content io.Reader
	if len(r.Body) > 0 {
		content = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(c.ctx, r.Method, f.base+path, content)
	if err != nil {
		return nil, &notHubError{why: err.Error()}
	}
	req.Header.Set("Accept", api.ContentType)
	req.Header.Set(api.HeaderRelay, string(r.AgentID))
	if content != nil {
		req.Header.Set("Content-Type", api.ContentType)
	}
	if writes(r) {
		req.Header.Set(api.HeaderIdempotency, string(r.RequestID))
	}
	if op.Wait.By == api.WaitSec {
		req.Header.Set(api.HeaderMaxWait, decimal(wait))
	}
	res, err := f.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return f.replyOf(c, res)
}

// unreachable returns the error for a call that no hub answered.
func (f *Forwarder) unreachable(err error, lost bool) *hub.Error {
	e := &hub.Error{
		Code: hub.CodeUnreachable, Status: relay.StatusHubUnreachable,
		Message: "the relay cannot reach the hub at " + f.base + ": " + reason(err),
		Fix:     "start the hub there (hubcli ensure), or start the relay with --base-url and its address",
	}
	var other *hub.Error
	if errors.As(err, &other) { // of the connection: another program has the port
		e.Code, e.Fix = other.Code, other.Fix
	}
	if lost {
		e = uncertain(e)
	}
	return e
}

// isRefusal reports whether the connection was refused, so the call was never
// sent.
func isRefusal(err error) bool {
	return client.NeverSent(err) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}
