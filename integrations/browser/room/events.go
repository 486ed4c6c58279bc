package room

import (
	"strings"
	"sync"

	"hubcli/integrations/browser/cdp"
)

// targetInfo is a page, a frame or a worker of the engine.
type targetInfo struct {
	ID      string `json:"targetId"`
	Type    string `json:"type"`
	URL     string `json:"url"`
	Context string `json:"browserContextId"`
}

type attachedEvent struct {
	Session string     `json:"sessionId"`
	Target  targetInfo `json:"targetInfo"`
}

// frame is what the engine says of a frame.
type frame struct {
	ID     string `json:"id"`
	Parent string `json:"parentId"`
	Loader string `json:"loaderId"`
	URL    string `json:"url"`
}

// handle takes an event. It runs where the connection is read: it waits for nothing.
func (e *engine) handle(ev cdp.Event) {
	if ev.Session == "" {
		if ev.Method == "Target.attachedToTarget" {
			e.windowOpened(&ev)
		}
		return
	}
	e.mu.Lock()
	p := e.sessions[ev.Session]
	e.mu.Unlock()
	if p != nil {
		p.handle(&ev)
	}
}

// windowOpened takes a new page: the one that was made for a room, or one that a page has
// opened. A page has one window, so the latter is closed before anything runs in it.
func (e *engine) windowOpened(ev *cdp.Event) {
	var in attachedEvent
	ev.Decode(&in)
	e.mu.Lock()
	p := e.contexts[in.Target.Context]
	first := false
	if p != nil {
		p.change(func() {
			if first = !p.attached; first {
				p.attached, p.target, p.session = true, in.Target.ID, in.Session
			}
		})
	}
	if first {
		e.sessions[in.Session] = p
	}
	e.mu.Unlock()
	if !first {
		e.conn.Send("", "Target.closeTarget", obj{"targetId": in.Target.ID})
	}
}

// handlers takes the events of a page and of its frames, by method.
var handlers = sync.OnceValue(func() map[string]func(p *page, ev *cdp.Event) {
	return map[string]func(p *page, ev *cdp.Event){
		"Target.attachedToTarget":       (*page).frameAttached,
		"Target.detachedFromTarget":     (*page).frameDetached,
		"Page.frameNavigated":           (*page).frameNavigated,
		"Page.navigatedWithinDocument":  (*page).moved,
		"Page.frameStartedNavigating":   (*page).navigationBegins,
		"Page.frameRequestedNavigation": (*page).navigationBegins,
		"Page.frameStoppedLoading":      (*page).stopped,
		"Page.loadEventFired":           (*page).hasLoaded,
		"Page.javascriptDialogOpening":  (*page).dialog,
		"Page.windowOpen":               (*page).wantsWindow,
		"Page.downloadWillBegin":        (*page).wantsDownload,
		"Page.fileChooserOpened":        (*page).wantsFile,
		"Inspector.targetCrashed":       (*page).crashed,
		"Fetch.authRequired":            (*page).asksSecret,
		"Fetch.requestPaused":           (*page).paused,
	}
})

func (p *page) handle(ev *cdp.Event) {
	if take := handlers()[ev.Method]; take != nil {
		take(p, ev)
	}
}

// main reports whether an event is of the page itself and not of a frame within it.
func (p *page) main(ev *cdp.Event) bool { return ev.Session == p.session }

// frameAttached sets up a frame that has a process of its own.
func (p *page) frameAttached(ev *cdp.Event) {
	var in attachedEvent
	ev.Decode(&in)
	p.engine.mu.Lock()
	p.engine.sessions[in.Session] = p
	p.engine.mu.Unlock()
	for _, c := range setUp() {
		if c.method != "Page.setInterceptFileChooserDialog" {
			p.engine.conn.Send(in.Session, c.method, c.params)
		}
	}
	p.engine.conn.Send(in.Session, "Runtime.runIfWaitingForDebugger", nil)
}

func (p *page) frameDetached(ev *cdp.Event) {
	var in attachedEvent
	ev.Decode(&in)
	p.engine.mu.Lock()
	delete(p.engine.sessions, in.Session)
	p.engine.mu.Unlock()
}

// frameNavigated takes the new document of a frame. A frame whose text is its own URL is
// taken out: it has no origin that anybody could judge.
func (p *page) frameNavigated(ev *cdp.Event) {
	var in struct{ Frame frame }
	ev.Decode(&in)
	switch {
	case in.Frame.ID == p.target && p.main(ev):
		p.change(func() {
			p.url, p.loader, p.starting = in.Frame.URL, in.Frame.Loader, false
			if p.wanted == in.Frame.Loader {
				p.wanted = ""
			}
			if !showable(in.Frame.URL) {
				p.banned = in.Frame.URL
			}
		})
		if !showable(in.Frame.URL) {
			p.engine.conn.Send(p.session, "Page.navigate", obj{"url": "about:blank"})
		}
	case !framable(in.Frame.URL):
		p.change(func() {
			p.note("a frame was taken out, because its URL is of a kind that no frame may have: %s", cut(in.Frame.URL, 60))
		})
		p.engine.conn.Send(ev.Session, "Page.stopLoading", nil)
		go p.takeOut(ev.Session, in.Frame.ID)
	}
}

// showable reports whether a page may show a URL.
func showable(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "about", "chrome-error":
		return true
	}
	return url == ""
}

// framable reports whether a frame within a page may show a URL.
func framable(url string) bool {
	return showable(url) || strings.HasPrefix(strings.ToLower(url), "blob:http")
}

func (p *page) moved(ev *cdp.Event) {
	var in struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
	}
	ev.Decode(&in)
	if in.Frame == p.target && p.main(ev) {
		p.change(func() { p.url = in.URL })
	}
}

func (p *page) navigationBegins(ev *cdp.Event) {
	var in struct {
		Frame string `json:"frameId"`
		Type  string `json:"navigationType"`
		Where string `json:"disposition"`
	}
	ev.Decode(&in)
	if in.Frame == p.target && p.main(ev) && in.Type != "sameDocument" && (in.Where == "" || in.Where == "currentTab") {
		p.change(func() { p.starting = true })
	}
}

// stopped ends a navigation that brought no document: a download, an answer without one.
func (p *page) stopped(ev *cdp.Event) {
	var in struct {
		Frame string `json:"frameId"`
	}
	ev.Decode(&in)
	if in.Frame == p.target && p.main(ev) {
		p.change(func() { p.starting = false })
	}
}

func (p *page) hasLoaded(ev *cdp.Event) {
	if p.main(ev) {
		p.change(func() { p.loaded = p.loader })
	}
}

// dialog answers a dialog, which stops the page until then: a page may be left, everything
// else is declined.
func (p *page) dialog(ev *cdp.Event) {
	var in struct{ Message, Type string }
	ev.Decode(&in)
	leave := in.Type == "beforeunload"
	p.change(func() {
		if !leave {
			p.note("the page opened a dialog (%s), which was closed: %s", cut(in.Type, 20), cut(in.Message, 200))
		}
	})
	p.engine.conn.Send(ev.Session, "Page.handleJavaScriptDialog", obj{"accept": leave})
}

func (p *page) wantsWindow(ev *cdp.Event) {
	var in struct{ URL string }
	ev.Decode(&in)
	p.change(func() { p.note("the page wanted to open another window, which was closed; its URL: %s", in.URL) })
}

func (p *page) wantsDownload(ev *cdp.Event) {
	var in struct {
		URL  string
		Name string `json:"suggestedFilename"`
	}
	ev.Decode(&in)
	p.change(func() { p.note("a download was refused: %s from %s", cut(in.Name, 80), cut(in.URL, 150)) })
}

func (p *page) wantsFile(*cdp.Event) {
	p.change(func() { p.note("the page asked for a file of this machine, and got none") })
}

func (p *page) crashed(ev *cdp.Event) {
	if p.main(ev) {
		p.change(func() { p.dead = "the page has crashed" })
	}
}

// asksSecret tells the gate's secret to the gate alone.
func (p *page) asksSecret(ev *cdp.Event) {
	var in struct {
		Request   string                          `json:"requestId"`
		Challenge struct{ Source, Origin string } `json:"authChallenge"`
	}
	ev.Decode(&in)
	response := obj{"response": "CancelAuth"}
	if in.Challenge.Source == "Proxy" && strings.Contains(in.Challenge.Origin, p.engine.gate.Address()) {
		response = obj{"response": "ProvideCredentials", "username": p.pass.Name, "password": p.pass.Secret}
	}
	p.engine.conn.Send(ev.Session, "Fetch.continueWithAuth", obj{"requestId": in.Request, "authChallengeResponse": response})
}

func (p *page) paused(ev *cdp.Event) {
	var in struct {
		Request string `json:"requestId"`
	}
	ev.Decode(&in)
	p.engine.conn.Send(ev.Session, "Fetch.continueRequest", obj{"requestId": in.Request})
}
