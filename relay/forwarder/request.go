package forwarder

import (
	"bytes"
	"encoding/json"
	"net/http"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/relay"
)

// decodeRequest reads a request file. folder and id come from the file's path,
// and the content must agree with them. The error is for the client and names
// the member that is wrong.
func decodeRequest(data []byte, folder string, id relay.RequestID) (*relay.Request, *hub.Error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, malformed("the request file is empty")
	}
	var in struct {
		RequestID string          `json:"request_id"`
		AgentID   string          `json:"agent_id"`
		Method    string          `json:"method"`
		Path      string          `json:"path"`
		Body      json.RawMessage `json:"body"`
	}
	if err := api.DecodeFrom("the request file", data, &in); err != nil {
		e := refused(err)
		if field, ok := e.Detail["field"].(string); ok && e.Code == hub.CodeInvalidJSON {
			e.Message += " (" + field + ")"
		}
		return nil, e
	}
	r := &relay.Request{
		RequestID: relay.RequestID(in.RequestID), AgentID: hub.AgentID(in.AgentID),
		Method: in.Method, Path: in.Path, Body: in.Body,
	}
	if err := check(r, folder, id); err != nil {
		return nil, err
	}
	return r, nil
}

// check compares a request with the name of its file.
func check(r *relay.Request, folder string, id relay.RequestID) *hub.Error {
	if r.RequestID != id {
		return hub.Invalid("request_id", "request_id differs from the name of the file").
			WithFix("name the file <request_id>.json")
	}
	if err := hub.CheckSender("agent_id", r.AgentID); err != nil {
		return refused(err)
	}
	if relay.Folder(r.AgentID) != folder {
		return hub.NewError(hub.CodeAgentMismatch, "agent_id does not belong to the folder "+folder).
			With("field", "agent_id").With("folder", relay.Folder(r.AgentID)).
			WithFix("write requests of " + string(r.AgentID) + " into requests/" + relay.Folder(r.AgentID))
	}
	switch r.Method {
	case http.MethodGet:
		r.Body = nil // a GET has none
	case http.MethodPost, http.MethodPut, http.MethodDelete:
	default:
		return hub.Invalid("method", "method must be GET, POST, PUT or DELETE")
	}
	if err := checkPath(r.Path); err != nil {
		return err
	}
	if len(r.Body) > 0 && r.Body[0] != '{' {
		return hub.Invalid("body", "body must be an object or null")
	}
	return nil
}

// writes reports whether the call may change something.
func writes(r *relay.Request) bool { return r.Method != http.MethodGet }

func malformed(message string) *hub.Error {
	return hub.NewError(hub.CodeInvalidJSON, message).
		WithFix("write the whole request under a name that begins with " + relay.TempPrefix + ", then rename it")
}
