//go:build unix

package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

const (
	publicAddress = "93.184.216.34" // which the test makes the hostile site
	// hostileStep is the time of a step, of which answerMargin is kept for closing a page. A
	// whole browser opens a window with each page: it needs three times as long as a headless
	// shell, and pages share its one process for windows.
	hostileStep      = 8 * time.Second
	hostileWholeStep = answerMargin + 3*(hostileStep-answerMargin)
)

// canary counts who reaches what no page may reach: listeners that no page may connect to,
// and addresses that the gate was about to dial.
type canary struct {
	tcp, tcp6 net.Listener // tcp6 is nil where there is no IPv6
	udp       net.PacketConn
	port      string
	reached   atomic.Int64
	mu        sync.Mutex
	by        []string
}

func (c *canary) caught(format string, args ...any) {
	c.reached.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = append(c.by, fmt.Sprintf(format, args...))
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	var err error
	for range 20 { // the port has to be free for datagrams too
		c.tcp, err = net.Listen("tcp", "0.0.0.0:0")
		require.NoError(t, err)
		_, c.port, err = net.SplitHostPort(c.tcp.Addr().String())
		require.NoError(t, err)
		if c.udp, err = net.ListenPacket("udp", "0.0.0.0:"+c.port); err == nil {
			break
		}
		c.tcp.Close()
	}
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { c.serve(c.tcp) })
	if c.tcp6, err = net.Listen("tcp6", "[::1]:"+c.port); err == nil {
		serving.Go(func() { c.serve(c.tcp6) })
	}
	serving.Go(func() {
		buffer := make([]byte, 2000)
		for {
			_, from, err := c.udp.ReadFrom(buffer)
			if err != nil {
				return
			}
			c.caught("a datagram from %s", from)
		}
	})
	t.Cleanup(func() {
		c.tcp.Close()
		c.udp.Close()
		if c.tcp6 != nil {
			c.tcp6.Close()
		}
		serving.Wait()
	})
	return c
}

func (c *canary) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		buffer := make([]byte, 200)
		n, _ := conn.Read(buffer)
		c.caught("a connection to %s: %q", conn.LocalAddr(), buffer[:n])
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 6\r\n\r\nsecret")
		conn.Close()
	}
}

// hostile is a site on loopback that looks public to the gate, and attacks its visitors.
type hostile struct {
	*rig
	step   time.Duration // has every step
	canary *canary
	server *httptest.Server
	port   string
	ran    sync.Map // the attacks whose scripts have run
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	h := &hostile{canary: newCanary(t), step: hostileStep}
	if testEngine(t).Kind != hub.BrowserHeadlessShell {
		h.step = hostileWholeStep
	}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	real := netip.MustParseAddrPort(h.server.Listener.Addr().String())
	h.port = fmt.Sprint(real.Port())
	h.rig = newRig(t, func(o *Options) {
		o.StepMax = h.step
		o.Gate.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.Addr() != netip.MustParseAddr(publicAddress) {
				h.canary.caught("the gate dials %s", to)
				return nil, errors.New("refused by the test")
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", real.String())
		}
		o.Gate.Own = func() []netip.Addr { return nil }
	})
	for _, name := range []string{"site.test", "other.test"} {
		h.names.set(name, publicAddress)
	}
	h.names.set("rebind.test", publicAddress, "127.0.0.1")
	h.names.set("inner.test", "127.0.0.1")
	h.names.set("mapped.test", "::ffff:127.0.0.1")
	h.names.set("metadata.test", "169.254.169.254")
	h.names.set("nat64.test", "64:ff9b::7f00:1")
	return h
}

// ServeHTTP serves the page of an attack, and what attacks need.
func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store")
	if strings.HasPrefix(r.Host, "rebind.test") {
		header.Set("Connection", "close") // so that the name is looked up again
	}
	switch path, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); path {
	case "ran":
		h.ran.Store(rest, true)
	case "redirect":
		status := http.StatusFound
		if r.URL.Query().Has("keep") {
			status = http.StatusTemporaryRedirect
		}
		header.Set("Location", h.fill(r.URL.Query().Get("to")))
		w.WriteHeader(status)
	case "chain":
		if rest == "xxxxx" {
			http.Redirect(w, r, h.fill("http://127.0.0.1:CANARY/"), http.StatusFound)
			return
		}
		http.Redirect(w, r, "/chain/"+rest+"x", http.StatusFound)
	case "endless":
		http.Redirect(w, r, "/endless/"+rest+"x", http.StatusFound)
	case "auth":
		header.Set("WWW-Authenticate", `Basic realm="give me your password"`)
		w.WriteHeader(http.StatusUnauthorized)
	case "proxyauth":
		header.Set("Proxy-Authenticate", `Basic realm="hub"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	case "file":
		header.Set("Content-Disposition", `attachment; filename="../../evil.sh"`)
		_, _ = io.WriteString(w, "#!/bin/sh")
	case "silent":
		<-r.Context().Done()
	case "drip":
		header.Set("Content-Type", "text/html")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "<p>more")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	case "js":
		header.Set("Content-Type", "text/javascript")
		header.Set("Service-Worker-Allowed", "/")
		_, _ = io.WriteString(w, h.fill(r.URL.Query().Get("text")))
	case "css":
		header.Set("Content-Type", "text/css")
		_, _ = io.WriteString(w, h.fill(r.URL.Query().Get("text")))
	default:
		h.serveAttack(w, path)
	}
}

func (h *hostile) serveAttack(w http.ResponseWriter, name string) {
	a, ok := attackOf[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	for name, value := range a.header {
		w.Header().Set(name, h.fill(value))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><title>"+name+"</title><script>fetch('/ran/"+name+"')</script>"+h.fill(a.html))
}

// fill puts the ports of this test into a text.
func (h *hostile) fill(s string) string {
	return strings.NewReplacer("CANARY", h.canary.port, "SITE", h.port).Replace(s)
}

// attack is one page, and what an agent does with it.
type attack struct {
	name   string
	html   string            // CANARY is the port that nobody may reach, SITE that of the site
	header map[string]string // of the answer
	url    string            // that is opened; empty: the page of the attack
	clicks bool              // the first button or link is clicked
	linger time.Duration     // for what begins later; 0: a quarter of a second
	norun  bool              // its scripts do not run, or nothing is loaded
}

var attackOf = func() map[string]attack {
	all := map[string]attack{}
	for _, a := range attacks() {
		all[a.name] = a
	}
	return all
}()

// run visits the page of an attack in a room, and returns what went wrong.
func (h *hostile) run(room hub.RoomID, a *attack) error {
	url := h.fill(a.url)
	if url == "" {
		url = "http://site.test:" + h.port + "/" + a.name
	}
	out, err := h.visit(room, open(url))
	for range 2 { // the other pages may keep the engine from opening this one in time
		if _, ran := h.ran.Load(a.name); ran || a.norun || err == nil {
			break
		}
		out, err = h.visit(room, open(url))
	}
	if err == nil && a.clicks {
		for line := range strings.Lines(out.Snapshot) {
			_, after, ok := strings.Cut(line, "[ref=")
			if ok && (strings.Contains(line, "button") || strings.Contains(line, "link")) {
				ref, _, _ := strings.Cut(after, "]")
				_, err = h.visit(room, hub.BrowseInput{Action: hub.BrowseClick, Ref: ref})
				break
			}
		}
	}
	linger := a.linger
	if linger == 0 {
		linger = 250 * time.Millisecond
	}
	pause := time.NewTimer(linger)
	<-pause.C
	if _, ran := h.ran.Load(a.name); !ran && !a.norun {
		return fmt.Errorf("its scripts did not run: %v", err)
	}
	for _, action := range []hub.BrowseAction{hub.BrowseSnapshot, hub.BrowseClose} {
		if _, err := h.visit(room, hub.BrowseInput{Action: action}); err != nil && action == hub.BrowseClose {
			return fmt.Errorf("the page is not closed: %w", err)
		}
	}
	return nil
}

// visit does a step. A step that takes longer than its time is an error beside all others.
func (h *hostile) visit(room hub.RoomID, in hub.BrowseInput) (hub.BrowsePage, error) {
	began := time.Now()
	out, _, err := h.Step(context.Background(), room, nil, &in)
	if took := time.Since(began); took > 3*h.step {
		h.t.Errorf("the step %s took %s, and has %s; the rest is for a machine that has much else to do", in.Action, took, h.step)
	}
	var known *hub.Error
	if err != nil && !errors.As(err, &known) {
		h.t.Errorf("the step %s fails with an error that nobody can act on: %v", in.Action, err)
	}
	return out, err
}

// TestHostilePages visits every page that attacks: none reaches an address that it may not
// reach, and none makes a step take longer than its time.
func TestHostilePages(t *testing.T) {
	h := newHostile(t)
	all := attacks()
	if len(all) < 60 {
		t.Fatalf("there are only %d attacks", len(all))
	}
	queue := make(chan attack)
	var visitors sync.WaitGroup
	for n := range 4 {
		visitors.Go(func() {
			for a := range queue {
				before := h.canary.reached.Load()
				began := time.Now()
				if err := h.run(hub.RoomID(fmt.Sprintf("r_%d", n)), &a); err != nil {
					t.Errorf("%s: %v", a.name, err)
				}
				if h.canary.reached.Load() != before {
					t.Errorf("while %s ran, something was reached", a.name)
				}
				t.Logf("%-24s %s", a.name, time.Since(began).Round(time.Millisecond))
			}
		})
	}
	for _, a := range all {
		queue <- a
	}
	close(queue)
	visitors.Wait()
	h.canary.mu.Lock()
	defer h.canary.mu.Unlock()
	if len(h.canary.by) > 0 {
		t.Errorf("%d attacks, and the canary was reached %d times:\n%s", len(all), len(h.canary.by), strings.Join(h.canary.by, "\n"))
	}
}

// TestCanarySings: the listeners of the test notice a page that may reach them.
func TestCanarySings(t *testing.T) {
	c := newCanary(t)
	r := newRig(t)
	_, _, _ = r.Step(t.Context(), "r_1", []hub.AllowedHost{hub.AllowedHost("127.0.0.1:" + c.port)}, &hub.BrowseInput{Action: hub.BrowseOpen, URL: "http://127.0.0.1:" + c.port + "/"})
	if c.reached.Load() == 0 {
		t.Error("a page that is allowed to reach the canary does not make it sing")
	}
}
