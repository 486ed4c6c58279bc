package forwarder

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/relay"
)

// answered is the response that a whole answer of the hub becomes.
func answered(id relay.RequestID, status int, header http.Header, body []byte) *relay.Response {
	r := &relay.Response{RequestID: id, OK: status < http.StatusMultipleChoices, Status: status, Body: body, CompletedAt: hub.TimeOf(time.Now())}
	for _, name := range relay.ForwardedHeaders {
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
func unanswered(id relay.RequestID, e *hub.Error) *relay.Response {
	if e.Detail["request_id"] == nil {
		e.With("request_id", id)
	}
	body, err := json.Marshal(api.FailureOf(e))
	if err != nil {
		// A detail that is no JSON would be a mistake here; the sentence is not.
		body, _ = json.Marshal(api.FailureOf(&hub.Error{Message: e.Message, Code: e.Code, Status: e.Status, Fix: e.Fix}))
	}
	return &relay.Response{RequestID: id, Status: e.Status, Body: body, CompletedAt: hub.TimeOf(time.Now()), Error: e.Message}
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
