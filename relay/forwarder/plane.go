package forwarder

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// maxPath is the longest path with its query, in bytes; the hub takes headers of
// 16 KiB in all.
const maxPath = 8 << 10

// operationOf returns the operation that a call asks for, or says why the call
// is not forwarded. The table of operations says which operations a relay
// carries; a call that is not in the table is refused. The path has the form
// that checkPath wants. It is compared as the hub reads it, without escapes:
// projects/a%2Fexport is another call than projects/a.
func operationOf(method, path string) (*api.Operation, *hub.Error) {
	bare, _, _ := strings.Cut(path, "?")
	if plain, err := url.PathUnescape(bare); err == nil {
		bare = plain
	}
	why := "this relay does not know the call"
	op, _ := api.FindOperation(method, bare)
	if op != nil && op.Method == method { // HEAD has no answer that fits into a file
		if op.NotRelayed == "" {
			return op, nil
		}
		why = op.NotRelayed
	}
	return nil, &hub.Error{
		Code: hub.CodeNotRelayed, Status: http.StatusForbidden,
		Message: "a relay does not carry " + method + " " + bare + ": " + why,
		Fix:     "make this call over HTTP on the machine of the hub",
	}
}

// checkPath refuses a path that two readers could understand differently.
func checkPath(path string) *hub.Error {
	refuse := func(why string) *hub.Error {
		return hub.Invalid("path", "path "+why).WithFix("give the path of a call from /v1/ on, for example /v1/hub-info")
	}
	bare, query, _ := strings.Cut(path, "?")
	switch {
	case !strings.HasPrefix(path, "/v1/"):
		return refuse("does not begin with /v1/")
	case len(path) > maxPath:
		return refuse("has more than " + strconv.Itoa(maxPath) + " bytes")
	case strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }):
		return refuse("holds a character that must be percent-encoded")
	case strings.ContainsAny(path, `#\`):
		return refuse("holds a character that no path has")
	}
	plain, err := url.PathUnescape(bare)
	if _, queryErr := url.QueryUnescape(query); err != nil || queryErr != nil {
		return refuse("has a percent sign that is not followed by two hexadecimal digits")
	}
	if strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return refuse("holds a control character")
	}
	if op, _ := api.FindOperation(http.MethodGet, bare); op != nil && strings.HasSuffix(op.Path, "...}") {
		return nil // the rest of the path is one name, which may look like a path: a URL does
	}
	for _, form := range []string{bare, plain} {
		segments := strings.Split(form, "/")[1:]
		if slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }) {
			return refuse("holds an empty segment, . or ..")
		}
	}
	return nil
}

// capWait returns how long the call waits in the hub, at most most, and the
// path to send. Only the path of a read is changed. The hub compares the bodies
// that come under one idempotency key, so a header lowers the wait of a write
// (api.HeaderMaxWait).
func capWait(op *api.Operation, path string, body []byte, most time.Duration) (string, time.Duration) {
	switch op.Wait.By {
	case api.WaitTimeout:
		return capTimeout(path, op.Wait.Default, most)
	case api.WaitSec:
		return path, min(waitSec(body), most)
	case api.WaitFixed, api.WaitNever:
	}
	return path, 0
}

// capTimeout changes no value that the hub refuses.
func capTimeout(path string, absent, most time.Duration) (string, time.Duration) {
	bare, query, _ := strings.Cut(path, "?")
	pairs := strings.Split(query, "&")
	wait, found := absent, false
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err != nil || name != "timeout" {
			continue
		}
		found = true
		plain, err := url.QueryUnescape(value)
		if err != nil {
			continue
		}
		sec, err := strconv.ParseFloat(plain, 64)
		if math.IsNaN(sec) || err != nil && !math.IsInf(sec, 1) {
			continue
		}
		wait = seconds(sec)
		if wait > most {
			wait, pairs[i] = most, "timeout="+decimal(most)
		}
	}
	switch {
	case !found && absent > most:
		if query == "" {
			pairs = nil
		}
		wait, pairs = most, append(pairs, "timeout="+decimal(most))
	case !found:
		return path, wait
	}
	return bare + "?" + strings.Join(pairs, "&"), wait
}

// waitSec returns the member wait_sec of a body, or 0 if the hub would not take
// it.
func waitSec(body []byte) time.Duration {
	var in struct {
		WaitSec float64 `json:"wait_sec"`
	}
	if err := api.Decode(body, &in); err != nil {
		return 0
	}
	return seconds(in.WaitSec)
}

// seconds converts without overflow.
func seconds(sec float64) time.Duration {
	const longest = 24 * time.Hour // far more than any wait
	return time.Duration(min(max(sec, 0), longest.Seconds()) * float64(time.Second))
}

func decimal(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
