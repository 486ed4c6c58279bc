package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestFindOperation: every path leads back to its operation and its parameter, and
// a constant segment goes before a parameter.
func TestFindOperation(t *testing.T) {
	for i := range operations() {
		op := &operations()[i]
		for _, value := range []string{"x", "a@b:c+d", "ä b"} {
			plain, err := url.PathUnescape(op.PathFor(value))
			require.NoError(t, err)
			if !strings.Contains(op.Path, "{") {
				value = ""
			}
			if got, param := FindOperation(op.Method, plain); got != op || param != value {
				t.Errorf("%s %s finds %v with %q, want %s with %q", op.Method, plain, got, param, op.ID, value)
			}
		}
	}
	for _, c := range []struct{ method, path, id, param string }{
		{"GET", "/v1/spawn/policy", "getSpawnPolicy", ""},
		{"HEAD", "/v1/spawn/sp_1", "getSpawn", "sp_1"},
		{"POST", "/v1/spawn/policy/stop", "stopSpawn", "policy"},
		{"DELETE", "/v1/sessions/resume", "closeSession", "resume"},
		{"GET", "/v1/threads/a/b/", "getThread", "a/b/"},
		{"GET", "/v1/threads//a", "getThread", "/a"},
	} {
		if op, param := FindOperation(c.method, c.path); op == nil || op.ID != c.id || param != c.param {
			t.Errorf("%s %s finds %v with %q", c.method, c.path, op, param)
		}
	}
}

func TestMethodsOfPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages":              "GET, HEAD, POST",
		"/v1/messages/7":            "GET, HEAD",
		"/v1/messages/":             "",
		"/v1/messages/7/":           "",
		"/v1/sessions":              "POST",
		"/v1/sessions/resume":       "DELETE, POST",
		"/v1/sessions/x":            "DELETE",
		"/v1/sessions/x/rename":     "POST",
		"/v1/tasks/3":               "GET, HEAD, POST",
		"/v1/tasks/3/complete":      "POST",
		"/v1/threads":               "GET, HEAD",
		"/v1/threads/":              "",
		"/v1/threads/a/b/c":         "GET, HEAD",
		"/v1/tool-surface":          "GET, HEAD, PUT",
		"/v1/spawn":                 "GET, HEAD, POST",
		"/v1/spawn/policy":          "GET, HEAD, PUT",
		"/v1/spawn/sp_1":            "GET, HEAD",
		"/v1/spawn/sp_1/stop":       "POST",
		"/v1/shutdown/cancel":       "POST",
		"/v1/shutdown/cancel/again": "",
		"/":                         "",
		"":                          "",
		"*":                         "",
		"/V1/messages":              "",
		"//v1/messages":             "",
	} {
		if got := strings.Join(Methods(path), ", "); got != want {
			t.Errorf("%q allows %q, want %q", path, got, want)
		}
	}
}

// plainFind is what FindOperation has to find, said without a router: a path that is in the table,
// or else the first of the table whose constant parts it has. The table is sorted, and a constant
// sorts before a parameter.
type plainFind struct {
	constant map[[2]string]*Operation // by method and path
	varied   map[string][]*Operation  // by method
}

func newPlainFind() *plainFind {
	f := &plainFind{constant: map[[2]string]*Operation{}, varied: map[string][]*Operation{}}
	for i := range operations() {
		if o := &operations()[i]; strings.Contains(o.Path, "{") {
			f.varied[o.Method] = append(f.varied[o.Method], o)
		} else {
			f.constant[[2]string{o.Method, o.Path}] = o
		}
	}
	return f
}

func (f *plainFind) find(method, path string) (*Operation, string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if o := f.constant[[2]string{method, path}]; o != nil {
		return o, ""
	}
	for _, o := range f.varied[method] {
		before, rest, _ := strings.Cut(o.Path, "{")
		param, ok := strings.CutPrefix(path, before)
		if name, after, _ := strings.Cut(rest, "}"); ok && !strings.HasSuffix(name, "...") {
			param, ok = strings.CutSuffix(param, after)
			ok = ok && !strings.Contains(param, "/")
		}
		if ok && param != "" {
			return o, param
		}
	}
	return nil, ""
}

// TestRouterReadsHostilePaths: a path that is damaged in any way is read as its text says.
func TestRouterReadsHostilePaths(t *testing.T) {
	plain, found := newPlainFind(), 0
	bits := []string{"", "/", "//", "/.", "/..", ":", "*", ":x", "*x", "{", "%2F", "%", "\x00", "\xff", "é", " ", "?", "#", "v1", "/v1", "end", "/end", "..."}
	for i := range operations() {
		whole := strings.NewReplacer("{", "", "}", "", "...", "").Replace(operations()[i].Path)
		paths := []string{operations()[i].Path, strings.ToUpper(whole)}
		for at := range len(whole) + 1 {
			for _, bit := range bits {
				paths = append(paths, whole[:at]+bit+whole[at:], whole[:at]+bit)
			}
		}
		for _, path := range paths {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "get", ""} {
				op, param := FindOperation(method, path)
				if want, value := plain.find(method, path); op != want || param != value {
					t.Fatalf("%s %q finds %v with %q, want %v with %q", method, path, op, param, want, value)
				}
				if op != nil {
					found++
				}
			}
		}
	}
	if found < 10_000 {
		t.Errorf("only %d paths are found", found)
	}
}

// BenchmarkFindOperation: the router beside the look-up that plainFind is.
func BenchmarkFindOperation(b *testing.B) {
	plain := newPlainFind()
	for _, with := range []struct {
		name string
		find func(method, path string) (*Operation, string)
	}{{"router", FindOperation}, {"compare", plain.find}} {
		for _, at := range []struct{ name, method, path string }{
			{"constant", "POST", "/v1/messages"},
			{"early", "GET", "/v1/adapters/codex"},
			{"late", "GET", "/v1/tasks/17"},
			{"rest", "GET", "/v1/threads/a/b/c"},
			{"none", "GET", "/v1/tasks/17/x"},
		} {
			b.Run(at.name+"/"+with.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					with.find(at.method, at.path)
				}
			})
		}
	}
}
