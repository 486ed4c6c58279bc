package api

import (
	"encoding/json"

	"hubcli/hub"
)

// Names of the headers of the contract.
const (
	HeaderInstance    = "X-Hub-Instance"      // out: the store; in: the store the caller means
	HeaderSession     = "X-Hub-Session"       // in: full session id
	HeaderOperator    = "X-Hub-Operator"      // in: operator token
	HeaderRelay       = "X-Hub-Relay"         // in: the agent of the spool that the call came through
	HeaderAgent       = "X-Hub-Agent"         // in: the agent that a client of MCP over HTTP is
	HeaderMaxWait     = "X-Hub-Max-Wait"      // in: upper bound of wait_sec in seconds
	HeaderIdempotency = "Idempotency-Key"     // in: 1 to 255 printable ASCII characters
	HeaderReplayed    = "Idempotent-Replayed" // out: "true" if the answer is an earlier call's
	HeaderLastEventID = "Last-Event-ID"       // in: where a stream resumes
)

// MCPPath is where the hub serves MCP to clients that start no process, and MCPBodyCap is the size
// of the largest request there, in bytes: that of the largest line of a bridge.
const (
	MCPPath    = "/mcp"
	MCPBodyCap = 16 << 20
)

// ContentType is the media type of every body, in and out, save the stream and
// the metrics.
const ContentType = "application/json"

// Envelope is every JSON answer of the hub. If OK is true, it holds Result,
// with Acquired (leases), NextSinceID (feeds), NextCursor (lists), or Recipient and Muted (posts). Otherwise
// it holds Error and the fields after it.
type Envelope struct {
	OK       bool            `json:"ok"`
	Result   json.RawMessage `json:"result,omitempty"`
	Acquired *bool           `json:"acquired,omitempty"` // Whether the caller is the holder.
	// Only in an answer to a call that was to wait and did not, because agents would wait for each other: the
	// caller, the agent that it asked or asked to wait for, and so on; the last one waits for the caller.
	Circle      []hub.AgentID  `json:"circle,omitempty"`
	NextSinceID *hub.MessageID `json:"next_since_id,omitempty"` // The highest id that was examined.
	NextCursor  hub.Cursor     `json:"next_cursor,omitempty"`   // Where the rest begins. It is there only if there is more.
	Behind      *int64         `json:"behind,omitempty"`        // Rows that the index had not taken in yet.
	Recipient   *hub.Recipient `json:"recipient,omitempty"`     // Of a direct message, if it cannot be reached now.
	Muted       *hub.Mute      `json:"muted,omitempty"`         // If the operator has muted the sender: the message wakes nobody.

	Error  string         `json:"error,omitempty"` // one sentence
	Code   hub.Code       `json:"code,omitempty"`
	Status int            `json:"status,omitempty"` // the HTTP status again
	Detail map[string]any `json:"detail,omitempty"`
	Fix    string         `json:"fix,omitempty"` // what to do next
}

// Err returns the error that the envelope carries, or nil if OK.
func (e *Envelope) Err() *hub.Error {
	if e.OK {
		return nil
	}
	return &hub.Error{Message: e.Error, Code: e.Code, Status: e.Status, Detail: e.Detail, Fix: e.Fix, Answered: true}
}

// Failure is the error envelope that is sent: unlike Envelope it always has all
// six members.
type Failure struct {
	OK     bool           `json:"ok"` // always false
	Error  string         `json:"error"`
	Code   hub.Code       `json:"code"`
	Status int            `json:"status"`
	Detail map[string]any `json:"detail"`
	Fix    string         `json:"fix"`
}

// FailureOf renders an error. A nil detail becomes an empty object.
func FailureOf(e *hub.Error) Failure {
	detail := e.Detail
	if detail == nil {
		detail = map[string]any{}
	}
	return Failure{Error: e.Message, Code: e.Code, Status: e.Status, Detail: detail, Fix: e.Fix}
}
