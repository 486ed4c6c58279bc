package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hubcli/httpapi/console"
	"hubcli/internal/require"
)

func files(t *testing.T) *console.Files {
	t.Helper()
	f, err := console.New()
	require.NoError(t, err)
	return f
}

func get(f *console.Files, method, path, encodings string) *http.Response {
	r := httptest.NewRequest(method, path, http.NoBody)
	if encodings != "" {
		r.Header.Set("Accept-Encoding", encodings)
	}
	w := httptest.NewRecorder()
	f.Serve(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

// TestConsoleIsSmall: all files together stay within the budget, as they are sent.
func TestConsoleIsSmall(t *testing.T) {
	if n := files(t).Bytes(); n > console.MaxBytes {
		t.Errorf("the console has %d bytes compressed, at most %d are meant", n, console.MaxBytes)
	}
}

// TestConsolePaths: every place of the page is the page, every file is itself, and what is
// not there is not.
func TestConsolePaths(t *testing.T) {
	f := files(t)
	index := body(t, get(f, "GET", "/", ""))
	if !strings.Contains(index, `<div id="app">`) {
		t.Fatalf("the page is %s", index)
	}
	for _, path := range []string{"/ui", "/ui/", "/ui/rooms/r_1", "/ui/assets"} {
		if !f.Has(path) || body(t, get(f, "GET", path, "")) != index {
			t.Errorf("%s is not the page", path)
		}
	}
	for _, path := range []string{"", "/v1/x", "/uix", "/ui/assets/", "/ui/assets/none.js", "/index.html", "/assets/x.js", "/favicon.ico"} {
		if f.Has(path) {
			t.Errorf("%q is a path of the console", path)
		}
	}
	for _, name := range f.Names() {
		want, err := os.ReadFile(filepath.Join("dist", strings.TrimPrefix(name, "/ui/")))
		require.NoError(t, err)
		if got := body(t, get(f, "GET", name, "")); got != string(want) {
			t.Errorf("%s is not the built file", name)
		}
	}
}

// TestConsoleHeaders: a browser is told to run nothing but the files of the console, to
// send no referrer and to keep only what has a name by its content.
func TestConsoleHeaders(t *testing.T) {
	f := files(t)
	for _, path := range append(f.Names(), "/", "/ui/rooms/r_1") {
		h := get(f, "GET", path, "").Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || strings.Contains(csp, "data:") {
			t.Errorf("%s: the policy is %s", path, csp)
		}
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		kept := "public, max-age=31536000, immutable"
		if !strings.HasPrefix(path, "/ui/assets/") {
			kept = "no-store"
		}
		if got := h.Get("Cache-Control"); got != kept {
			t.Errorf("%s: Cache-Control is %q, want %q", path, got, kept)
		}
	}
}

var hashed = regexp.MustCompile(`-[A-Za-z0-9_-]{8}\.(js|css|svg)$`)

// TestConsoleFilesAreNamedByContent, because browsers keep them for a year.
func TestConsoleFilesAreNamedByContent(t *testing.T) {
	for _, name := range files(t).Names() {
		if !hashed.MatchString(name) {
			t.Errorf("%s has no hash in its name", name)
		}
	}
}

// TestConsolePageHasNothingInline: the policy forbids it, so it would not work.
func TestConsolePageHasNothingInline(t *testing.T) {
	page := body(t, get(files(t), "GET", "/", ""))
	for _, pattern := range []string{`<script[^>]*>[^<]`, `<style`, `\sstyle=`, `\son[a-z]+=`, `https?://`, `data:`, `javascript:`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
}

// TestConsoleCompresses where the browser takes it, and only there.
func TestConsoleCompresses(t *testing.T) {
	f := files(t)
	for encodings, want := range map[string]bool{
		"": false, "br": false, "gzip": true, "br, gzip": true, "GZIP ; q=0.5": true, "gzip;q=0": false, "gzip;q=x": false, "xgzip": false,
	} {
		r := get(f, "GET", "/", encodings)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q is answered compressed: %v", encodings, got)
		}
	}
	plain := body(t, get(f, "GET", "/", ""))
	z, err := gzip.NewReader(strings.NewReader(body(t, get(f, "GET", "/", "gzip"))))
	require.NoError(t, err)
	var inflated bytes.Buffer
	_, err = io.Copy(&inflated, z)
	require.NoError(t, err)
	if inflated.String() != plain {
		t.Error("the compressed page is another")
	}
	if head := get(f, "HEAD", "/", ""); body(t, head) != "" || head.Header.Get("Content-Length") == "0" {
		t.Error("HEAD is not GET without a body")
	}
}
