package room

import (
	"context"
	"errors"
	"strings"
	"time"

	"hubcli/hub"
)

const (
	navigateWait = 15 * time.Second      // for the first bytes of a page
	loadWait     = 8 * time.Second       // for the rest of it
	quiet        = 60 * time.Millisecond // after an action: whether the page goes elsewhere
	probeWait    = 2 * time.Second       // whether a page still answers
	viewWidth    = 1280
	viewHeight   = 800
)

// step does one step. An error that says page_timeout means that the page answers nothing
// more.
func (p *page) step(ctx context.Context, in *hub.BrowseInput) (hub.BrowsePage, *hub.Picture, error) {
	before := p.document()
	picture, err := p.act(ctx, in)
	if err != nil {
		return hub.BrowsePage{}, nil, p.explain(ctx, err)
	}
	if err := p.settle(ctx, in.Action); err != nil {
		return hub.BrowsePage{}, nil, p.explain(ctx, err)
	}
	if url := p.takeBanned(); url != "" {
		return hub.BrowsePage{}, nil, errBanned(url)
	}
	out, err := p.show(ctx, in.Action)
	if err != nil {
		return hub.BrowsePage{}, nil, p.explain(ctx, err)
	}
	out.Navigated = p.document() != before
	out.Notes = p.takeNotes()
	return out, picture, nil
}

func (p *page) act(ctx context.Context, in *hub.BrowseInput) (*hub.Picture, error) {
	switch in.Action { //nolint:exhaustive // the others do nothing to the page
	case hub.BrowseOpen:
		return nil, p.goTo(ctx, in.URL)
	case hub.BrowseBack:
		return nil, p.back(ctx)
	case hub.BrowseClick:
		return nil, p.click(ctx, in.Ref)
	case hub.BrowseType:
		return nil, p.typeText(ctx, in)
	case hub.BrowsePress:
		return nil, p.press(ctx, in)
	case hub.BrowseSelect:
		return nil, p.choose(ctx, in)
	case hub.BrowseScreenshot:
		return p.screenshot(ctx, in.Full)
	}
	return nil, nil
}

// document tells documents of the page apart.
func (p *page) document() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loader
}

func (p *page) takeBanned() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	url := p.banned
	p.banned = ""
	return url
}

func errBanned(url string) error {
	return hub.NewError(hub.CodeAddressRefused, "the page went to a URL that no page may show: "+cut(url, 100)).
		WithFix("only http and https are shown")
}

// goTo opens a URL, which has been checked.
func (p *page) goTo(ctx context.Context, url string) error {
	nav, cancel := context.WithTimeoutCause(ctx, navigateWait, errNoBytes)
	defer cancel()
	var got struct {
		Loader   string `json:"loaderId"`
		Error    string `json:"errorText"`
		Download bool   `json:"isDownload"`
	}
	p.pass.Refusals()
	p.change(func() { p.banned, p.wanted, p.starting = "", "", true })
	err := p.call(nav, "Page.navigate", obj{"url": url}, &got)
	if err == nil {
		p.change(func() {
			switch {
			case got.Error != "" || got.Loader == "": // none, or another part of the same document
				p.starting = false
			case got.Loader != p.loader: // the event comes later
				p.wanted = got.Loader
			}
		})
	}
	switch {
	case err != nil:
		return err
	case got.Error == "":
		return nil
	case got.Download:
		return hub.NewError(hub.CodePageFailed, "the URL is a download, and downloads are refused").
			WithFix("open the page that links to it, or fetch the file in another way")
	case got.Error == "net::ERR_ABORTED":
		return p.aborted()
	}
	return p.unreachable(url, got.Error)
}

// aborted says why an engine gave a navigation up.
func (p *page) aborted() error {
	for _, n := range p.takeNotes() {
		if strings.HasPrefix(n, "a download was refused") {
			return hub.NewError(hub.CodePageFailed, n).WithFix("open the page that links to it, or fetch the file in another way")
		}
	}
	return hub.NewError(hub.CodePageFailed, "the server answered without a page").WithFix("look at the URL, then go on with another one")
}

// unreachable says why a page did not load.
func (p *page) unreachable(url, text string) error {
	if refused := p.pass.Refusals(); len(refused) > 0 {
		return hub.NewError(hub.CodeAddressRefused, "a connection was refused: "+refused[0])
	}
	reason := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text, "net::ERR_"), "_", " "))
	return hub.Errorf(hub.CodePageFailed, "the page does not load: %s", cut(reason, 100)).With("url", cut(url, 500)).
		WithFix("look at the URL and whether its server runs, then try again")
}

var errNoBytes = errors.New("its server did not answer in time")

// back goes to the page before.
func (p *page) back(ctx context.Context) error {
	var history struct {
		Current int `json:"currentIndex"`
		Entries []struct {
			ID  int    `json:"id"`
			URL string `json:"url"`
		} `json:"entries"`
	}
	if err := p.call(ctx, "Page.getNavigationHistory", nil, &history); err != nil {
		return err
	}
	for i := history.Current - 1; i >= 0 && i < len(history.Entries); i-- {
		e := history.Entries[i]
		if strings.HasPrefix(e.URL, "http") {
			p.change(func() { p.starting = true })
			return p.call(ctx, "Page.navigateToHistoryEntry", obj{"entryId": e.ID}, nil)
		}
	}
	return hub.NewError(hub.CodePageFailed, "there is no page before this one").WithFix("open a URL")
}

// settle waits until the page has loaded, or has had its time.
func (p *page) settle(ctx context.Context, action hub.BrowseAction) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadWait, errStillLoading)
	defer cancel()
	if action != hub.BrowseOpen && action != hub.BrowseBack {
		if action == hub.BrowseSnapshot || action == hub.BrowseScreenshot {
			return nil
		}
		p.pauseFor(ctx, quiet)
	}
	err := p.wait(ctx, func() bool { return !p.starting && p.wanted == "" && p.loaded == p.loader || p.banned != "" })
	if errors.Is(err, errStillLoading) {
		return nil // it is shown as it is
	}
	return err
}

// pauseFor returns when the page goes elsewhere, at the latest after a time.
func (p *page) pauseFor(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	document := p.document()
	_ = p.wait(ctx, func() bool { return p.starting || p.loader != document }) // a page that is gone is found next
}

var errStillLoading = errors.New("the page is still loading")

// explain says what an error of the engine means for the page: one that answers nothing
// more has had its time.
func (p *page) explain(ctx context.Context, err error) error {
	var known *hub.Error
	if errors.As(err, &known) {
		return err
	}
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	switch {
	case dead != "":
		return hub.NewError(hub.CodePageFailed, dead+" and was closed").WithFix("open it again, or another one")
	case p.engine.over():
		return hub.NewError(hub.CodeBrowserFailed, "the browser engine has ended").WithFix("open the page again: the engine is started anew")
	}
	if errors.Is(err, errNoBytes) && p.answers(ctx) {
		p.engine.conn.Send(p.session, "Page.stopLoading", nil)
		return hub.NewError(hub.CodePageFailed, "the page does not load: "+errNoBytes.Error()).WithFix("try again later, or open another one")
	}
	if errors.Is(err, errStepOver) || errors.Is(err, errNoBytes) || errors.Is(err, errStillLoading) || ctx.Err() != nil {
		return hub.NewError(hub.CodePageTimeout, "the page did not answer in time and was closed").
			WithFix("open it again if it is needed; a page that works without end cannot be used")
	}
	return hub.Errorf(hub.CodePageFailed, "the browser engine could not do that: %s", cut(err.Error(), 200)).
		WithFix("take a snapshot: the page may have changed meanwhile")
}

// answers reports whether the page still runs what it is told.
func (p *page) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	return p.call(ctx, "Runtime.evaluate", obj{"expression": "1"}, nil) == nil
}

// show returns what the page is like, with a snapshot if the action brings one.
func (p *page) show(ctx context.Context, action hub.BrowseAction) (hub.BrowsePage, error) {
	out := hub.BrowsePage{}
	// The engine's own process knows the title: a page that hangs is not asked.
	var at struct {
		Info struct{ Title string } `json:"targetInfo"`
	}
	if err := p.engine.conn.Call(ctx, "", "Target.getTargetInfo", obj{"targetId": p.target}, &at); err != nil {
		return out, err
	}
	p.mu.Lock()
	out.URL, out.Loading = cut(p.url, hub.MaxURLBytes), p.loaded != p.loader || p.starting
	p.mu.Unlock()
	out.Title = cut(at.Info.Title, hub.MaxTitleChars)
	switch action { //nolint:exhaustive // the others bring no snapshot
	case hub.BrowseOpen, hub.BrowseBack, hub.BrowseSnapshot:
		text, whole, err := p.snapshot(ctx)
		out.Snapshot, out.Truncated = text, !whole
		return out, err
	}
	return out, nil
}
