package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hubcli/api"
	"hubcli/hub"
)

// Checker checks traffic and remembers what it has seen and what was wrong.
type Checker struct {
	spec *Spec

	mu         sync.Mutex
	operations map[string]int   // successes by operation id
	codes      map[hub.Code]int // answers by error code
	wrong      []string
}

// NewChecker returns a checker that has seen nothing.
func NewChecker() (*Checker, error) {
	spec, err := Load()
	if err != nil {
		return nil, err
	}
	return &Checker{spec: spec, operations: map[string]int{}, codes: map[hub.Code]int{}}, nil
}

// Transport checks all that passes through base, nil for the default transport.
// What is wrong is reported to the caller as an error and kept for Report.
func (c *Checker) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{checker: c, base: base}
}

type transport struct {
	checker *Checker
	base    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if mediaType(resp.Header) == "text/event-stream" { // it has no end to wait for
		t.checker.saw(t.checker.spec.find(r.Method, r.URL.Path), "")
		return resp, t.checker.keep(r, checkHeader(resp.Header))
	}
	got, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))
	if err := t.checker.check(r, sent, resp.StatusCode, resp.Header, got); err != nil {
		return nil, err
	}
	return resp, nil
}

// Handler checks all that h answers. It holds each answer back until it is
// complete: streams and long polls go through Transport.
func (c *Checker) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		_ = c.check(r, sent, rec.Code, rec.Header(), rec.Body.Bytes()) // kept for Report
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

// Check checks one exchange that a test made by other means.
func (c *Checker) Check(r *http.Request, sent []byte, resp *http.Response, got []byte) error {
	return c.check(r, sent, resp.StatusCode, resp.Header, got)
}

func (c *Checker) check(r *http.Request, sent []byte, status int, header http.Header, got []byte) error {
	op := c.spec.find(r.Method, r.URL.Path)
	if err := checkHeader(header); err != nil {
		return c.keep(r, err)
	}
	if r.Method == http.MethodHead {
		if len(got) != 0 {
			return c.keep(r, fmt.Errorf("HEAD was answered with a body"))
		}
		return nil
	}
	if status >= http.StatusBadRequest {
		return c.keep(r, c.checkError(op, status, header, got))
	}
	if op == nil {
		return c.keep(r, fmt.Errorf("status %d on a path that is not described", status))
	}
	answer := op.answer(status)
	if answer == nil {
		return c.keep(r, fmt.Errorf("%s does not describe status %d", op.id, status))
	}
	media := answer.Content.Get(mediaType(header))
	if media == nil {
		return c.keep(r, fmt.Errorf("%s does not describe answers of type %q", op.id, mediaType(header)))
	}
	if mediaType(header) == api.ContentType {
		if err := c.spec.validate(media.Schema.Ref, got); err != nil {
			return c.keep(r, fmt.Errorf("%s: answer: %w", op.id, err))
		}
	}
	c.saw(op, "")
	return c.keep(r, c.checkRequest(op, r, sent))
}

func mediaType(header http.Header) string {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

func checkHeader(header http.Header) error {
	if header.Get(api.HeaderInstance) == "" {
		return fmt.Errorf("the answer has no %s", api.HeaderInstance)
	}
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Location" {
			return fmt.Errorf("the answer has the header %s", name)
		}
	}
	return nil
}

// checkError holds an error to the schema, to its code's status and to the codes
// that the operation may answer.
func (c *Checker) checkError(op *operation, status int, header http.Header, got []byte) error {
	if err := c.spec.validate("Error", got); err != nil {
		return err
	}
	var e api.Envelope
	if err := json.Unmarshal(got, &e); err != nil {
		return err
	}
	c.saw(nil, e.Code)
	if e.Status != status {
		return fmt.Errorf("the envelope of %s says %d, the status is %d", e.Code, e.Status, status)
	}
	usual := hub.Codes()[e.Code]
	missingOnPost := (e.Code == hub.CodeChannelNotFound || e.Code == hub.CodeRunNotFound) && op != nil && op.id == "postMessage"
	if status != usual && (!missingOnPost || status != http.StatusBadRequest) {
		return fmt.Errorf("%s came with status %d", e.Code, status)
	}
	if retry := header.Get("Retry-After"); retry != "" {
		if n, err := strconv.Atoi(retry); err != nil || n < 1 {
			return fmt.Errorf("Retry-After is %q", retry)
		}
	}
	switch {
	case e.Code == hub.CodeMethodNotAllowed:
		if header.Get("Allow") == "" {
			return fmt.Errorf("405 without Allow")
		}
	case op != nil && !op.codes[e.Code]:
		return fmt.Errorf("%s does not describe the code %s", op.id, e.Code)
	case op == nil && e.Code != hub.CodeNotFound && e.Code != hub.CodeForbiddenHost && e.Code != hub.CodeForbiddenOrigin && e.Code != hub.CodeOtherUser:
		return fmt.Errorf("%s on a path that is not described", e.Code)
	}
	return nil
}

// checkRequest holds a request that succeeded to its description: the hub must
// not take what it does not describe.
func (c *Checker) checkRequest(op *operation, r *http.Request, sent []byte) error {
	if body := op.op.RequestBody; body != nil && len(bytes.TrimSpace(sent)) != 0 {
		if err := c.spec.validate(body.Value.Content.Get(api.ContentType).Schema.Ref, sent); err != nil {
			return fmt.Errorf("%s took a request that is %w", op.id, err)
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("%s took a malformed query", op.id)
	}
	for _, ref := range op.op.Parameters {
		p := ref.Value
		values := query[p.Name]
		if p.In != "query" || len(values) == 0 {
			continue
		}
		schema := p.Schema
		if schema.Value.Type.Is("array") {
			schema = schema.Value.Items
		} else if len(values) > 1 {
			return fmt.Errorf("%s took %s twice", op.id, p.Name)
		}
		if schema.Ref == "" {
			continue
		}
		for _, value := range values {
			encoded, err := json.Marshal(value)
			if err != nil {
				return err
			}
			if err := c.spec.validate(schema.Ref, encoded); err != nil {
				return fmt.Errorf("%s took %s that is %w", op.id, p.Name, err)
			}
		}
	}
	return nil
}

func (c *Checker) saw(op *operation, code hub.Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if op != nil {
		c.operations[op.id]++
	}
	if code != "" {
		c.codes[code]++
	}
}

func (c *Checker) keep(r *http.Request, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("contract: %s %s: %w", r.Method, r.URL.RequestURI(), err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, err.Error())
	return err
}

// Report tells on w what was wrong, which operations never succeeded and which
// error codes never came. It returns false if there is anything to tell.
func (c *Checker) Report(w io.Writer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := slices.Clone(c.wrong)
	for _, op := range c.spec.operations {
		if c.operations[op.id] == 0 {
			lines = append(lines, "contract: no test made a call of "+op.id+" that succeeded")
		}
	}
	for code := range hub.Codes() {
		if c.codes[code] == 0 {
			lines = append(lines, "contract: no test produced the error code "+string(code))
		}
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		_, _ = fmt.Fprintln(w, line)
	}
	return len(lines) == 0
}

// Wrong tells on standard error what was wrong so far and returns false if
// anything was: for the TestMain of packages that make some of the calls only.
func (c *Checker) Wrong() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.wrong {
		_, _ = fmt.Fprintln(os.Stderr, line)
	}
	return len(c.wrong) == 0
}
