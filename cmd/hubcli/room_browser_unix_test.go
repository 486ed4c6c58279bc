//go:build unix

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hubcli/hub"
	"hubcli/integrations/browser/engine"
	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testprogram"
)

// needsEngine skips a test on a machine without a browser engine.
func needsEngine(t *testing.T) {
	t.Helper()
	_, err := engine.Choose(engine.Discover(t.Context(), engine.Options{Getenv: os.Getenv, AsNobody: os.Geteuid() == 0}))
	if err != nil {
		t.Skip(testprogram.Missing(testprogram.Browser) + ": " + err.Error())
	}
}

// profiles lists the profiles of engines in the folder for temporary files.
func profiles(dir string) []string {
	left, _ := filepath.Glob(filepath.Join(dir, "hubcli-browser-*")) // the pattern is valid
	return left
}

// refusedWith returns the code of a refusal; empty: it is none.
func refusedWith(err error) hub.Code {
	var refused *hub.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// engines counts the processes that work on a profile in a folder.
func engines(dir string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "--user-data-dir="+dir) {
			n++
		}
	}
	return n
}

// TestBrowserEndsWithItsHub: an agent opens a page over HTTP; the engine runs in a sandbox
// and is gone with its profile when the hub is killed at once, and when it is stopped. What
// a keeper that was killed too has left is removed by the next hub.
func TestBrowserEndsWithItsHub(t *testing.T) {
	testfeature.Need(t, "browser")
	needsEngine(t)
	temp, err := os.MkdirTemp("", "b") //nolint:usetesting // an engine that runs as another user has to enter it, and makes a socket below it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	require.NoError(t, os.Chmod(temp, 0o755))
	t.Setenv("TMPDIR", temp)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>Shop</title><button onclick="alert(1); document.body.append('paid')">Pay</button>`))
	}))
	t.Cleanup(site.Close)
	h := startSpawningHub(t)
	room, err := makeRoom(h.Client)
	require.NoError(t, err)
	step := func(in hub.BrowseInput) (hub.BrowsePage, error) {
		in.AgentID = "dev-a"
		return h.Browse(t.Context(), room.RoomID, in)
	}
	open := hub.BrowseInput{Action: hub.BrowseOpen, URL: site.URL + "/"}
	if _, err := step(open); refusedWith(err) != hub.CodeAddressRefused {
		t.Fatalf("a page on loopback that is not allowed: %v", err)
	}
	_, err = h.AllowHost(t.Context(), room.RoomID, hub.AllowHostInput{Host: hub.AllowedHost(strings.TrimPrefix(site.URL, "http://"))})
	require.NoError(t, err)
	page, err := step(open)
	if err != nil || !strings.Contains(page.Snapshot, `button "Pay" [ref=`) || page.ExpiresAt == nil {
		t.Fatalf("%+v, %v", page, err)
	}
	if engines(temp) == 0 || len(profiles(temp)) != 1 {
		t.Fatalf("%d processes, profiles %v", engines(temp), profiles(temp))
	}
	shot, err := step(hub.BrowseInput{Action: hub.BrowseScreenshot})
	if err != nil || shot.Artifact == nil || shot.Artifact.ContentType != "image/png" || shot.Artifact.By != "dev-a" {
		t.Fatalf("the screenshot is %+v, %v", shot, err)
	}
	status, err := h.RoomStatus(t.Context(), hub.StatusQuery{RoomID: room.RoomID})
	if err != nil || len(status.Claims) != 1 || status.Claims[0].Key != string(hub.BrowseClaim(room.RoomID)) || status.Claims[0].AgentID != "dev-a" {
		t.Errorf("the room shows the claims %+v, %v", status.Claims, err)
	}
	if _, err := h.Browse(t.Context(), room.RoomID, hub.BrowseInput{AgentID: "dev-b", Action: hub.BrowseSnapshot}); refusedWith(err) != hub.CodeBrowserBusy {
		t.Errorf("another agent drives the page: %v", err)
	}

	require.NoError(t, h.cmd.Process.Signal(syscall.SIGKILL))
	_ = h.cmd.Wait()
	require.NoError(t, until(func() bool { return engines(temp) == 0 && len(profiles(temp)) == 0 }))

	h.start()
	_, err = step(open)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(profiles(temp)[0]+"left", 0o700)) // as after a keeper that was killed too
	require.NoError(t, h.cmd.Process.Signal(syscall.SIGTERM))
	_ = h.cmd.Wait()
	require.NoError(t, until(func() bool { return engines(temp) == 0 && len(profiles(temp)) == 1 }))
	h.start()
	if left := profiles(temp); len(left) != 0 {
		t.Errorf("a hub that starts leaves the profiles %v", left)
	}
}
