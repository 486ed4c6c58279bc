package engine

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/internal/require"
)

const (
	testVersion = "150.0.1.2"
	patience    = 30 * time.Second // for what answers at once
)

// item is one entry of an archive that tests make.
type item struct {
	name, body string
	change     func(*zip.FileHeader)
}

// usual are the entries of an archive as it should be. The program is a script; the other
// file makes the archive long enough to break off.
func usual() []item {
	const top = "chrome-headless-shell-linux64/"
	return []item{
		{name: top + "ABOUT", body: strings.Repeat("about ", 100)},
		{name: top + "chrome-headless-shell", body: "#!/bin/sh\necho HeadlessChrome " + testVersion + "\n", change: func(h *zip.FileHeader) { h.SetMode(0o755) }},
		{name: top + "locales/", change: func(h *zip.FileHeader) { h.SetMode(0o755 | os.ModeDir) }},
		{name: top + "locales/en.pak", body: noise(300_000), change: func(h *zip.FileHeader) { h.Method = zip.Store }},
	}
}

// noise is a text that no packing makes short.
func noise(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b.WriteString(hex.EncodeToString(sum[:]))
	}
	return b.String()[:n]
}

// archive packs entries.
func archive(t testing.TB, items []item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, it := range items {
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if it.change != nil {
			it.change(h)
		}
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		if !strings.HasSuffix(it.name, "/") {
			_, err = f.Write([]byte(it.body))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// pinsOf are pins for one archive for Linux.
func pinsOf(data []byte) *Pins {
	sum := sha256.Sum256(data)
	text := fmt.Sprintf(`{"base_url": "https://nowhere.invalid", "versions": [{"version": %q, "archives": {"linux64": {"bytes": %d, "archive_sha256": %q}}}]}`,
		testVersion, len(data), hex.EncodeToString(sum[:]))
	pins, err := ParsePins([]byte(text))
	if err != nil {
		panic(err)
	}
	return pins
}

// site serves an archive over TLS as storage servers do: with ranges and a validator.
type site struct {
	*httptest.Server
	data []byte

	mu       sync.Mutex
	requests []*http.Request
	answer   func(w http.ResponseWriter, r *http.Request, n int) bool // true: it has answered request n
}

func newSite(t testing.TB, data []byte) *site {
	s := &site{data: data}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	n, answer := len(s.requests), s.answer
	s.mu.Unlock()
	if answer != nil && answer(w, r, n) {
		return
	}
	if r.URL.Path != "/mirror/"+testVersion+"/linux64/chrome-headless-shell-linux64.zip" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// seen returns the Range headers of all requests.
func (s *site) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.requests {
		all = append(all, r.Header.Get("Range"))
	}
	return all
}

// roots trusts the site and nobody else.
func (s *site) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// installer installs from the site into a data root.
func (s *site) installer(dataRoot string, pins *Pins) *Installer {
	return &Installer{
		Options: Options{
			DataRoot: dataRoot, GOOS: "linux", GOARCH: "amd64", Pins: pins, wait: patience,
			Getenv: variablesOf(map[string]string{EnvMirror: s.URL + "/mirror"}),
		},
		RootCAs: s.roots(), backs: time.Millisecond, stall: patience,
	}
}

// cutsOff is an answer that breaks off after some bytes of the whole.
func (s *site) cutsOff(after int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, n int) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(s.data)))
		_, _ = w.Write(s.data[:after])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
