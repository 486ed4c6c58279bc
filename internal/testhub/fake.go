package testhub

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// What a Fake has.
const (
	FakeInstance = hub.InstanceID("abc")
	FakeToken    = "s3cret"
)

// Fake is what clients find of a hub that a test's own server stands for: the note of its
// address, the store folder with the operator's secret, and the operator's socket.
type Fake struct {
	DataRoot string
	Note     hubfile.Note
}

// NewFake makes a Fake for the address of a server, until the test ends. operator answers
// over the socket; nil: nothing listens there.
func NewFake(tb testing.TB, url string, operator http.Handler) *Fake {
	tb.Helper()
	dir := ShortDir(tb)
	store := filepath.Join(dir, "store")
	check(tb, os.Mkdir(store, 0o700))
	check(tb, os.WriteFile(filepath.Join(store, "FORMAT"), []byte("hubcli store\nformat 1\ninstance "+string(FakeInstance)+"\ncrc32c 00000000\n"), 0o600))
	check(tb, os.WriteFile(filepath.Join(store, "operator.token"), []byte(FakeToken+"\n"), 0o600))
	at, err := netip.ParseAddrPort(strings.TrimPrefix(url, "http://"))
	check(tb, err)
	f := &Fake{DataRoot: filepath.Join(dir, "data"), Note: hubfile.Note{
		Address: at, Store: store, InstanceID: FakeInstance, Socket: filepath.Join(store, "op.sock"),
		ProofKey: hubfile.ProofKey([]byte(tb.Name())),
	}}
	check(tb, hubfile.Write(f.DataRoot, f.Note))
	if operator != nil {
		serveSocket(tb, f.Note.Socket, operator)
	}
	return f
}

// ShortDir is a folder whose path leaves room for a socket, until the test ends.
func ShortDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "hub") //nolint:usetesting // the path of tb.TempDir is too long for a socket
	check(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	check(tb, err)
	return dir
}

func serveSocket(tb testing.TB, path string, h http.Handler) {
	l, err := net.Listen("unix", path)
	check(tb, err)
	server := &http.Server{Handler: h}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) })
	tb.Cleanup(func() {
		_ = server.Close()
		wg.Wait()
	})
}

// Prove answers a challenge as the hub of the note; false: the request is none.
func (f *Fake) Prove(w http.ResponseWriter, r *http.Request) bool {
	nonce := r.URL.Query().Get("nonce")
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if f == nil || !ok || nonce == "" || r.URL.Path != "/v1/hub-info" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	proof := hubfile.Proof(f.Note.ProofKey, nonce, local.AddrPort(), f.Note.InstanceID)
	_, _ = w.Write([]byte(`{"ok":true,"result":{"instance_id":"` + string(f.Note.InstanceID) + `","proof":"` + proof + `"}}`))
	return true
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
