//go:build unix

package room

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/hub"
	browserengine "hubcli/integrations/browser/engine"
	"hubcli/integrations/browser/gate"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEngine finds the engine that a hub would use, which HUBCLI_BROWSER may name, or skips the
// test.
func testEngine(t testing.TB) hub.BrowserEngine {
	t.Helper()
	found, err := browserengine.Choose(browserengine.Discover(t.Context(), browserengine.Options{Getenv: os.Getenv, AsNobody: os.Geteuid() == 0}))
	if err != nil {
		t.Skip(testprogram.Missing(testprogram.Browser) + ": " + err.Error())
	}
	return found
}

// launch starts an engine without a keeper: it ends with its pipes.
func launch(c *Command, ended func([]byte)) (Process, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return Process{}, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return Process{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	var out bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, &out, &out
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.User != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.User[0], Gid: c.User[1]}
	}
	err = cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return Process{}, err
	}
	go func() {
		_ = cmd.Wait()
		_ = os.RemoveAll(c.Remove)
		ended(out.Bytes())
	}()
	return Process{PID: cmd.Process.Pid, In: ourIn, Out: ourOut, Stop: func(string) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}}, nil
}

// rig is a manager with the engine of this machine, and names that mean what a test says.
type rig struct {
	*Manager
	t     testing.TB
	names *names
}

// names is a resolver: what a name means may change from one question to the next.
type names struct {
	mu    sync.Mutex
	means map[string][][]netip.Addr // the answers in turn; the last stays
}

func (n *names) set(name string, answers ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.means[name] = nil
	for _, a := range answers {
		n.means[name] = append(n.means[name], []netip.Addr{netip.MustParseAddr(a)})
	}
}

func (n *names) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := n.means[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.means[host] = answers[1:]
	}
	return answers[0], nil
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	found := testEngine(t)
	t.Logf("%s %s at %s", found.Kind, found.Version, found.Path)
	n := &names{means: map[string][][]netip.Addr{}}
	o := Options{
		Find:   func(context.Context) (hub.BrowserEngine, error) { return found, nil },
		Launch: launch, Store: t.TempDir(), StepMax: 20 * time.Second,
		Gate: gate.Options{Resolve: n.resolve},
	}
	for _, c := range change {
		c(&o)
	}
	m := New(o)
	t.Cleanup(m.Close)
	return &rig{Manager: m, t: t, names: n}
}

// do does a step in room r_1 that has to succeed.
func (r *rig) do(hosts []hub.AllowedHost, in hub.BrowseInput) hub.BrowsePage {
	r.t.Helper()
	out, _, err := r.Step(context.Background(), "r_1", hosts, &in)
	require.NoError(r.t, err)
	return out
}

// fails does a step that has to fail with a code.
func (r *rig) fails(code hub.Code, hosts []hub.AllowedHost, in hub.BrowseInput) *hub.Error {
	r.t.Helper()
	out, _, err := r.Step(context.Background(), "r_1", hosts, &in)
	var refused *hub.Error
	if !errors.As(err, &refused) || refused.Code != code {
		r.t.Fatalf("%s answers %+v, %v, not %s", in.Action, out, err, code)
	}
	return refused
}

func open(url string) hub.BrowseInput { return hub.BrowseInput{Action: hub.BrowseOpen, URL: url} }

// site serves pages by their path.
func site(t testing.TB, pages map[string]string) (url string, host hub.AllowedHost) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	return s.URL, hub.AllowedHost(strings.TrimPrefix(s.URL, "http://"))
}

// ref finds the ref of the line of a snapshot that holds a text.
func ref(t testing.TB, snapshot, text string) string {
	t.Helper()
	for line := range strings.Lines(snapshot) {
		if _, after, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, text) {
			name, _, _ := strings.Cut(after, "]")
			return name
		}
	}
	t.Fatalf("no line with a ref holds %q:\n%s", text, snapshot)
	return ""
}
