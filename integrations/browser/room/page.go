package room

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/browser/gate"
)

const (
	closeWait  = 3 * time.Second // for an engine to close a page
	maxNotes   = 8               // of one step
	maxNote    = 300             // characters
	maxRefused = 5
)

// page is the page of one room, in a context that it shares with no other. Two goroutines use it: the
// one that holds the turn of the seat does steps, and the one that reads the connection takes events.
//
//	opening  from newPage until open has returned; the page is in no seat yet
//	still    starting is false, wanted is empty, and loaded == loader
//	loading  anything else; a step that acts waits for still, at most loadWait
//	dead     dead is set and stays set; the step under way or the next one closes the page
//
// The event of a new document sets url and loader, and ends starting. loaded follows with the event of
// its end. wanted is the loader that the answer to a navigation has named and whose event has not
// come. A step that finds banned clears it and fails.
//
// target and session are written once, with engine.mu and mu held. A step reads them without a lock
// after it has seen attached. engine.mu is locked before mu, never the other way. The engine is called
// with neither of them held.
type page struct {
	engine  *engine
	pass    *gate.Pass
	context string
	target  string // also the id of its main frame
	session string

	mu        sync.Mutex    // guards what follows, but refs
	news      chan struct{} // closed and replaced when something of the following changes; see change
	attached  bool
	dead      string // why it is gone
	url       string // of the main frame
	loader    string // of its document
	loaded    string // the loader whose document has loaded
	starting  bool   // the main frame goes to another document
	wanted    string // the loader of a document that the engine has promised
	banned    string // a URL that no page may show, and that it went to
	notes     []string
	forgotten int // notes that had no place

	refs refs // for the holder of the turn
}

// newPage opens an empty page.
func (m *Manager) newPage(ctx context.Context, hosts []hub.AllowedHost) (*page, error) {
	e, err := m.running(ctx)
	if err != nil {
		return nil, err
	}
	p := &page{engine: e, pass: e.gate.Issue(), news: make(chan struct{}), refs: newRefs()}
	p.pass.Allow(hosts)
	if err := p.open(ctx); err != nil {
		p.close()
		return nil, hub.Errorf(hub.CodeBrowserFailed, "the browser engine opens no page: %v", err)
	}
	return p, nil
}

// open makes the context and its one page, and sets the page up before anything runs in it.
func (p *page) open(ctx context.Context) error {
	conn := p.engine.conn
	var made struct {
		ID string `json:"browserContextId"`
	}
	if err := conn.Call(ctx, "", "Target.createBrowserContext", obj{
		"disposeOnDetach": true, "proxyServer": "http://" + p.engine.gate.Address(), "proxyBypassList": "<-loopback>",
	}, &made); err != nil {
		return err
	}
	p.context = made.ID
	p.engine.mu.Lock()
	p.engine.contexts[p.context] = p
	p.engine.mu.Unlock()
	conn.Send("", "Browser.setDownloadBehavior", obj{"behavior": "deny", "browserContextId": p.context})
	if err := conn.Call(ctx, "", "Target.createTarget", obj{
		"url": "about:blank", "browserContextId": p.context, "width": viewWidth, "height": viewHeight,
	}, nil); err != nil {
		return err
	}
	if err := p.wait(ctx, func() bool { return p.attached }); err != nil {
		return err
	}
	// The empty page runs first: nothing is in it. Each answer is waited for, because the
	// process of the first document knows only the calls that were answered before it began.
	if err := p.call(ctx, "Runtime.runIfWaitingForDebugger", nil, nil); err != nil {
		return err
	}
	for _, c := range setUp() {
		if err := p.call(ctx, c.method, c.params, nil); err != nil {
			return err
		}
	}
	conn.Send(p.session, "Fetch.enable", obj{"handleAuthRequests": true, "patterns": []obj{{"urlPattern": "http://" + gate.ReadyHost + "/*"}}})
	// The engine learns the secret of the gate: it keeps it for the whole context. The
	// answer is empty, so that the engine says the navigation was aborted.
	if err := conn.Call(ctx, p.session, "Page.navigate", obj{"url": "http://" + gate.ReadyHost + "/"}, nil); err != nil {
		return err
	}
	return conn.Call(ctx, p.session, "Fetch.disable", nil, nil)
}

// setUpCall is one call of the engine.
type setUpCall struct {
	method string
	params obj
}

// setUp is what a page, or a frame with a process of its own, is told before anything runs
// in it.
var setUp = sync.OnceValue(func() []setUpCall {
	return []setUpCall{
		{"Page.enable", nil},
		{"Inspector.enable", nil},
		{"Page.addScriptToEvaluateOnNewDocument", obj{"source": withoutPeers}},
		{"Page.setInterceptFileChooserDialog", obj{"enabled": true}},
		{"Network.setBypassServiceWorker", obj{"bypass": true}},
		{"Target.setAutoAttach", obj{
			"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
			"filter": []obj{{"type": "iframe"}, {"exclude": true}},
		}},
	}
})

// withoutPeers takes the connections from page to page away, which do not go through a
// proxy, and the worker that outlives its page.
const withoutPeers = `(() => {
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "WebTransport"]) {
  try { delete globalThis[name]; Object.defineProperty(globalThis, name, {value: undefined, writable: false, configurable: false}) } catch {}
}
try { Object.defineProperty(Navigator.prototype, "serviceWorker", {get: () => undefined, configurable: false}) } catch {}
})()`

// call asks the engine about the page.
func (p *page) call(ctx context.Context, method string, params, result any) error {
	return p.engine.conn.Call(ctx, p.session, method, params, result)
}

// wait returns when a condition holds. The condition is called with p.mu held.
func (p *page) wait(ctx context.Context, holds func() bool) error {
	for {
		p.mu.Lock()
		ok, dead, news := holds(), p.dead, p.news
		p.mu.Unlock()
		switch {
		case ok:
			return nil
		case dead != "":
			return errors.New(dead)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.engine.conn.Closed():
			return fmt.Errorf("the engine has ended")
		}
	}
}

// change changes what is known of the page and wakes who waits.
func (p *page) change(by func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	by()
	close(p.news)
	p.news = make(chan struct{})
}

// note keeps what the page tried. p.mu is held.
func (p *page) note(format string, args ...any) {
	if len(p.notes) >= maxNotes {
		p.forgotten++
		return
	}
	p.notes = append(p.notes, cut(fmt.Sprintf(format, args...), maxNote))
}

// takeNotes returns the notes since the last call.
func (p *page) takeNotes() []string {
	refused := p.pass.Refusals()
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes
	if p.forgotten > 0 {
		notes = append(notes, fmt.Sprintf("%d more were left out", p.forgotten))
	}
	for i, r := range refused {
		if i == maxRefused {
			notes = append(notes, fmt.Sprintf("%d more connections were refused", len(refused)-i))
			break
		}
		notes = append(notes, "a connection was refused: "+cut(r, maxNote))
	}
	p.notes, p.forgotten = nil, 0
	if notes == nil {
		notes = []string{}
	}
	return notes
}

// gone reports whether the page can do nothing more.
func (p *page) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead != "" || p.engine.over()
}

// stuck reports whether the page has to be closed after a step.
func (p *page) stuck(err error) bool {
	var refused *hub.Error
	return p.gone() || errors.As(err, &refused) && refused.Code == hub.CodePageTimeout
}

// close closes the page. An engine that does not do it in time is ended, and every page
// with it: it would not answer them either.
func (p *page) close() {
	p.engine.gate.Revoke(p.pass)
	p.engine.mu.Lock()
	delete(p.engine.contexts, p.context)
	delete(p.engine.sessions, p.session)
	p.engine.mu.Unlock()
	if p.context == "" || p.engine.over() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if err := p.engine.conn.Call(ctx, "", "Target.disposeBrowserContext", obj{"browserContextId": p.context}, nil); errors.Is(err, context.DeadlineExceeded) {
		go p.engine.end("it did not close a page") // the step has had its time
	}
}
