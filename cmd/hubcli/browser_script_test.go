//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/api/client"
)

// cmdMirror serves an archive of a browser engine as a mirror does, pins it in a file and
// has the executable trust the mirror's certificate as an authority of the machine. It sets
// MIRROR, the address by number; PROXY, a proxy that answers for every host as the mirror;
// and BYTES, the size. The modes: usual; wrong serves one byte that is not pinned; cut
// breaks the first download off in the middle.
func cmdMirror(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "mirror <usual|wrong|cut>")
	data, err := engineArchive()
	ts.Check(err)
	sum := sha256.Sum256(data)
	served := bytes.Clone(data)
	if args[0] == "wrong" {
		served[len(served)/2] ^= 1
	}
	var requests atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := requests.Add(1) == 1
		if !strings.HasSuffix(r.URL.Path, ".zip") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"one"`)
		if first && args[0] == "cut" {
			w.Header().Set("Content-Length", fmt.Sprint(len(served)))
			_, _ = w.Write(served[:len(served)/2])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done() // until the client is gone
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(served))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	proxy := httptest.NewServer(tunnel(s.Listener.Addr().String()))
	ts.Defer(proxy.Close)
	ts.Defer(s.CloseClientConnections)
	ts.Defer(func() { go s.Close() })

	work := ts.Getenv("WORK")
	ca, pins := filepath.Join(work, "ca.pem"), filepath.Join(work, "pins.json")
	ts.Check(writeFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	ts.Check(writeFile(pins, fmt.Appendf(nil, `{"base_url": "https://example.com/builds", "versions": [{"version": "150.0.1.2",
		"archives": {%q: {"bytes": %d, "archive_sha256": %q}}}]}`, enginePlatform(), len(data), hex.EncodeToString(sum[:]))))
	ts.Setenv("SSL_CERT_FILE", ca)
	ts.Setenv(browserPinsName, pins)
	ts.Setenv("MIRROR", s.URL+"/mirror")
	ts.Setenv("PROXY", proxy.URL)
	ts.Setenv("BYTES", fmt.Sprint(len(data)))
}

// cmdEngines asks a hub for its engines, as the operator.
func cmdEngines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "engines <port> <path> <version>")
	c := client.New(client.Config{BaseURL: "http://127.0.0.1:" + args[0], DataRoot: ts.Getenv("HUB_DATA_ROOT")})
	defer c.Close()
	found, err := c.AsOperator().BrowserEngines(context.Background())
	ts.Check(err)
	if len(found) == 0 || found[0].Path != args[1] || found[0].Version != args[2] || found[0].Source != "HUBCLI_BROWSER" {
		ts.Fatalf("the hub prefers %+v", found)
	}
}

func writeFile(name string, data []byte) error { return os.WriteFile(name, data, 0o600) }

// enginePlatform is the name of this platform in the pins.
func enginePlatform() string {
	return map[string]string{"linux/amd64": "linux64", "linux/arm64": "linux-arm64", "darwin/amd64": "mac-x64", "darwin/arm64": "mac-arm64"}[runtime.GOOS+"/"+runtime.GOARCH]
}

// engineArchive is an archive as those of engines are, whose program is a script, and which
// is long enough to break off in the middle.
func engineArchive() ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	top := "chrome-headless-shell-" + enginePlatform() + "/"
	filler := make([]byte, 300_000)
	for i := range filler {
		filler[i] = byte(i*i>>3 ^ i)
	}
	for name, body := range map[string][]byte{"chrome-headless-shell": []byte("#!/bin/sh\necho HeadlessChrome 150.0.1.2\n"), "headless_lib_data.pak": filler} {
		h := &zip.FileHeader{Name: top + name, Method: zip.Store}
		h.SetMode(0o755)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write(body)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// tunnel is a proxy: whatever host a client asks for, it is connected to one address.
func tunnel(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		_, _ = io.Copy(here, there)
		_ = here.Close()
	})
}
