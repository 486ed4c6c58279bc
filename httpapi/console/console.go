// Package console serves the files of the web console, which are built from the folder
// web and embedded. They are the same for everybody and show nothing of a store: what the
// page shows it reads through /v1, with a pass.
//
// Files never change once New has returned, so any number of goroutines may serve them. The
// package knows no hub, no token and no session, and reads no file at run time.
package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed all:dist
var built embed.FS

// Where the files are. Everything else below Prefix is a place within the page, which the
// page itself reads from its address.
const (
	Prefix = "/ui/"
	assets = Prefix + "assets/"
)

// MaxBytes is how many bytes all files may have as they are sent, which is compressed.
const MaxBytes = 90_000

// types are the content types of the files that a build makes.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".webmanifest": "application/manifest+json",
}

// policy says what the page may do. Scripts and styles come from files alone; nothing that
// a script makes of a text becomes markup; no other site is asked for anything, and none
// frames the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers come with every file.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy": "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), " +
		"microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=(), xr-spatial-tracking=()",
	"Referrer-Policy":        "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options":        "DENY",
	"Vary":                   "Accept-Encoding",
}

// file is one file, as it is sent.
type file struct {
	kind         string
	cache        string
	plain, small []byte // small is compressed
}

// Files are the files of the console.
type Files struct {
	index *file
	named map[string]*file // below assets, by path
}

// New reads the embedded files and compresses them.
func New() (*Files, error) {
	f := &Files{named: map[string]*file{}}
	err := fs.WalkDir(built, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		read, err := newFile(name)
		if err != nil {
			return err
		}
		if name == "dist/index.html" {
			f.index = read
			return nil
		}
		f.named[Prefix+strings.TrimPrefix(name, "dist/")] = read
		return nil
	})
	if err == nil && f.index == nil {
		err = fmt.Errorf("console: the built files have no index.html: build them in the folder web")
	}
	return f, err
}

func newFile(name string) (*file, error) {
	kind, known := types[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("console: the type of %s is not known", name)
	}
	plain, err := built.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := &file{kind: kind, plain: plain, cache: "public, max-age=31536000, immutable"} // its name has a hash of it
	if path.Ext(name) == ".html" {
		f.cache = "no-store"
	}
	var small bytes.Buffer
	w, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	f.small = small.Bytes()
	return f, err
}

// Bytes returns how many bytes all files have as they are sent.
func (f *Files) Bytes() int {
	all := len(f.index.small)
	for _, one := range f.named {
		all += len(one.small)
	}
	return all
}

// Names lists the paths of the files beside the page.
func (f *Files) Names() []string {
	names := make([]string, 0, len(f.named))
	for name := range f.named {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Has reports whether a path is the console's: the page at the root and below Prefix, and
// the files that it loads. A file that is not there is not.
func (f *Files) Has(at string) bool { return f.find(at) != nil }

func (f *Files) find(at string) *file {
	if one := f.named[at]; one != nil {
		return one
	}
	if at == "/" || at+"/" == Prefix || strings.HasPrefix(at, Prefix) && !strings.HasPrefix(at, assets) {
		return f.index
	}
	return nil
}

// Serve answers a GET or HEAD of a path that the console has.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request) {
	one, header := f.find(r.URL.Path), w.Header()
	for name, value := range headers {
		header.Set(name, value)
	}
	header.Set("Content-Type", one.kind)
	header.Set("Cache-Control", one.cache)
	body := one.plain
	if takesGzip(r.Header) {
		header.Set("Content-Encoding", "gzip")
		body = one.small
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader may be gone
	}
}

// takesGzip reads Accept-Encoding: gzip must be named, and not with a weight of zero.
func takesGzip(h http.Header) bool {
	for part := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, found := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			value, err := strconv.ParseFloat(q, 64)
			return !found || err == nil && value > 0
		}
	}
	return false
}
