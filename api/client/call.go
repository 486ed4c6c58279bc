package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// target is an operation with the value of its path's parameter.
type target struct {
	*api.Operation
	path string // escaped
}

// to names an operation whose path has no parameter.
func to(operation string) target { return at(operation, "") }

// at names an operation and the value of its path's parameter.
func at[P ~string | ~int64](operation string, param P) target {
	op := api.OperationByID(operation)
	return target{op, op.PathFor(fmt.Sprint(param))}
}

// call describes one request, which may be sent several times.
type call struct {
	target
	query url.Values
	body  any           // nil: none
	wait  time.Duration // how long the hub may delay its answer
	media string        // type of an answer that is no envelope; empty: there is none
}

// answer is a successful envelope with facts from its status and headers.
type answer struct {
	api.Envelope
	status   int
	replayed bool
	data     []byte // the answer, if it is no envelope
}

// next returns the id at which the following poll begins.
func (a answer) next() hub.MessageID {
	if a.NextSinceID == nil {
		return 0
	}
	return *a.NextSinceID
}

// sending is a prepared call: everything that stays the same in every attempt.
type sending struct {
	call
	url   string
	body  []byte
	key   string // idempotency key; empty for reads
	token string // operator token; empty unless the call is made as the operator
}

// do sends k until it is answered or a retry cannot help.
func (c *Client) do(ctx context.Context, k call) (answer, error) {
	s, err := c.prepare(ctx, k)
	if err != nil {
		return answer{}, err
	}
	attempts := maxReadAttempts
	if k.Changes() {
		attempts = maxSendAttempts
	}
	lost := false // an attempt may have taken effect although no answer came
	for n := 1; ; n++ {
		got, err := c.attempt(ctx, s)
		if err == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		var f *failure
		if !errors.As(err, &f) {
			return answer{}, err
		}
		lost = lost || f.lost
		if !f.again || n == attempts || !pause.For(ctx, f.after(n)) {
			if lost && k.Changes() {
				f.err.With("outcome", "unknown").With("idempotency_key", s.key)
			}
			return answer{}, f.err
		}
	}
}

// prepare encodes the body, picks the idempotency key and finds the token.
func (c *Client) prepare(ctx context.Context, k call) (sending, error) {
	if c.bad != nil {
		return sending{}, c.bad
	}
	s := sending{call: k, url: c.base.String() + k.path}
	if k.Wait.By == api.WaitFixed {
		s.wait = k.Wait.Default
	}
	if len(k.query) > 0 {
		s.url += "?" + k.query.Encode()
	}
	if k.Changes() {
		s.key = newKey()
		if own := hub.CallerOf(ctx).Idempotency; own != nil && own.Key != "" {
			s.key = own.Key
		}
	}
	if k.body != nil {
		b, err := json.Marshal(k.body)
		if err != nil {
			return sending{}, hub.Errorf(hub.CodeInvalid, "the input is no JSON: %v", err)
		}
		s.body = b
	}
	if k.Plane == api.PlaneOperator || c.cfg.Operator && k.ID != infoCall {
		if c.cfg.AgentsOnly {
			return sending{}, hub.NewError(hub.CodeOperatorRequired, "this program makes no calls of the operator")
		}
		token, err := c.operatorToken(ctx)
		if err != nil {
			return sending{}, err
		}
		s.token = token
		s.url = "http://" + c.base.Host + strings.TrimPrefix(s.url, c.base.String()) // no proxy is on the way
	}
	return s, nil
}

// newKey is 128 random bits.
func newKey() string {
	var b [16]byte
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// attempt sends once. Errors are *failure.
func (c *Client) attempt(ctx context.Context, s sending) (answer, error) {
	limit := c.cfg.Timeout
	if s.wait > 0 {
		limit = s.wait + WaitMargin
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var connected, spoke atomic.Bool // the trace is called by the transport's goroutines
	trace := &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { connected.Store(true) },
		GotFirstResponseByte: func() { spoke.Store(true) },
	}
	req, err := c.request(httptrace.WithClientTrace(ctx, trace), s)
	if err != nil {
		return answer{}, &failure{err: hub.Errorf(hub.CodeInvalid, "the call cannot be made: %v", err)}
	}
	res, err := c.carrier(s).Do(req)
	if err != nil && s.token != "" && !connected.Load() && ctx.Err() == nil {
		return answer{}, c.noPlane(ctx, err)
	}
	if err != nil {
		return answer{}, c.unanswered(ctx, err, limit, connected.Load(), spoke.Load())
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	if err != nil {
		return answer{}, c.unanswered(ctx, err, limit, connected.Load(), spoke.Load())
	}
	if len(body) > maxAnswerBytes {
		return answer{}, &failure{err: c.notAHub("its answer has more than " + strconv.Itoa(maxAnswerBytes) + " bytes")}
	}
	return c.read(s, res, body)
}

// carrier is what a request goes through: those with the secret go over the socket only.
func (c *Client) carrier(s sending) *http.Client {
	if s.token != "" {
		return c.operator
	}
	return c.http
}

func (c *Client) request(ctx context.Context, s sending) (*http.Request, error) {
	var body io.Reader
	if s.body != nil {
		body = bytes.NewReader(s.body)
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, s.url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", api.ContentType)
	if s.body != nil {
		req.Header.Set("Content-Type", api.ContentType)
	}
	if s.key != "" {
		req.Header.Set(api.HeaderIdempotency, s.key)
	}
	if c.cfg.Session != "" {
		req.Header.Set(api.HeaderSession, string(c.cfg.Session))
	}
	if s.token != "" {
		req.Header.Set(api.HeaderOperator, s.token)
	}
	return req, nil
}

// read turns an HTTP answer into an answer or a *failure.
func (c *Client) read(s sending, res *http.Response, body []byte) (answer, error) {
	t, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && t == s.media && res.StatusCode == http.StatusOK {
		return answer{status: res.StatusCode, data: body}, nil
	}
	if err != nil || t != api.ContentType {
		return answer{}, &failure{err: c.notAHub(fmt.Sprintf("it answered %d without JSON", res.StatusCode))}
	}
	var e api.Envelope
	if err := json.Unmarshal(body, &e); err != nil || !e.OK && e.Error == "" {
		return answer{}, &failure{err: c.notAHub(fmt.Sprintf("it answered %d without the hub's envelope", res.StatusCode))}
	}
	herr := e.Err()
	if herr == nil {
		replayed := res.Header.Get(api.HeaderReplayed) == "true"
		return answer{Envelope: e, status: res.StatusCode, replayed: replayed}, nil
	}
	if herr.Status == 0 {
		herr.Status = res.StatusCode
	}
	if sec, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && sec > 0 {
		herr.RetryAfter = sec
	}
	return answer{}, &failure{err: herr, again: worthRepeating(herr)}
}

// worthRepeating reports whether the hub says that the same call may succeed
// soon. A stopping hub does not come back by itself.
func worthRepeating(e *hub.Error) bool {
	switch hub.InfoOf(e.Code).Repeat {
	case hub.RepeatAlways:
		return true
	case hub.RepeatNever:
		return false
	case hub.RepeatAsTold:
	}
	wait := time.Duration(e.RetryAfter) * time.Second
	return e.Status == http.StatusServiceUnavailable && wait > 0 && wait <= maxRetryWait
}

// get decodes the result of a read.
func get[T any](ctx context.Context, c *Client, to target, query url.Values) (T, error) {
	row, _, err := result[T](ctx, c, call{target: to, query: query})
	return row, err
}

// page reads rows of messages, for which the hub may wait.
func page(ctx context.Context, c *Client, to target, query url.Values, wait time.Duration) (hub.Page, error) {
	rows, got, err := result[[]hub.EncodedMessage](ctx, c, call{target: to, query: query, wait: wait})
	return hub.Page{Rows: rows, NextSinceID: got.next(), Circle: got.Circle}, err
}

// list reads one page of a list: its rows and the cursor of the next page, if
// there is one.
func list[T any](ctx context.Context, c *Client, to target, query url.Values, at hub.Cursor, limit int) ([]T, hub.Cursor, error) {
	maps.Copy(query, params("cursor", at, "limit", limit))
	rows, got, err := result[[]T](ctx, c, call{target: to, query: query})
	return rows, got.NextCursor, err
}

// result sends k and decodes the answer.
func result[T any](ctx context.Context, c *Client, k call) (T, answer, error) {
	var row T
	got, err := c.do(ctx, k)
	if err != nil {
		return row, answer{}, err
	}
	if err := json.Unmarshal(got.Result, &row); err != nil {
		return row, answer{}, c.notAHub("its answer to " + k.Method + " " + k.Path + " has another shape")
	}
	return row, got, nil
}

// change sends a call that changes something and decodes its result.
func change[T any](ctx context.Context, c *Client, to target, body any) (T, error) {
	row, _, err := result[T](ctx, c, call{target: to, body: body})
	return row, err
}

// write is change for a call that may create its row or may be replayed.
func write[T any](ctx context.Context, c *Client, to target, body any) (hub.Outcome[T], error) {
	row, got, err := result[T](ctx, c, call{target: to, body: body})
	if err != nil {
		return hub.Outcome[T]{}, err
	}
	return outcome(row, got), nil
}

// outcome is the result of a write that was answered with row.
func outcome[T any](row T, got answer) hub.Outcome[T] {
	return hub.Outcome[T]{Row: row, Created: got.status == http.StatusCreated, Replayed: got.replayed}
}
