package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// waiter is a call that waits for its answer.
type waiter struct {
	notified chan struct{} // receives when there may be an answer
	done     chan struct{} // closed when the call has ended
}

func (w *waiter) ring() {
	if w == nil {
		return
	}
	select {
	case w.notified <- struct{}{}:
	default: // it is rung already
	}
}

// enter waits until no other call of this process uses the id: two would take
// each other's answer. It fails when ctx ends first.
func (t *Transport) enter(ctx context.Context, id RequestID) (*waiter, error) {
	for {
		t.mu.Lock()
		other := t.underway[id]
		if other == nil {
			w := &waiter{notified: make(chan struct{}, 1), done: make(chan struct{})}
			t.underway[id] = w
			t.mu.Unlock()
			return w, nil
		}
		t.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, inProgress(id)
		}
	}
}

func (t *Transport) leave(id RequestID, w *waiter) {
	t.mu.Lock()
	delete(t.underway, id)
	close(w.done)
	last := t.closing && len(t.underway) == 0
	t.mu.Unlock()
	if last {
		t.CloseIdleConnections()
	}
}

// exchange writes a request into the spool and waits for its answer until ctx
// ends. Errors are *hub.Error.
func (t *Transport) exchange(ctx context.Context, c *outgoing) (*Response, error) {
	began := time.Now()
	w, err := t.enter(ctx, c.id)
	if err != nil {
		return nil, err
	}
	defer t.leave(c.id, w)
	b, err := t.open(c.id)
	if err != nil {
		return nil, err
	}
	defer b.close()
	t.listen(filepath.Join(t.cfg.Dir, filepath.FromSlash(b.answers)))
	for found := false; !found; {
		adopted, err := b.put(t.cfg.Agent, c)
		if err != nil {
			return nil, err
		}
		var got *Response
		if got, found = t.await(ctx, b, w.notified, adopted); got != nil {
			t.settled(c.id)
			return got, nil
		}
	}
	// Nobody waits for the answer from here on. What no forwarder has taken yet
	// is taken back; what one has taken may just have been answered.
	withdrawn := b.root.Remove(b.request(DoneSuffix)) == nil
	if got := b.take(); got != nil {
		t.settled(c.id)
		return got, nil
	}
	doubtful := b.restore() || t.doubtful(c.id, c.method != http.MethodGet && !withdrawn)
	return nil, b.unanswered(t.cfg.Dir, time.Since(began), withdrawn, doubtful)
}

// doubtful reports whether an attempt at the call with this id may have taken
// effect: this one, as lost says, or an earlier one.
func (t *Transport) doubtful(id RequestID, lost bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if lost {
		t.lost.Put(id, struct{}{})
	}
	_, before := t.lost.Get(id)
	return before
}

// settled forgets that a call's outcome was not known.
func (t *Transport) settled(id RequestID) {
	t.mu.Lock()
	t.lost.Delete(id)
	t.mu.Unlock()
}

// await looks for the answer until ctx ends: quickly at first, at each
// notification, and in ever longer pauses. An adopted request may already have
// been answered, and another call may have read the answer. found is false if
// the request is gone without an answer.
func (t *Transport) await(ctx context.Context, b *exchangeFiles, notified <-chan struct{}, adopted bool) (got *Response, found bool) {
	began := time.Now()
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		// A forwarder removes the request only after it has put down the answer.
		gone := adopted && b.gone()
		if got := b.take(); got != nil || gone {
			return got, !gone
		}
		select {
		case <-ctx.Done():
			return nil, true
		case <-notified:
		case <-timer.C:
			timer.Reset(min(max(firstLook, time.Since(began)/lookShare), t.cfg.PollInterval))
		}
	}
}

// exchangeFiles are the places of one request and its answer in the spool.
type exchangeFiles struct {
	root     *os.Root
	id       RequestID
	requests string // the agent's folder of requests, below root
	answers  string // the agent's folder of answers
	why      string // what was wrong with the last file at the answer's place
	aside    string // where an earlier attempt's answer was put; empty: there was none
}

// open makes the agent's folders in the spool. It does not make the spool.
func (t *Transport) open(id RequestID) (*exchangeFiles, error) {
	folder := Folder(t.cfg.Agent)
	b := &exchangeFiles{id: id, requests: path.Join(RequestsDir, folder), answers: path.Join(ResponsesDir, folder)}
	root, err := os.OpenRoot(t.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, spoolFailed("there is no spool at "+t.cfg.Dir).With("spool_dir", t.cfg.Dir).
			WithFix("start a forwarder where the hub runs: hubcli relay --spool-dir " + t.cfg.Dir + ", or the hub with --spool-dir")
	}
	if err != nil {
		return nil, t.unusable(err)
	}
	b.root = root
	if err := b.makeFolders(); err != nil {
		b.close()
		return nil, t.unusable(err)
	}
	return b, nil
}

func (b *exchangeFiles) makeFolders() error {
	return errors.Join(b.root.MkdirAll(b.requests, 0o700), b.root.MkdirAll(b.answers, 0o700))
}

func (t *Transport) unusable(err error) *hub.Error {
	return spoolFailed("the spool at "+t.cfg.Dir+" cannot be used: "+fileReason(err)).With("spool_dir", t.cfg.Dir).
		WithFix("see to it that this user may write to the folder and that its disk has space")
}

func (b *exchangeFiles) close() { _ = b.root.Close() } // nothing was written through it that could fail now

func (b *exchangeFiles) request(suffix string) string {
	return path.Join(b.requests, string(b.id)+suffix)
}

// put writes the request, unless an earlier attempt at the same call lies there
// still: then that one is adopted, and its answer is this one's too.
func (b *exchangeFiles) put(agent hub.AgentID, c *outgoing) (adopted bool, err error) {
	data, err := encodeRequest(agent, c)
	if err != nil {
		return false, err
	}
	b.setAside()
	switch earlier, err := b.earlier(); {
	case err == nil && !earlier.same(c):
		return false, inProgress(b.id)
	case err == nil:
		return true, nil
	}
	err = WriteWhole(b.root, b.requests, string(b.id)+DoneSuffix, data)
	if errors.Is(err, fs.ErrNotExist) { // an idle folder was just cleared away
		if err = b.makeFolders(); err == nil {
			err = WriteWhole(b.root, b.requests, string(b.id)+DoneSuffix, data)
		}
	}
	if err != nil {
		return false, spoolFailed("the call cannot be written to the spool: " + fileReason(err)).
			WithFix("see to it that this user may write to the folder and that its disk has space")
	}
	return false, nil
}

// setAside moves an answer that an earlier attempt has left out of the way. It may
// be about another call; the hub gives it again if it is about this one.
func (b *exchangeFiles) setAside() {
	answer := path.Join(b.answers, string(b.id)+DoneSuffix)
	if b.aside != "" {
		_ = b.root.Remove(answer)
		return
	}
	b.aside = path.Join(b.answers, TempPrefix+string(NewRequestID()))
	if b.root.Rename(answer, b.aside) != nil { // there is none as a rule
		b.aside = ""
	}
}

// restore puts back what was set aside, when the call that it was set aside for
// has come to nothing, and reports whether there was anything.
func (b *exchangeFiles) restore() bool {
	if b.aside == "" {
		return false
	}
	_ = b.root.Rename(b.aside, path.Join(b.answers, string(b.id)+DoneSuffix))
	return true
}

// gone reports whether the request is neither waiting nor taken.
func (b *exchangeFiles) gone() bool {
	for _, suffix := range []string{DoneSuffix, WorkSuffix} {
		if _, err := b.root.Lstat(b.request(suffix)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// earlier returns the request with this id that is in the spool already: waiting,
// or taken by a forwarder. A request moves from the one name to the other, never
// back.
func (b *exchangeFiles) earlier() (*Request, error) {
	data, err := osfile.ReadSmallIn(b.root, b.request(DoneSuffix), MaxRequestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = osfile.ReadSmallIn(b.root, b.request(WorkSuffix), MaxRequestBytes)
	}
	if err != nil {
		return nil, err
	}
	var r Request
	return &r, json.Unmarshal(data, &r)
}

// same reports whether r asks for what c asks for.
func (r *Request) same(c *outgoing) bool {
	var body bytes.Buffer
	if c.body != nil && json.Compact(&body, c.body) != nil {
		return false
	}
	theirs := r.Body
	if string(theirs) == "null" {
		theirs = nil
	}
	return r.Method == c.method && r.Path == c.path && bytes.Equal(theirs, body.Bytes())
}

// take reads the answer and removes it. What lies in its place and is none is
// left for the forwarder to replace: a process that may write there must not be
// able to end a call with a few wrong bytes.
func (b *exchangeFiles) take() *Response {
	name := path.Join(b.answers, string(b.id)+DoneSuffix)
	data, err := osfile.ReadSmallIn(b.root, name, maxResponseBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		b.why = fileReason(err)
		return nil
	}
	var got Response
	if err := json.Unmarshal(data, &got); err != nil {
		b.why = "it is not the JSON of an answer"
		return nil
	}
	if b.why = got.fault(b.id); b.why != "" {
		return nil
	}
	// The request goes first: a forwarder that comes after one that has died takes
	// a request without an answer for one that was never answered, and sends it
	// again. The hub does again, unasked, what it has refused before.
	_ = b.root.Remove(b.request(WorkSuffix))
	_ = b.root.Remove(name) // what stays is removed by the forwarder in time
	if b.aside != "" {
		_ = b.root.Remove(b.aside)
	}
	return &got
}

// unanswered says what is known about a call whose wait is over. doubtful says
// that this attempt or an earlier one may have taken effect.
func (b *exchangeFiles) unanswered(dir string, waited time.Duration, withdrawn, doubtful bool) *hub.Error {
	sec := strconv.FormatFloat(waited.Seconds(), 'f', 1, 64) + " s"
	e := &hub.Error{Code: hub.CodeRelayTimeout, Status: StatusNoAnswer}
	if withdrawn {
		e.Message = "nobody took the call from the spool within " + sec + "; it was withdrawn"
		if !doubtful {
			e.Message += " and has no effect"
		}
		e.Fix = "see that a forwarder serves this folder where the hub runs: hubcli relay --spool-dir " + dir + ", or the hub with --spool-dir"
	} else {
		e.Message = "a forwarder took the call and has not answered within " + sec
		e.Fix = "see the log of the forwarder, and whether the hub answers: hubcli app status"
	}
	if b.why != "" {
		e.Message += "; what lies in the answer's place is none: " + b.why
	}
	if doubtful {
		e.Fix = "send the same call again with its idempotency key, which asks for the outcome; before that " + e.Fix
		e = e.With("outcome", "unknown").With("idempotency_key", b.id)
	}
	return e.With("spool_dir", dir).With("request_id", b.id)
}
