package keygen

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Limits of a call.
const (
	Timeout = 15 * time.Second // of one call, its answer included
	maxBody = 1 << 20          // bytes of an answer
	maxHead = 64 << 10         // bytes of its headers
)

// What a request says of itself.
const (
	mediaType  = "application/vnd.api+json"
	apiVersion = "1.8"
)

// Client calls one server.
type Client struct {
	server Server
	http   *http.Client
	now    func() time.Time
}

// New returns a client of a server that has passed Check.
func New(server Server, now func() time.Time) *Client {
	dialer := &net.Dialer{Timeout: Timeout}
	return &Client{server: server, now: now, http: &http.Client{
		Timeout:       Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: Timeout, ResponseHeaderTimeout: Timeout, MaxResponseHeaderBytes: maxHead,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}}
}

// Close ends the connections that wait for another call.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request.
type call struct {
	method string
	url    *url.URL
	key    string // of the license, to authenticate; empty: anonymous
	body   any    // nil: none
	want   int    // status of the success
}

// do sends a request and returns the body of a genuine answer that is no refusal.
func (c *Client) do(ctx context.Context, in call) ([]byte, error) {
	req, err := c.request(ctx, in)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return nil, noAnswer(ctx, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, noAnswer(ctx, err)
	case len(body) > maxBody:
		return nil, fail(Broken, "the answer is longer than %d bytes", maxBody).at(answer.StatusCode)
	}
	return c.judge(req, answer, body, in.want)
}

func (c *Client) request(ctx context.Context, in call) (*http.Request, error) {
	var content io.Reader
	if in.body != nil {
		b, err := json.Marshal(in.body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, in.method, in.url.String(), content)
	if err != nil {
		return nil, fail(BadKey, "the request cannot be made")
	}
	req.Header.Set("Accept", mediaType)
	req.Header.Set("Keygen-Version", apiVersion)
	req.Header.Set("Keygen-Accept-Signature", `algorithm="ed25519"`)
	req.Header.Set("User-Agent", "hubcli")
	if in.body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	if in.key != "" {
		req.Header.Set("Authorization", "License "+in.key)
	}
	return req, nil
}

// judge tells a genuine success from everything else.
func (c *Client) judge(req *http.Request, answer *http.Response, body []byte, want int) ([]byte, error) {
	status := answer.StatusCode
	switch {
	case status >= 500:
		return nil, fail(Broken, "it answered %d", status).at(status)
	case status >= 300 && status < 400:
		return nil, fail(Broken, "it wants to send the call elsewhere, which is never done with a key").at(status)
	case status == http.StatusTooManyRequests:
		e := fail(Limited, "it takes no more calls for now").at(status)
		e.After = seconds(answer.Header.Get("Retry-After"))
		return nil, e
	case looksLikePage(answer.Header, body):
		return nil, fail(Broken, "it answered %d with a web page; a proxy or a sign-in page of the network may stand in between", status).at(status)
	}
	if err := c.server.verifyAnswer(req, answer.Header, body, c.now()); err != nil {
		var e *Error
		if errors.As(err, &e) {
			err = e.at(status)
		}
		return nil, err
	}
	switch {
	case status >= 400:
		return nil, refusal(status, body)
	case status != want:
		return nil, unreadable().at(status)
	}
	return body, nil
}

// seconds reads a header Retry-After; 0: unknown.
func seconds(text string) int {
	const most = 24 * 60 * 60
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, most)
}

func (e *Error) at(status int) *Error { e.Status = status; return e }

// refusal is the error in the body of a genuine answer.
func refusal(status int, body []byte) error {
	var doc struct {
		Errors []struct {
			Title, Detail, Code string
		} `json:"errors"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || len(doc.Errors) == 0 {
		return fail(Broken, "it refused with %d and no reason that can be read", status).at(status)
	}
	e := fail(Refused, "it refused the call").at(status)
	e.Code = plainCode(doc.Errors[0].Code)
	return e
}

// maxCode bounds a code that is shown.
const maxCode = 64

// plainCode lets only a code through: what a server says is shown to people.
func plainCode(code string) string {
	if len(code) > maxCode {
		return "UNKNOWN"
	}
	for _, r := range code {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return "UNKNOWN"
		}
	}
	return code
}

// noAnswer says why no answer came. The text of net/http names the address, which has no key
// in it, but is long; its cause says enough.
func noAnswer(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause // the caller has gone
	}
	var (
		timeout  net.Error
		op       *net.OpError
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		certs    *tls.CertificateVerificationError
	)
	e := fail(Unreachable, "no answer came")
	switch {
	case errors.As(err, &certs), errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &record):
		e = fail(Untrusted, "its certificate cannot be trusted, or it speaks no TLS")
	case errors.As(err, &dns):
		e = fail(Unreachable, "its name cannot be resolved")
	case errors.As(err, &timeout) && timeout.Timeout():
		e = fail(Unreachable, "it did not answer within %s", Timeout)
	case errors.As(err, &op) && op.Op == "dial":
		e = fail(Unreachable, "it takes no connection")
	case errors.As(err, &op):
		e = fail(Unreachable, "the connection broke off")
	}
	e.Cause = err
	return e
}
