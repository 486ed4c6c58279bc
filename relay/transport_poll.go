package relay

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

const (
	// maxSlice is the longest wait that is asked of a forwarder at once. It caps
	// waits itself, at 25 s as it is delivered.
	maxSlice = 20 * time.Second
	// maxUnmetWatch is more than the bytes of a watch that is not met: conditions,
	// each with its reason, and five messages. A feed without rows is shorter.
	maxUnmetWatch = 64 << 10
	watchPath     = "/v1/watch"
	// A slice that comes back at once without rows is a forwarder that does not
	// wait, or a hub that stops: the next one is not asked for at once.
	shortSlice, slicePause = 100 * time.Millisecond, 250 * time.Millisecond
)

// longPoll is a read that asks the hub to wait: for rows, or a watch.
type longPoll struct {
	path  string // without the query
	query url.Values
	wait  time.Duration
}

// pollOf recognizes a long poll by its timeout.
func pollOf(r *http.Request) (longPoll, bool) {
	if r.Method != http.MethodGet {
		return longPoll{}, false
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(query["timeout"]) != 1 {
		return longPoll{}, false
	}
	sec, err := strconv.ParseFloat(query.Get("timeout"), 64)
	if err != nil || !(sec > 0) {
		return longPoll{}, false
	}
	wait := hub.MaxPollWait
	if r.URL.Path == watchPath {
		wait = hub.MaxWatchWait
	}
	if sec < wait.Seconds() {
		wait = time.Duration(sec * float64(time.Second))
	}
	return longPoll{path: r.URL.EscapedPath(), query: query, wait: wait}, true
}

// poll asks in slices until rows come, the watch is met or the wait is over, so that the caps of a
// forwarder do not show. Each slice goes on where the one before has looked to.
func (t *Transport) poll(ctx context.Context, c *outgoing, p longPoll) (*Response, error) {
	end := time.Now().Add(p.wait)
	var last *Response // the slice before, which had no rows
	for {
		began := time.Now()
		p.query.Set("timeout", strconv.FormatFloat(min(max(end.Sub(began), 0), maxSlice).Seconds(), 'f', -1, 64))
		slice := &outgoing{id: c.id, method: c.method, path: p.path + "?" + p.query.Encode()}
		got, err := t.exchange(ctx, slice)
		if last != nil && (err != nil || got.Status >= http.StatusInternalServerError) {
			return last, nil // what has been seen until then is true, and the next call tells the rest
		}
		if err != nil {
			return nil, err
		}
		next, empty := emptyPage(got)
		if !empty || !pauseBetween(ctx, time.Since(began), end) {
			return got, nil
		}
		if next > 0 {
			p.query.Set("since_id", strconv.FormatInt(int64(next), 10))
		}
		last, c.id = got, NewRequestID()
	}
}

// pauseBetween reports whether another slice is worth asking for; it waits first
// if the one before took no time.
func pauseBetween(ctx context.Context, took time.Duration, end time.Time) bool {
	if time.Until(end) < shortSlice {
		return false
	}
	if took >= shortSlice {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(min(slicePause, time.Until(end)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return time.Now().Before(end)
	}
}

// emptyPage reports whether an answer is a feed without rows, and the id up to
// which the hub has looked, or a watch that is not met: it goes on from the seen
// cursors of its agent, which the hub keeps.
func emptyPage(r *Response) (hub.MessageID, bool) {
	if r.Status != http.StatusOK || len(r.Body) > maxUnmetWatch {
		return 0, false
	}
	var e api.Envelope
	if json.Unmarshal(r.Body, &e) != nil || !e.OK {
		return 0, false
	}
	var watch struct {
		Met   *bool `json:"met"`
		Stuck bool  `json:"stuck"`
	}
	if e.NextSinceID == nil && json.Unmarshal(e.Result, &watch) == nil && watch.Met != nil {
		return 0, !*watch.Met && !watch.Stuck
	}
	if e.NextSinceID == nil || string(e.Result) != "[]" || e.Circle != nil {
		return 0, false
	}
	return *e.NextSinceID, true
}
