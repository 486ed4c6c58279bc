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

// answered makes a response of a whole answer of the hub.
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

// unanswered makes the response to a call that no hub answered.
func unanswered(id relay.RequestID, e *hub.Error) *relay.Response {
	if e.Detail["request_id"] == nil {
		e.With("request_id", id)
	}
	body, err := json.Marshal(api.FailureOf(e))
	if err != nil {
		// Only a detail can fail to become JSON; the sentence always does.
		body, _ = json.Marshal(api.FailureOf(&hub.Error{Message: e.Message, Code: e.Code, Status: e.Status, Fix: e.Fix}))
	}
	return &relay.Response{RequestID: id, Status: e.Status, Body: body, CompletedAt: hub.TimeOf(time.Now()), Error: e.Message}
}

// refused makes a refusal of the error of a check.
func refused(err error) *hub.Error {
	var e *hub.Error
	if errors.As(err, &e) {
		return e
	}
	return hub.NewError(hub.CodeInvalid, err.Error())
}

// uncertain marks the failure of a call that may have taken effect.
func uncertain(e *hub.Error) *hub.Error { return e.With("outcome", "unknown") }
