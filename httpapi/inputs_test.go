package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
)

// Numbers of hostile inputs: of the test, and of each of those that send them at once.
const (
	hostileInputs  = 10_000
	hostileSenders = 4
)

// beyondHTTP are answers of net/http to what is no HTTP/1.1 request for it. They are not
// of the hub, which never sees such a request.
var beyondHTTP = map[int]bool{
	http.StatusBadRequest: true, http.StatusExpectationFailed: true, http.StatusRequestHeaderFieldsTooLarge: true,
	http.StatusNotImplemented: true, http.StatusHTTPVersionNotSupported: true, http.StatusRequestTimeout: true,
}

// TestHostileInputs: whatever comes in over a connection, a hub answers an envelope or
// closes the connection. No input makes it fail or panic.
func TestHostileInputs(t *testing.T) {
	log := &testlog.Buffer{}
	h := testhub.Start(t, testhub.Log(slog.New(slog.NewTextHandler(log, nil))))
	addr := strings.TrimPrefix(h.URL, "http://")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for sender := range hostileSenders {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(sender)))
			for range hostileInputs / hostileSenders {
				raw := hostileInput(random, addr)
				statuses, err := throw(addr, raw)
				if err != nil {
					t.Errorf("seed %d: %q: %v", seed, raw, err)
					return
				}
				mu.Lock()
				for _, s := range statuses {
					answers[s]++
				}
				if len(statuses) == 0 {
					answers[0]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("answers by status, 0 for none: %v", answers)
	if answers[200]+answers[201] < hostileInputs/100 || answers[400] < hostileInputs/10 {
		t.Errorf("the inputs are too much alike: %v", answers)
	}
	if got := log.String(); strings.Contains(got, "panic") {
		t.Errorf("the hub panicked:\n%s", got)
	}
	resp, err := http.Get(h.URL + "/healthz")
	require.NoError(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the hub answers %d afterward", resp.StatusCode)
	}
}

// throw sends bytes, closes its half of the connection and reads all answers.
func throw(addr string, raw []byte) (statuses []int, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	// The hub may answer and close before it has read everything.
	_, _ = conn.Write(raw)
	_ = conn.(*net.TCPConn).CloseWrite()
	r := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: "GET"})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return statuses, fmt.Errorf("no answer and no end of the connection: %w", err)
		}
		if err != nil {
			return statuses, nil // closed
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return statuses, nil
		}
		if resp.StatusCode == http.StatusContinue {
			continue // what was asked for with Expect
		}
		statuses = append(statuses, resp.StatusCode)
		if err := decent(resp, body); err != nil {
			return statuses, err
		}
	}
}

// decent checks one answer.
func decent(resp *http.Response, body []byte) error {
	if resp.Header.Get("X-Hub-Instance") == "" {
		if strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			return nil // a file of the console: a changed letter of the path leads to it
		}
		if !beyondHTTP[resp.StatusCode] || !resp.Close {
			return fmt.Errorf("status %d, not of the hub: %v %q", resp.StatusCode, resp.Header, body)
		}
		return nil
	}
	switch {
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusInsufficientStorage:
		return fmt.Errorf("status %d: %q", resp.StatusCode, body)
	case resp.Header.Get("Content-Type") != api.ContentType || len(body) == 0:
		return nil // a page, metrics or an answer without a body
	case !json.Valid(body):
		return fmt.Errorf("status %d without an envelope: %q", resp.StatusCode, body)
	}
	return nil
}

// hostileInput makes a request of what agents send, and spoils it in some places.
func hostileInput(r *rand.Rand, addr string) []byte {
	ops := api.Operations()
	op := ops[r.IntN(len(ops))]
	path := op.Path
	for strings.Contains(path, "{") {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:from] + pick(r, hostilePieces) + path[to+1:]
	}
	method := op.Method
	if strings.Contains(path, "stream") { // it never ends
		method = "POST"
	}
	query := "timeout=0"
	for range r.IntN(4) {
		query += "&" + pick(r, hostileNames) + "=" + pick(r, hostilePieces)
	}
	body := hostileBody(r)
	headers := []string{"Host: " + addr}
	switch r.IntN(5) {
	case 0:
		headers = append(headers, "Transfer-Encoding: chunked")
		body = hostileChunks(r, body)
	case 1:
		headers = append(headers, fmt.Sprintf("Content-Length: %d", r.IntN(2*len(body)+2)))
	default:
		headers = append(headers, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	for range r.IntN(3) {
		headers = append(headers, pick(r, hostileHeaders))
	}
	r.Shuffle(len(headers), func(i, j int) { headers[i], headers[j] = headers[j], headers[i] })
	raw := []byte(method + " " + path + "?" + query + " HTTP/1.1\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n" + body)
	for range r.IntN(4) - 1 {
		raw = spoil(r, raw)
	}
	return raw
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

var hostileNames = []string{"agent_id", "since_id", "limit", "channel", "room_id", "cursor", "q", "as", "until", "max_chars", "path", "project", "%zz", "a b", ""}

var hostilePieces = []string{
	"a", "0", "-1", "9223372036854775808", "1e999", "..", "%2e%2e%2f", "%00", "%ff", "%zz", "*", "operator", "system", "a%2Fb", "general",
	"%F0%9F%98%80", "%E2%80%AE", strings.Repeat("x", 300), strings.Repeat("%41", 90), "'%20OR%201=1--", "{{7*7}}", "true", "NaN", "",
}

var hostileHeaders = []string{
	"Content-Type: application/json", "Content-Type: text/plain", "Content-Type: application/json; charset=utf-16", "Content-Encoding: gzip",
	"Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: identity", "Transfer-Encoding: chunked, chunked",
	"Expect: 100-continue", "Expect: nothing", "Connection: Upgrade", "Upgrade: websocket", "Connection: close", "X-Hub-Session: x", "X-Hub-Operator: x",
	"X-Hub-Instance: x", "X-Hub-Relay: a", "X-Hub-Max-Wait: NaN", "Idempotency-Key: k", "Idempotency-Key: \x01", "Last-Event-ID: x", "Host: evil.example",
	"Origin: null", "Sec-Fetch-Site: cross-site", "Accept-Encoding: gzip", "Range: bytes=0-", "Cookie: a=b", " folded: x", "no colon", ": no name", "X: " + strings.Repeat("h", 9_000),
}

// hostileBody is an object of what bodies hold, or something that is none.
func hostileBody(r *rand.Rand) string {
	if r.IntN(6) == 0 {
		return pick(r, []string{"", "{", "[]", "null", "\xef\xbb\xbf{}", "{}{}", "{\"a\":1,\"a\":2}", strings.Repeat("[", 5_000), strings.Repeat(`{"a":`, 200), "\x00", "\"\\ud800\"", "1e400", "{\"body\":\"\xff\"}"})
	}
	names := []string{
		"agent_id", "from_agent", "owner_agent_id", "to_agent", "body", "channel", "kind", "thread_id", "reply_to", "metadata", "attachments", "claim_key",
		"file_path", "ttl_sec", "fence", "wait_sec", "task_ids", "name", "title", "project", "room_id", "text", "key", "code", "confirm", "note", "capabilities", "replace", "blocked_by", "status",
	}
	values := []string{
		`"a"`, `"general"`, `"task"`, `""`, `0`, `-1`, `1.5`, `1e400`, `9007199254740993`, `true`, `null`, `[]`, `[1,2]`, `["a",1]`, `{}`, `{"a":{"b":[]}}`,
		`"\u0000"`, `"\ud800"`, `"\u202e\u001b[2J"`, `"` + strings.Repeat("y", 2_000) + `"`, `[{"type":"text","content":"x"}]`, `[{"type":"nothing"}]`, `"../../etc/passwd"`, `nul`,
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := range 1 + r.IntN(6) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pick(r, names), pick(r, values))
	}
	b.WriteByte('}')
	return b.String()
}

// hostileChunks sends a body in chunks whose sizes may be wrong.
func hostileChunks(r *rand.Rand, body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := 1 + r.IntN(len(body))
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "%x;ext=\x01\r\n", n)
		case 1:
			fmt.Fprintf(&b, "%x\r\n", n+1)
		case 2:
			b.WriteString("ffffffffffffffff\r\n")
		case 3:
			b.WriteString("-1\r\n")
		default:
			fmt.Fprintf(&b, "%x\r\n", n)
		}
		b.WriteString(body[:n] + "\r\n")
		body = body[n:]
	}
	return b.String() + pick(r, []string{"0\r\n\r\n", "0\r\nTrailer: x\r\n\r\n", "0\r\n", ""})
}

// spoil changes some bytes.
func spoil(r *rand.Rand, raw []byte) []byte {
	at := r.IntN(len(raw) + 1)
	switch r.IntN(6) {
	case 0:
		return raw[:at] // cut off
	case 1:
		return append(bytes.Clone(raw), raw[:at]...) // another one behind it
	case 2:
		return slices.Insert(bytes.Clone(raw), at, byte(r.IntN(256)))
	case 3:
		return slices.Insert(bytes.Clone(raw), at, []byte("\r\n")...)
	case 4:
		return bytes.Replace(raw, []byte("\r\n"), []byte("\n"), 1+r.IntN(3))
	}
	out := bytes.Clone(raw)
	if at < len(out) {
		out[at] = byte(r.IntN(256))
	}
	return out
}
