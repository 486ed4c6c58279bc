package forwarder

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/relay"
)

const wholeRequest = `{"request_id":"r-1","agent_id":"dev-a","method":"POST","path":"/v1/messages","body":{"from_agent":"dev-a"},"created_at":"2026-01-02T03:04:05Z"}`

// malformedRequests are contents that are not the request r-1 of dev-a, each
// with the code of the error and a word of its message.
var malformedRequests = map[string]struct {
	code hub.Code
	says string
}{
	"":                                      {hub.CodeInvalidJSON, "empty"},
	" \n":                                   {hub.CodeInvalidJSON, "empty"},
	"\x00\x00\x00":                          {hub.CodeInvalidJSON, "request file"},
	wholeRequest[:70]:                       {hub.CodeInvalidJSON, ""},
	wholeRequest + "x":                      {hub.CodeInvalidJSON, "follows"},
	wholeRequest + wholeRequest:             {hub.CodeInvalidJSON, "follows"},
	"\xff\xfe{\x00}\x00":                    {hub.CodeInvalidJSON, "UTF-8"},
	"\xef\xbb\xbf" + wholeRequest:           {hub.CodeInvalidJSON, "request file"},
	"[" + wholeRequest + "]":                {hub.CodeInvalidJSON, "object"},
	"null":                                  {hub.CodeInvalidJSON, "object"},
	"{}":                                    {hub.CodeInvalid, "request_id"},
	with("request_id", `"r-2"`):             {hub.CodeInvalid, "request_id"},
	with("request_id", `7`):                 {hub.CodeInvalid, "request_id"},
	with("agent_id", `null`):                {hub.CodeInvalid, "agent_id"},
	with("agent_id", `["dev-a"]`):           {hub.CodeInvalid, "agent_id"},
	with("agent_id", `"operator"`):          {hub.CodeReservedAgent, "operator"},
	with("agent_id", `"dev-b"`):             {hub.CodeAgentMismatch, "dev-a"},
	with("agent_id", `"dev/a"`):             {hub.CodeInvalidAgentID, "agent_id"},
	with("method", `"post"`):                {hub.CodeInvalid, "method"},
	with("method", `"HEAD"`):                {hub.CodeInvalid, "method"},
	with("method", `"PATCH"`):               {hub.CodeInvalid, "method"},
	with("method", `1`):                     {hub.CodeInvalid, "method"},
	with("path", `"http://127.0.0.1/v1/x"`): {hub.CodeInvalid, "path"},
	with("path", `"/v1/../x"`):              {hub.CodeInvalid, "path"},
	with("path", `{}`):                      {hub.CodeInvalid, "path"},
	with("body", `[1]`):                     {hub.CodeInvalid, "body"},
	with("body", `"x"`):                     {hub.CodeInvalid, "body"},
	with("body", `{"a":1,"a":2}`):           {hub.CodeInvalidJSON, "a"},
	wholeRequest[:1] + `"path":"/v1/x",` + wholeRequest[1:]:                                   {hub.CodeInvalidJSON, "path"},
	with("body", strings.Repeat(`{"a":`, 70)+"1"+strings.Repeat("}", 70)):                     {hub.CodeInvalidJSON, ""},
	strings.Replace(wholeRequest, `"path"`, `"Path"`, 1):                                      {hub.CodeInvalid, "path"},
	strings.Replace(wholeRequest, `"request_id":"r-1"`, `"request_id":"r-1","session":1,`, 1): {hub.CodeInvalidJSON, ""},
}

// with returns wholeRequest with another value of one member.
func with(member, value string) string {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(wholeRequest), &all); err != nil {
		panic(err)
	}
	var parts []string
	for _, name := range []string{"request_id", "agent_id", "method", "path", "body", "created_at"} {
		v := string(all[name])
		if name == member {
			v = value
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, v))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestMalformedRequests(t *testing.T) {
	for text, want := range malformedRequests {
		r, err := decodeRequest([]byte(text), "dev-a", "r-1")
		if err == nil {
			t.Errorf("%.80q is taken as %+v", text, r)
			continue
		}
		if err.Code != want.code || !strings.Contains(err.Message, want.says) || err.Fix == "" && err.Detail["field"] == nil {
			t.Errorf("%.80q: %s %q, want %s and %q", text, err.Code, err.Message, want.code, want.says)
		}
	}
}

func TestRequests(t *testing.T) {
	for _, text := range []string{
		wholeRequest,
		with("created_at", `null`), with("created_at", `"yesterday"`), with("created_at", `7`), with("created_at", `{}`),
		with("body", `null`),
		with("method", `"DELETE"`),
		wholeRequest[:1] + `"extra":{"headers":{"X-Hub-Operator":"x"}},` + wholeRequest[1:],
	} {
		if _, err := decodeRequest([]byte(text), "dev-a", "r-1"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	r, err := decodeRequest([]byte(with("method", `"GET"`)), "dev-a", "r-1")
	if err != nil || r.Body != nil {
		t.Errorf("a GET has the body %s, %v", r.Body, err)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(wholeRequest))
	for text := range malformedRequests {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRequest(data, "dev-a", "r-1")
		if err != nil {
			if err.Status < 400 || err.Message == "" {
				t.Errorf("the refusal says nothing: %+v", err)
			}
			return
		}
		switch {
		case r.RequestID != "r-1" || relay.Folder(r.AgentID) != "dev-a" || r.AgentID.Reserved():
			t.Errorf("%q speaks for %q of %q", data, r.AgentID, r.RequestID)
		case !strings.HasPrefix(r.Path, "/v1/") || !utf8.ValidString(r.Path) || strings.ContainsAny(r.Path, "\r\n \x00#"):
			t.Errorf("%q has the path %q", data, r.Path)
		case len(r.Body) > 0 && (r.Body[0] != '{' || !json.Valid(r.Body)):
			t.Errorf("%q has the body %q", data, r.Body)
		}
		op, refusal := operationOf(r.Method, r.Path)
		if refusal != nil {
			return
		}
		if _, wait := capWait(op, r.Path, r.Body, 0); wait != 0 && op.Wait.By == api.WaitSec {
			t.Errorf("%q waits %s in spite of the cap", r.Body, wait)
		}
	})
}
