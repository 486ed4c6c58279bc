package relay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// maxResponseBytes is the size of the largest answer that is read: the 64 MiB
// that a forwarder takes from the hub, and its own frame.
const maxResponseBytes = 65 << 20

// encodeRequest renders the content of a request file. The members of the body
// keep their bytes, so that the hub sees the same body in every attempt.
func encodeRequest(agent hub.AgentID, c *outgoing) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(Request{
		RequestID: c.id, AgentID: agent, Method: c.method, Path: c.path, Body: c.body,
		CreatedAt: hub.TimeOf(time.Now()),
	})
	if err != nil {
		return nil, hub.NewError(hub.CodeInvalidJSON, "the body of the call is not JSON").WithFix("send one JSON object")
	}
	if b.Len() > MaxRequestBytes {
		return nil, tooLargeForSpool(b.Len())
	}
	return b.Bytes(), nil
}

func tooLargeForSpool(size int) *hub.Error {
	return hub.NewError(hub.CodeRequestTooLarge, "the call is too large for the spool").
		With("limit", MaxRequestBytes).With("size", size).WithFix("send less in one call")
}

// idOfKey is the request id of a call whose idempotency key has not the form of
// one: the same for the same key.
func idOfKey(key string) RequestID {
	sum := sha256.Sum256([]byte(key))
	return RequestID("key-" + hex.EncodeToString(sum[:]))
}

// waitOf is how long the body of a call asks the hub to park it (wait_sec).
func waitOf(body []byte) time.Duration {
	var in struct {
		WaitSec float64 `json:"wait_sec"`
	}
	if json.Unmarshal(body, &in) != nil {
		return 0
	}
	return time.Duration(min(max(in.WaitSec, 0), hub.MaxWaitSec) * float64(time.Second))
}

// fault says why r is no answer to the request with this id; empty if it is one.
func (r *Response) fault(id RequestID) string {
	switch {
	case r.RequestID != id:
		return "it answers another request"
	case r.Status < http.StatusOK || r.Status > StatusHubUnreachable:
		return "its status is " + strconv.Itoa(r.Status)
	case len(r.Body) == 0 || string(r.Body) == "null":
		if r.Error == "" {
			return "it has neither a body nor an error"
		}
	case r.Body[0] != '{':
		return "its body is not an object"
	}
	return ""
}

// answerOf turns an answer from the spool into one of HTTP.
func answerOf(r *http.Request, got *Response) *http.Response {
	body := []byte(got.Body)
	if len(body) == 0 || string(body) == "null" {
		body = errorEnvelope(&hub.Error{Message: got.Error, Code: codeOfStatus(got.Status), Status: got.Status})
	}
	header := http.Header{"Content-Type": {api.ContentType}}
	for _, name := range ForwardedHeaders {
		if value := got.Headers[name]; value != "" {
			header.Set(name, value)
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", got.Status, http.StatusText(got.Status)), StatusCode: got.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// codeOfStatus names a failure for which a forwarder gave no envelope.
func codeOfStatus(status int) hub.Code {
	switch status {
	case StatusSpoolFailed:
		return hub.CodeSpoolFailed
	case StatusNoAnswer:
		return hub.CodeRelayTimeout
	case StatusHubUnreachable:
		return hub.CodeUnreachable
	}
	return hub.CodeInvalid
}

// refusal is the answer to a call that did not get through.
func refusal(err error) *Response {
	var e *hub.Error
	if !errors.As(err, &e) {
		e = spoolFailed(err.Error())
	}
	r := &Response{Status: e.Status, Body: errorEnvelope(e), Error: e.Message}
	if e.RetryAfter > 0 {
		r.Headers = map[string]string{"Retry-After": strconv.Itoa(e.RetryAfter)}
	}
	return r
}

func errorEnvelope(e *hub.Error) []byte {
	b, err := json.Marshal(api.FailureOf(e))
	if err != nil { // a detail of ours that is no JSON
		panic("relay: an error does not encode: " + err.Error())
	}
	return b
}

func spoolFailed(message string) *hub.Error {
	return hub.NewError(hub.CodeSpoolFailed, message).WithStatus(StatusSpoolFailed)
}

func inProgress(id RequestID) *hub.Error {
	return hub.NewError(hub.CodeInProgress, "another call with this idempotency key is still in the spool").
		With("request_id", id).WithRetryAfter(1).WithFix("send it again once that call is answered, or use another key")
}

// fileReason leaves out the operation and the path that the standard library puts
// before an error of a file.
func fileReason(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}
