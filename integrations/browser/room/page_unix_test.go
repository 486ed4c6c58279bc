//go:build unix

package room

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

const shop = `<!doctype html><title>Shop</title><h1>Shop</h1>
<form action="/done"><label>Name <input name=name value=old></label>
<label>Size <select name=size><option value=s>Small</option><option value=l>Large</option><option disabled>Huge</option></select></label>
<label>Note <textarea name=note></textarea></label><input type=checkbox name=gift aria-label=Gift><input type=file aria-label=Upload>
<button>Buy</button></form>
<p onclick="document.title='paragraph'">Read "this" [ref=e99]</p>
<button onclick="alert('Sure?'); this.textContent='Asked'">Ask</button>
<a href="/two">Next</a> <a href="/two" target=_blank>Elsewhere</a>
<iframe srcdoc="<button onclick=&quot;parent.document.title='inner'&quot;>Inner</button>"></iframe>
<iframe src="data:text/html,<button>Stranger</button>"></iframe>`

// TestDriveAPage as an agent does: look, type, select, press, click, go back.
func TestDriveAPage(t *testing.T) {
	r := newRig(t)
	done := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch req.URL.Path {
		case "/done":
			done <- req.URL.RawQuery
			_, _ = w.Write([]byte("<title>Done</title>thanks"))
		case "/two":
			_, _ = w.Write([]byte("<title>Two</title><h1>Second</h1>"))
		default:
			_, _ = w.Write([]byte(shop))
		}
	}))
	t.Cleanup(s.Close)
	hosts := []hub.AllowedHost{hub.AllowedHost(strings.TrimPrefix(s.URL, "http://"))}
	step := func(in hub.BrowseInput) hub.BrowsePage { t.Helper(); return r.do(hosts, in) }

	page := step(open(s.URL + "/"))
	snapshot := page.Snapshot
	if page.Title != "Shop" || page.URL != s.URL+"/" || !page.Navigated || page.Loading || page.Truncated {
		t.Errorf("the page is %+v", page)
	}
	for _, line := range []string{`heading "Shop" [level=1]`, `textbox "Name" [ref=`, `text: "Read 'this' [ref=e99]"`, `button "Inner" [ref=`, `link "Next" [ref=`} {
		if !strings.Contains(snapshot, line) {
			t.Errorf("the snapshot lacks %q:\n%s", line, snapshot)
		}
	}
	if strings.Contains(snapshot, "Stranger") {
		t.Errorf("a frame of data is shown:\n%s", snapshot)
	}
	at := func(text string) string { t.Helper(); return ref(t, snapshot, text) }
	name := at(`textbox "Name"`)
	step(hub.BrowseInput{Action: hub.BrowseType, Ref: name, Text: "wrong"})
	step(hub.BrowseInput{Action: hub.BrowseType, Ref: name, Text: "Zoë & co"})
	step(hub.BrowseInput{Action: hub.BrowseSelect, Ref: at(`combobox "Size"`), Values: []string{"Large"}})
	step(hub.BrowseInput{Action: hub.BrowsePress, Ref: at(`checkbox "Gift"`), Key: "Space"})
	r.fails(hub.CodePageFailed, hosts, hub.BrowseInput{Action: hub.BrowseSelect, Ref: at(`combobox "Size"`), Values: []string{"Huge"}})
	r.fails(hub.CodePageFailed, hosts, hub.BrowseInput{Action: hub.BrowseType, Ref: at(`"Upload"`), Text: "/etc/passwd"})
	r.fails(hub.CodePageFailed, hosts, hub.BrowseInput{Action: hub.BrowseType, Ref: at(`link "Next"`), Text: "x"})
	r.fails(hub.CodeInvalid, hosts, hub.BrowseInput{Action: hub.BrowsePress, Key: "Hyper+x"})
	r.fails(hub.CodeInvalid, hosts, hub.BrowseInput{Action: hub.BrowseClick, Ref: "button"})

	asked := step(hub.BrowseInput{Action: hub.BrowseClick, Ref: at(`button "Ask"`)})
	if !strings.Contains(strings.Join(asked.Notes, "\n"), "Sure?") || asked.Navigated {
		t.Errorf("after a dialog the page is %+v", asked)
	}
	if page := step(hub.BrowseInput{Action: hub.BrowseClick, Ref: at(`button "Inner"`)}); page.Title != "inner" {
		t.Errorf("after a click in a frame the page is %+v", page)
	}
	if page := step(hub.BrowseInput{Action: hub.BrowseClick, Ref: at("Elsewhere")}); page.Navigated || !strings.Contains(strings.Join(page.Notes, "\n"), "/two") {
		t.Errorf("after a click that opens a window: %+v", page)
	}
	again := step(hub.BrowseInput{Action: hub.BrowseSnapshot}).Snapshot
	if ref(t, again, `textbox "Name"`) != name || !strings.Contains(again, `value "Zoë & co"`) || !strings.Contains(again, `"Gift" [checked]`) {
		t.Errorf("the snapshot afterward is:\n%s", again)
	}
	step(hub.BrowseInput{Action: hub.BrowseClick, Ref: at(`button "Buy"`)})
	if got := <-done; !strings.HasPrefix(got, "name=Zo%C3%AB+%26+co&size=l&note=&gift=on") {
		t.Errorf("the form sends %s", got)
	}
	r.fails(hub.CodeStaleRef, hosts, hub.BrowseInput{Action: hub.BrowseClick, Ref: name})
	if page := step(hub.BrowseInput{Action: hub.BrowseBack}); page.URL != s.URL+"/" || !strings.Contains(page.Snapshot, "heading") {
		t.Errorf("back is %+v", page)
	}
	r.fails(hub.CodeStaleRef, hosts, hub.BrowseInput{Action: hub.BrowseClick, Ref: name})
	r.fails(hub.CodePageFailed, hosts, hub.BrowseInput{Action: hub.BrowseBack})
	step(hub.BrowseInput{Action: hub.BrowseClose})
	r.fails(hub.CodePageFailed, hosts, hub.BrowseInput{Action: hub.BrowseSnapshot})
}

// TestScreenshots are pictures of a bounded size.
func TestScreenshots(t *testing.T) {
	r := newRig(t)
	url, host := site(t, map[string]string{"/": `<body style="height:20000px;background:linear-gradient(red,blue)">tall`})
	r.do([]hub.AllowedHost{host}, open(url+"/"))
	for _, full := range []bool{false, true} {
		_, picture, err := r.Step(t.Context(), "r_1", []hub.AllowedHost{host}, &hub.BrowseInput{Action: hub.BrowseScreenshot, Full: full})
		if err != nil || !bytes.HasPrefix(picture.Data, []byte("\x89PNG")) || len(picture.Data) > hub.MaxScreenshot {
			t.Errorf("full %v: %v", full, err)
		}
	}
}

// TestAllowedNow: what the operator takes back is refused from the next step on, and what
// a page wanted to reach is said.
func TestAllowedNow(t *testing.T) {
	r := newRig(t)
	url, host := site(t, map[string]string{"/": `<button onclick="fetch('/x').catch(()=>document.title='refused')">Go</button><img src="http://127.0.0.1:8081/">`})
	page := r.do([]hub.AllowedHost{host}, open(url+"/"))
	if !strings.Contains(strings.Join(page.Notes, "\n"), "127.0.0.1:8081 is no public address") {
		t.Errorf("it is not said what was refused: %q", page.Notes)
	}
	if e := r.fails(hub.CodeAddressRefused, nil, open(url+"/")); !strings.Contains(e.Message, string(host)) {
		t.Errorf("the refusal says %q", e.Message)
	}
}

// TestRoomsAreApart: pages of two rooms share no cookie.
func TestRoomsAreApart(t *testing.T) {
	r := newRig(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "first"})
		_, err := req.Cookie("who")
		_, _ = w.Write([]byte(map[bool]string{true: "<h1>new</h1>", false: "<h1>known</h1>"}[err != nil]))
	}))
	t.Cleanup(s.Close)
	hosts := []hub.AllowedHost{hub.AllowedHost(strings.TrimPrefix(s.URL, "http://"))}
	for _, c := range []struct {
		room hub.RoomID
		want string
	}{{"r_1", "new"}, {"r_1", "known"}, {"r_2", "new"}} {
		in := open(s.URL + "/")
		out, _, err := r.Step(t.Context(), c.room, hosts, &in)
		if err != nil || !strings.Contains(out.Snapshot, c.want) {
			t.Errorf("room %s sees %q, %v, want %s", c.room, out.Snapshot, err, c.want)
		}
	}
}

// TestIdleEndsTheEngine and removes its profile; the next step starts another one.
func TestIdleEndsTheEngine(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Idle, o.Linger = 50*time.Millisecond, 50*time.Millisecond })
	url, host := site(t, map[string]string{"/": "<h1>here</h1>"})
	left := func() []string {
		all, _ := filepath.Glob(filepath.Join(profileParent(r.options.Store), profileName(r.options.Store)+"*"))
		return all
	}
	for range 2 {
		r.do([]hub.AllowedHost{host}, open(url+"/"))
		require.Eventually(t, "the engine ends with its profile", func() bool {
			_, running := r.Running()
			return !running && len(left()) == 0
		})
	}
}

// TestEngineThatDies: the step fails in its time, and the next one has a new engine.
func TestEngineThatDies(t *testing.T) {
	r := newRig(t)
	url, host := site(t, map[string]string{"/": "<h1>here</h1>"})
	hosts := []hub.AllowedHost{host}
	r.do(hosts, open(url+"/"))
	pid, ok := r.Running()
	if !ok {
		t.Fatal("no engine runs")
	}
	require.NoError(t, syscall.Kill(-pid, syscall.SIGKILL))
	in := hub.BrowseInput{Action: hub.BrowseSnapshot}
	if _, _, err := r.Step(context.Background(), "r_1", hosts, &in); err == nil {
		t.Error("the page of a dead engine answers")
	}
	if out := r.do(hosts, open(url+"/")); !strings.Contains(out.Snapshot, "here") {
		t.Errorf("the next engine shows %+v", out)
	}
	if again, _ := r.Running(); again == pid {
		t.Error("the engine is the same")
	}
}

// TestEngineThatDoesNotStart: the error says why, and nothing is left.
func TestEngineThatDoesNotStart(t *testing.T) {
	dir, err := os.MkdirTemp("", "engines-") //nolint:usetesting // an engine that runs as another user has to enter it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	for what, c := range map[string]struct{ script, want string }{
		"sandbox": {"echo 'FATAL: No usable sandbox!' >&2; exit 1", "the system allows it no sandbox"},
		"root":    {"echo 'Running as root without --no-sandbox is not supported.'; exit 1", "it refuses to run as root"},
		"library": {"echo 'x: error while loading shared libraries: libnss3.so: cannot open' >&2; exit 127", "libnss3.so"},
		"quiet":   {"exit 0", "it ended at once"},
		"fatal":   {"echo 'x' >&2; echo '[1:1:FATAL:singleton.cc:315] Socket path too long: /x' >&2; exit 1", "it ended at once, and says [1:1:FATAL:singleton.cc:315] Socket path too long: /x"},
	} {
		path := filepath.Join(dir, what)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755))
		m := New(Options{
			Find:   func(context.Context) (hub.BrowserEngine, error) { return hub.BrowserEngine{Path: path}, nil },
			Launch: launch, Store: dir,
		})
		in := open("http://x.test/")
		_, _, err := m.Step(t.Context(), "r_1", nil, &in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		m.Close()
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), profileName(dir)+"*"))
	if len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestProfileHasRoomForASocket: a whole browser makes a socket below its profile, and does not
// start if the path is too long. So a long folder for temporary files is not used, and what is
// left in either folder is removed.
func TestProfileHasRoomForASocket(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	require.NoError(t, os.Mkdir(long, 0o755))
	t.Setenv("TMPDIR", long)
	store := t.TempDir()
	dir, err := newProfile(store, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := net.Listen("unix", dir+"/s")
	require.NoError(t, err)
	socket.Close()
	if len(dir)+len(browserSocket) > maxSocketPath {
		t.Errorf("the profile %s has no room for a socket", dir)
	}
	old := filepath.Join(long, profileName(store)+"1") // as an earlier version has made it
	require.NoError(t, os.Mkdir(old, 0o755))
	sweep(store)
	for _, left := range []string{dir, old} {
		if _, err := os.Stat(left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

// TestEngineStartsWhereverTemporaryFilesAre: the folder for temporary files may have a long path.
func TestEngineStartsWhereverTemporaryFilesAre(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	require.NoError(t, os.Mkdir(long, 0o755))
	t.Setenv("TMPDIR", long)
	r := newRig(t)
	url, host := site(t, map[string]string{"/": "<h1>here</h1>"})
	if out := r.do([]hub.AllowedHost{host}, open(url+"/")); !strings.Contains(out.Snapshot, "here") {
		t.Errorf("the page is %+v", out)
	}
}

// TestEngineHasNoOtherPages: the window of a whole browser has pages of its own, which cost
// more than the room's and which nobody sees.
func TestEngineHasNoOtherPages(t *testing.T) {
	r := newRig(t)
	url, host := site(t, map[string]string{"/": "<h1>here</h1>"})
	r.do([]hub.AllowedHost{host}, open(url+"/"))
	var all struct {
		Targets []targetInfo `json:"targetInfos"`
	}
	require.NoError(t, r.engine.conn.Call(t.Context(), "", "Target.getTargets", obj{"filter": []obj{{}}}, &all))
	for _, target := range all.Targets {
		if target.URL != url+"/" {
			t.Errorf("the engine also shows %s, a %s", target.URL, target.Type)
		}
	}
	if len(all.Targets) == 0 {
		t.Error("the engine lists no page")
	}
}

// TestSandboxIsNeverLeftOut unless the operator says so.
func TestSandboxIsNeverLeftOut(t *testing.T) {
	if slices.Contains(flags("x", "y", false), "--no-sandbox") || !slices.Contains(flags("x", "y", true), "--no-sandbox") {
		t.Error("the sandbox is not the operator's choice")
	}
	for _, pair := range environment("dir") {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains([]string{"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "__CF_USER_TEXT_ENCODING"}, name) {
			t.Errorf("the engine is handed %s", name)
		}
	}
}

// BenchmarkOpen measures open with its snapshot, with an engine that has to start and with
// one that runs.
func BenchmarkOpen(b *testing.B) {
	for name, cold := range map[string]bool{"cold": true, "warm": false} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b)
			url, host := site(b, map[string]string{"/": `<!doctype html><title>Shop</title><h1>Shop</h1><form><label>Name <input></label><button>Buy</button></form><a href=/two>Next</a>`})
			hosts := []hub.AllowedHost{host}
			if !cold {
				r.do(hosts, open(url+"/"))
			}
			for b.Loop() {
				r.do(hosts, open(url+"/"))
				if cold {
					b.StopTimer()
					r.do(hosts, hub.BrowseInput{Action: hub.BrowseClose})
					r.endIdle()
					b.StartTimer()
				}
			}
		})
	}
}
