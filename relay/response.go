package relay

import (
	"bytes"
	"encoding/json"
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

// Response is the content of a response file. Body is what the hub answered, or
// an envelope of the same form where no hub did; Error is its sentence then.
type Response struct {
	RequestID   RequestID         `json:"request_id"`
	OK          bool              `json:"ok"`
	Status      int               `json:"status"`
	Body        json.RawMessage   `json:"body"`
	CompletedAt hub.Time          `json:"completed_at"`
	Error       string            `json:"error,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"` // those of ForwardedHeaders that the hub sent
}

// ForwardedHeaders are what of the hub's headers a response keeps.
var ForwardedHeaders = []string{api.HeaderReplayed, "Retry-After", api.HeaderInstance}

// Encode renders a response file. The body, which must be JSON, keeps its bytes
// and is copied once.
func (r *Response) Encode() ([]byte, error) {
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
