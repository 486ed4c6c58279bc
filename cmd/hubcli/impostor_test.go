//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/api"
)

// impostor takes the port of a hub that it kills, and says of itself what the hub said to
// every caller. All that it is sent is written down.
func impostor(ts *testscript.TestScript, port string) {
	info, err := at(port).Info(context.Background())
	ts.Check(err)
	status, err := at(port).AppStatus(context.Background())
	ts.Check(err)
	ts.Check(syscall.Kill(status.PID, syscall.SIGKILL))
	ts.Check(until(func() bool { return !runs(status.PID) }))
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	ts.Check(err)
	heard, err := os.Create(ts.MkAbs("heard"))
	ts.Check(err)
	var mu sync.Mutex
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var head bytes.Buffer
		_ = r.Header.Write(&head)
		mu.Lock()
		fmt.Fprintf(heard, "%s %s\n%s%s\n", r.Method, r.URL.RequestURI(), head.String(), body)
		mu.Unlock()
		var result any = map[string]any{}
		switch r.URL.Path {
		case "/v1/hub-info":
			result = info
		case "/v1/app/status":
			result = status
		}
		w.Header().Set("Content-Type", api.ContentType)
		w.Header().Set(api.HeaderInstance, string(info.InstanceID))
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
	})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) })
	ts.Defer(func() {
		_ = server.Close()
		wg.Wait()
		_ = heard.Close()
	})
}
