package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// DefaultTimeout is how long a call through the spool may take beyond what it
// asks the hub to wait (SPEC section 4.3).
const DefaultTimeout = 30 * time.Second

const (
	// The pauses between looks for an answer grow from the first to the last: an
	// answer of a hub that is near is there at once, and one that takes longer
	// costs twenty looks a second at most where nothing notifies.
	firstLook = time.Millisecond
	lastLook  = 50 * time.Millisecond
	// lookShare bounds how late an answer is seen: by a sixteenth of its time.
	lookShare = 16

	maxLost = 1000 // calls that are remembered because their outcome is not known; nobody repeats so many

	// accountMargin is what a call leaves of its caller's time, so that the caller
	// gets the spool's own account of what happened rather than a bare timeout.
	accountMargin = 250 * time.Millisecond
)

// TransportConfig says whose calls a Transport carries, and through which spool.
type TransportConfig struct {
	// Dir is the spool; empty is DefaultDir. It must exist: the forwarder makes
	// the spool.
	Dir string
	// Agent is the agent whose folder is used. Required.
	Agent hub.AgentID
	// Timeout bounds a call beyond the wait that it asks the hub for; 0 is
	// DefaultTimeout. The deadline of a request's context counts as well.
	Timeout time.Duration
	// PollInterval is the longest pause between two looks for an answer; 0 is 50
	// milliseconds.
	PollInterval time.Duration
	// NoNotify leaves the notifications of the file system alone.
	NoNotify bool
}

// Transport carries requests to the hub through a spool. It is an
// http.RoundTripper: what a client of api/client can do over HTTP it can do over
// this. Where no hub answered, the answer is an envelope of the same form with
// the status 597 to 599; RoundTrip returns an error only when the request's
// context was canceled.
//
// Of the request's headers only Idempotency-Key is carried, as the id of the
// request; a session or an operator's token is never written into a spool.
//
// Goroutines may share a Transport. It keeps one goroutine and one watch on its
// folder of answers until CloseIdleConnections.
type Transport struct {
	cfg TransportConfig

	mu        sync.Mutex
	underway  map[RequestID]*waiter             // the calls that wait for an answer
	lost      *bounded.Map[RequestID, struct{}] // writes that were taken and not answered
	watch     *fsnotify.Watcher                 // on the folder of answers; nil when there is none
	ended     chan struct{}                     // closed when the watch's goroutine has ended
	closing   bool                              // the watch ends with the last call that waits
	unwatched bool                              // there is no notification: the transport only looks
}

// NewTransport returns a transport for an agent's calls. It touches no file: a
// spool that cannot be used is the first call's to report.
func NewTransport(cfg TransportConfig) (*Transport, error) {
	if err := hub.CheckSender("agent_id", cfg.Agent); err != nil {
		return nil, err
	}
	if cfg.Dir == "" {
		cfg.Dir = DefaultDir
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.PollInterval <= 0 {
		cfg.PollInterval = lastLook
	}
	return &Transport{cfg: cfg, underway: map[RequestID]*waiter{}, lost: bounded.New[RequestID, struct{}](maxLost), unwatched: cfg.NoNotify}, nil
}

// NewClient returns a client of the hub behind a spool, and the transport that
// it uses, whose CloseIdleConnections ends it.
func NewClient(cfg TransportConfig) (*client.Client, *Transport, error) {
	t, err := NewTransport(cfg)
	if err != nil {
		return nil, nil, err
	}
	return client.New(client.Config{
		BaseURL: "http://spool", // no address is dialled; it is not this machine's, so that no operator's token is looked for
		Agent:   cfg.Agent, Transport: t, Timeout: t.cfg.Timeout + 2*accountMargin,
	}), t, nil
}

// outgoing is one request on its way through the spool.
type outgoing struct {
	id     RequestID
	method string
	path   string // from /v1, with its query
	body   []byte // JSON; nil is none
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := callOf(r)
	if err != nil {
		return answerOf(r, refusal(err)), nil
	}
	wait := time.Duration(0)
	p, polls := pollOf(r)
	if polls {
		wait = p.wait
	} else {
		wait = waitOf(c.body)
	}
	ctx, cancel := t.bound(r.Context(), wait)
	defer cancel()
	var got *Response
	if polls {
		got, err = t.poll(ctx, c, p)
	} else {
		got, err = t.exchange(ctx, c)
	}
	// A caller that has left wants nothing more; one whose time is over is told what
	// became of its call, however late it is by then.
	if ended := r.Context().Err(); errors.Is(ended, context.Canceled) && got == nil {
		return nil, ended
	}
	if err != nil {
		return answerOf(r, refusal(err)), nil
	}
	return answerOf(r, got), nil
}

// bound ends a call after its wait and the timeout, or a little before the
// caller's own deadline.
func (t *Transport) bound(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	now := time.Now()
	end := now.Add(wait + t.cfg.Timeout)
	if own, ok := ctx.Deadline(); ok {
		margin := min(accountMargin, own.Sub(now)/4)
		if own = own.Add(-margin); own.Before(end) {
			end = own
		}
	}
	return context.WithDeadline(ctx, end)
}

// callOf takes from a request what the spool carries of it.
func callOf(r *http.Request) (*outgoing, error) {
	c := &outgoing{method: r.Method, path: r.URL.EscapedPath()}
	if r.URL.RawQuery != "" {
		c.path += "?" + r.URL.RawQuery
	}
	if r.Body != nil {
		body, err := io.ReadAll(io.LimitReader(r.Body, MaxRequestBytes+1))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, spoolFailed("the body of the call cannot be read: " + err.Error())
		}
		if len(body) > MaxRequestBytes {
			return nil, tooLargeForSpool(len(body))
		}
		if len(body) > 0 {
			c.body = body
		}
	}
	if r.Header.Get(api.HeaderInstance) != "" {
		return nil, hub.Invalid(api.HeaderInstance, "a spool does not carry "+api.HeaderInstance).
			WithFix("compare " + api.HeaderInstance + " of an answer instead")
	}
	key := r.Header.Get(api.HeaderIdempotency)
	switch c.id = RequestID(key); {
	case key == "" || r.Method == http.MethodGet || r.Method == http.MethodHead:
		c.id = NewRequestID()
	case !c.id.Valid():
		c.id = idOfKey(key)
	}
	return c, nil
}

// CloseIdleConnections ends the watch on the folder of answers, once no call
// waits; the next call begins another. http.Client calls it by this name.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	watch, ended := t.watch, t.ended
	if t.closing = len(t.underway) > 0; t.closing || watch == nil {
		t.mu.Unlock()
		return
	}
	t.watch, t.ended = nil, nil
	t.mu.Unlock()
	_ = watch.Close() // fails only if it is closed already
	<-ended
}

// listen begins the watch if there is none. Without one the pauses between looks
// do alone.
func (t *Transport) listen(answers string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unwatched || t.watch != nil {
		return
	}
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		t.unwatched = true
		return
	}
	if err := watch.Add(answers); err != nil {
		t.unwatched = true
		_ = watch.Close()
		return
	}
	t.watch, t.ended = watch, make(chan struct{})
	go t.hear(watch, t.ended, answers)
}

// hear wakes who waits for the answers that are put down, until the watch is
// closed or its folder goes: a forwarder removes one that nobody has used for
// long, and the next call makes it anew.
func (t *Transport) hear(watch *fsnotify.Watcher, ended chan struct{}, answers string) {
	defer close(ended)
	for {
		select {
		case event, ok := <-watch.Events:
			if !ok {
				return
			}
			if event.Name == answers && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)) {
				t.forget(watch)
				return
			}
			name := event.Name[strings.LastIndexAny(event.Name, `/\`)+1:]
			if id, whole := strings.CutSuffix(name, DoneSuffix); whole {
				t.ring(RequestID(id))
			}
		case _, ok := <-watch.Errors: // events may be lost: all waiting calls look
			if !ok {
				return
			}
			t.ring("")
		}
	}
}

// forget lets the next call begin a new watch.
func (t *Transport) forget(watch *fsnotify.Watcher) {
	t.mu.Lock()
	if t.watch == watch {
		t.watch, t.ended = nil, nil
	}
	t.mu.Unlock()
	_ = watch.Close() // fails only if it is closed already
}

// ring wakes the call with this id, or all of them.
func (t *Transport) ring(id RequestID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id != "" {
		t.underway[id].ring()
		return
	}
	for _, w := range t.underway {
		w.ring()
	}
}
