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
	"hubcli/relay"
)

// maxPath is the longest path with its query, in bytes; the hub takes headers of
// 16 KiB in all.
const maxPath = 8 << 10

// threads is the path before a thread id, which the hub takes as it is to the end.
const threads = "/v1/threads/"

// park says how a call asks the hub to wait.
type park uint8

const (
	parkNever   park = iota
	parkTimeout      // the parameter timeout of the query, in seconds
	parkWaitSec      // the member wait_sec of the body, in seconds
)

// operation is one call of the agent plane. A segment * of its path stands for
// any one segment that is not empty, ** at the end for any text.
type operation struct {
	method string
	path   string
	park   park
	// absent is how long the hub waits when the query does not say.
	absent time.Duration
}

// plane lists what is forwarded: the agent plane of the contract and hub-info.
// Everything else is refused, also what a later hub adds: the operator's calls,
// because a spool is no place for the operator's secret; /v1/stream, because an
// answer is one file; what serves to watch over the hub; and the binding of
// folders, whose paths are those of the hub's machine, which who works in a
// sandbox does not see; and spawns, whose processes run outside of every sandbox.
var plane = []operation{
	{method: "GET", path: "/v1/hub-info"},
	{method: "POST", path: "/v1/sessions"},
	{method: "POST", path: "/v1/sessions/resume"},
	{method: "POST", path: "/v1/sessions/*/rename"},
	{method: "DELETE", path: "/v1/sessions/*"},
	{method: "GET", path: "/v1/agents"},
	{method: "GET", path: "/v1/channels"},
	{method: "POST", path: "/v1/channels"},
	{method: "POST", path: "/v1/messages"},
	{method: "GET", path: "/v1/messages", park: parkTimeout},
	{method: "GET", path: "/v1/messages/*"},
	{method: "GET", path: "/v1/events", park: parkTimeout, absent: 30 * time.Second},
	{method: "GET", path: "/v1/bootstrap"},
	{method: "GET", path: "/v1/inbox/*"},
	{method: "GET", path: "/v1/threads"},
	{method: "GET", path: threads + "**"},
	{method: "GET", path: "/v1/claims"},
	{method: "POST", path: "/v1/claims", park: parkWaitSec},
	{method: "POST", path: "/v1/claims/refresh"},
	{method: "POST", path: "/v1/claims/release"},
	{method: "GET", path: "/v1/locks"},
	{method: "POST", path: "/v1/locks", park: parkWaitSec},
	{method: "POST", path: "/v1/locks/refresh"},
	{method: "POST", path: "/v1/locks/release"},
	{method: "GET", path: "/v1/tasks"},
	{method: "GET", path: "/v1/tasks/*"},
	{method: "POST", path: "/v1/tasks/*"},
	{method: "POST", path: "/v1/tasks/*/complete"},
	{method: "POST", path: "/v1/tasks/*/handoff"},
	{method: "POST", path: "/v1/tasks/*/accept"},
	{method: "POST", path: "/v1/tasks/*/decline"},
	{method: "POST", path: "/v1/runs"},
	{method: "POST", path: "/v1/runs/*/tasks"},
	{method: "GET", path: "/v1/runs"},
	{method: "GET", path: "/v1/runs/*"},
	{method: "GET", path: "/v1/attention"},
	{method: "POST", path: "/v1/attention"},
	{method: "GET", path: "/v1/watch", park: parkTimeout, absent: 20 * time.Minute},
	{method: "POST", path: "/v1/projects"},
	{method: "GET", path: "/v1/projects"},
	{method: "GET", path: "/v1/projects/*"},
	{method: "POST", path: "/v1/rooms"},
	{method: "GET", path: "/v1/rooms"},
	{method: "GET", path: "/v1/rooms/*"},
	{method: "POST", path: "/v1/rooms/*/seats"},
	{method: "GET", path: "/v1/rooms/*/status"},
	{method: "GET", path: "/v1/resolve"},
	{method: "POST", path: "/v1/decisions"},
	{method: "GET", path: "/v1/decisions"},
	{method: "POST", path: "/v1/artifacts"},
	{method: "GET", path: "/v1/artifacts"},
	{method: "GET", path: "/v1/artifacts/*"},
	{method: "GET", path: "/v1/artifacts/*/content"},
	{method: "POST", path: "/v1/invites"},
	{method: "GET", path: "/v1/invites"},
	{method: "GET", path: "/v1/invites/*"},
	{method: "POST", path: "/v1/invites/*/revoke"},
	{method: "POST", path: "/v1/invites/*/accept"},
	{method: "POST", path: "/v1/memory"},
	{method: "GET", path: "/v1/memory"},
	{method: "GET", path: "/v1/search"},
}

// matches compares a path, without its query, with the operation's.
func (o *operation) matches(method, path string) bool {
	if o.method != method {
		return false
	}
	if prefix, ok := strings.CutSuffix(o.path, "**"); ok {
		return len(path) > len(prefix) && strings.HasPrefix(path, prefix)
	}
	return slices.EqualFunc(strings.Split(o.path, "/"), strings.Split(path, "/"), func(want, got string) bool {
		return want == got || want == "*" && got != ""
	})
}

// operationOf finds what a call asks for, or says why it is not forwarded. The
// path has the form that checkPath wants. It is compared as the hub reads it,
// without escapes: projects/a%2Fexport is another call than projects/a.
func operationOf(method, path string) (*operation, *hub.Error) {
	bare, _, _ := strings.Cut(path, "?")
	if plain, err := url.PathUnescape(bare); err == nil {
		bare = plain
	}
	for i := range plane {
		if plane[i].matches(method, bare) {
			return &plane[i], nil
		}
	}
	return nil, &hub.Error{
		Code: relay.CodeNotRelayed, Status: http.StatusForbidden,
		Message: "a relay carries the calls of agents only, and " + method + " " + bare + " is none",
		Fix:     "make this call over HTTP on the machine of the hub",
	}
}

// checkPath refuses what could be read as another path than it looks like.
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
	if strings.HasPrefix(bare, threads) {
		return nil // what follows is one thread id, which may look like a path: a URL does
	}
	for _, form := range []string{bare, plain} {
		segments := strings.Split(form, "/")[1:]
		if slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }) {
			return refuse("holds an empty segment, . or ..")
		}
	}
	return nil
}

// capWait tells how long the hub may take to answer because the call waits there,
// at most so long, and returns the path to send. Only a read's path is changed:
// the hub compares the bodies that come under one idempotency key, so that the
// wait of a write is lowered by a header (api.HeaderMaxWait).
func (o *operation) capWait(path string, body []byte, most time.Duration) (string, time.Duration) {
	switch o.park {
	case parkTimeout:
		return capTimeout(path, o.absent, most)
	case parkWaitSec:
		return path, min(waitSec(body), most)
	default:
		return path, 0
	}
}

// capTimeout leaves alone what the hub refuses.
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

// waitSec is the member wait_sec of a body, 0 if it has none that the hub takes.
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
