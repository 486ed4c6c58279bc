package api

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// FuzzQuery: a query that is taken says what net/url reads in it, and reading a parameter
// never fails without an error.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "a=1", "a=1&a=2", "a=%zz", "a;b=1", "&&", "=", "=x", "a=%F0%9F%98%80+x", "limit=0", "timeout=1e999", "since_id=9007199254740993", "a=\x00", strings.Repeat("p=1&", hub.MaxQueryParameters)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := ParseQuery(raw)
		if err != nil {
			return
		}
		want, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatalf("%q is taken, and net/url says %v", raw, err)
		}
		for name, values := range want {
			if name == "" {
				continue
			}
			got := q.Text(name)
			switch {
			case len(values) == 1 && got != values[0]:
				t.Fatalf("%q: %q is %q, want %q", raw, name, got, values[0])
			case len(values) > 1 && q.Err() == nil:
				t.Fatalf("%q: %q is given %d times and taken", raw, name, len(values))
			}
			_ = q.Bool(name)
			if id := q.Cursor(name); id < 0 || id > hub.MaxMessageID {
				t.Fatalf("%q: %q is the cursor %d", raw, name, id)
			}
		}
	})
}

// FuzzFindOperation: a path that is found fits the path of its operation, segment by
// segment, and the list of methods knows it. A look-up without a router finds the same.
func FuzzFindOperation(f *testing.F) {
	for i := range operations() {
		f.Add(operations()[i].Method, strings.NewReplacer("{", "x", "}", "x").Replace(operations()[i].Path))
	}
	f.Add("GET", "/v1//messages")
	f.Add("GET", "/v1/threads//")
	f.Add("HEAD", "/v1/messages/../x")
	f.Add("", "\x00")
	plain := newPlainFind()
	f.Fuzz(func(t *testing.T, method, path string) {
		op, param := FindOperation(method, path)
		if want, value := plain.find(method, path); op != want || param != value {
			t.Fatalf("%s %q finds %v with %q, want %v with %q", method, path, op, param, want, value)
		}
		if op == nil {
			return
		}
		if !slices.Contains(Methods(path), method) {
			t.Fatalf("%s %q is %s, and the methods are %v", method, path, op.ID, Methods(path))
		}
		if before, _, ok := strings.Cut(op.Path, "/{thread_id...}"); ok {
			// The rest of the path is the name of a thread, slashes included.
			if path != before+"/"+param || param == "" {
				t.Fatalf("%q is found as %s with %q", path, op.Path, param)
			}
			return
		}
		want, got := strings.Split(op.Path, "/"), strings.Split(path, "/")
		if len(want) != len(got) {
			t.Fatalf("%q is found as %s", path, op.Path)
		}
		for i := range want {
			if strings.HasPrefix(want[i], "{") {
				if got[i] == "" || got[i] != param {
					t.Fatalf("%q is found as %s with %q", path, op.Path, param)
				}
			} else if want[i] != got[i] {
				t.Fatalf("%q is found as %s", path, op.Path)
			}
		}
	})
}

// FuzzPageURL: a URL that a browser may open is read the same by net/url and has a host,
// no credentials, and nothing that a browser would drop or turn.
func FuzzPageURL(f *testing.F) {
	for _, s := range []string{"https://example.com/", "http://[::1]:80/x", "https://a@b/", "javascript:alert(1)", "http:/\\/evil", "http://a\tb", "//x", "http://", "file:///etc/passwd", "HTTP://X", "http://a:b@c/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckPageURL(s) != nil {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.User != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(s, "\\\t\r\n \x00") {
			t.Fatalf("%q is opened", s)
		}
	})
}
