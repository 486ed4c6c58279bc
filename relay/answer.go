package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// forwardedHeaders are what of the hub's headers a response keeps.
var forwardedHeaders = []string{api.HeaderReplayed, "Retry-After", api.HeaderInstance}

// answered is the response that a whole answer of the hub becomes.
func answered(id RequestID, status int, header http.Header, body []byte) *Response {
	r := &Response{RequestID: id, OK: status < http.StatusMultipleChoices, Status: status, Body: body, CompletedAt: hub.TimeOf(time.Now())}
	for _, name := range forwardedHeaders {
		if value := header.Get(name); value != "" {
			if r.Headers == nil {
				r.Headers = map[string]string{}
			}
			r.Headers[name] = value
		}
	}
	return r
}

// unanswered is the response where no hub answered.
func unanswered(id RequestID, e *hub.Error) *Response {
	if e.Detail["request_id"] == nil {
		e.With("request_id", id)
	}
	body, err := json.Marshal(api.FailureOf(e))
	if err != nil {
		// A detail that is no JSON would be a mistake here; the sentence is not.
		body, _ = json.Marshal(api.FailureOf(&hub.Error{Message: e.Message, Code: e.Code, Status: e.Status, Fix: e.Fix}))
	}
	return &Response{RequestID: id, Status: e.Status, Body: body, CompletedAt: hub.TimeOf(time.Now()), Error: e.Message}
}

// encode renders a response file. The body, which must be JSON, keeps its bytes
// and is copied once.
func (r *Response) encode() ([]byte, error) {
	const hole = `"body":null` // no text holds it: there its quotes are escaped
	frame := *r
	frame.Body = nil
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(frame); err != nil || len(r.Body) == 0 {
		return b.Bytes(), err
	}
	before, after, _ := bytes.Cut(b.Bytes(), []byte(hole))
	return slices.Concat(before, []byte(`"body":`), r.Body, after), nil
}

// refused is what a check of the vocabulary or of the JSON says, as a refusal.
func refused(err error) *hub.Error {
	var e *hub.Error
	if errors.As(err, &e) {
		return e
	}
	return hub.NewError(hub.CodeInvalid, err.Error())
}

// uncertain marks the failure of a call that may have taken effect all the same.
func uncertain(e *hub.Error) *hub.Error { return e.With("outcome", "unknown") }
