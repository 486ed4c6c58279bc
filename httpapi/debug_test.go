package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestDebugIsTheOperators: no agent gets an answer, the operator gets one, and nothing
// in it is a text of an agent, a key or a secret.
func TestDebugIsTheOperators(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	first := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"lead","display_name":"MARKER-name","metadata":{"note":"MARKER-meta"}}`)
	session, _ := first.row("session_id").(string)
	resume, _ := first.row("resume_key").(string)
	lead := c.with(api.HeaderSession, session)
	lead.ok(201, "POST", "/v1/messages", `{"body":"MARKER-body","thread_id":"MARKER-thread"}`)
	lead.ok(201, "POST", "/v1/messages", `{"kind":"task_request","body":"MARKER-task","to_agent":"dev"}`)
	lead.with(api.HeaderIdempotency, "MARKER-idempotency").ok(201, "POST", "/v1/claims", `{"claim_key":"MARKER-claim","ttl_sec":60}`)

	c.refused(hub.CodeOperatorRequired, "GET", "/v1/app/debug", "")
	c.with(api.HeaderSession, session).refused(hub.CodeOperatorRequired, "GET", "/v1/app/debug?profile=heap", "")
	c.with(api.HeaderOperator, "wrong").refused(hub.CodeOperatorRequired, "GET", "/v1/app/debug", "")
	operator.with(api.HeaderRelay, "lead").refused(hub.CodeOperatorRequired, "GET", "/v1/app/debug", "")

	a := operator.ok(200, "GET", "/v1/app/debug?stacks=true", "")
	var got hub.Debug
	require.NoError(t, json.Unmarshal(a.Result, &got))
	if got.OwnerCount != len(got.Owners) || got.DurableSeq == 0 || got.DurableSeq != got.NumberedSeq || got.PendingCount != 0 ||
		len(got.Recent) < 4 || got.Views["live agents"] != 1 || got.Goroutines < 5 || !strings.Contains(got.Stacks, "engine.(*writer).serve") {
		t.Errorf("the operator is shown %s", a.Result)
	}
	if f := got.Heap; f.LiveBytes <= 0 || f.Objects <= 0 || f.GoalBytes <= 0 || f.TotalBytes < f.LiveBytes {
		t.Errorf("the heap is shown as %+v", f)
	}
	_, secret, _ := strings.Cut(session, ".")
	for _, hidden := range []string{"MARKER", secret, resume, h.Store.OperatorToken()} {
		if hidden == "" || strings.Contains(string(a.Result), hidden) {
			t.Errorf("the answer holds %q", hidden)
		}
	}
	if plain := operator.ok(200, "GET", "/v1/app/debug", ""); plain.row("stacks") != nil {
		t.Error("the stacks are there although nobody asked for them")
	}
}

// TestProfile: each profile is one of pprof, a second one at the same time is refused,
// and a hub that stops ends the one that runs.
func TestProfile(t *testing.T) {
	h := testhub.Start(t)
	operator := newClient(t, h).with(api.HeaderOperator, h.Store.OperatorToken())
	for _, query := range []string{"profile=heap", "profile=goroutine", "profile=cpu&seconds=1"} {
		a := operator.ok(200, "GET", "/v1/app/debug?"+query, "")
		if a.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s has the type %s", query, a.header.Get("Content-Type"))
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(a.Result))
		if err != nil {
			t.Fatalf("%s is no profile: %v", query, err)
		}
		profile, err := io.ReadAll(unpacked)
		if err != nil || !bytes.Contains(profile, []byte("count")) { // a sample type in its table of texts
			t.Errorf("%s is no profile: %d bytes, %v", query, len(profile), err)
		}
	}
	for _, query := range []string{
		"profile=block", "profile=cpu&seconds=0", "profile=cpu&seconds=31", "profile=cpu&seconds=x", "seconds=5", "profile=heap&seconds=5", "stacks=maybe",
	} {
		operator.refused(hub.CodeInvalid, "GET", "/v1/app/debug?"+query, "")
	}

	long := make(chan answer, 1)
	go func() {
		for {
			a := operator.call("GET", "/v1/app/debug?profile=cpu&seconds=30", "")
			if a.status != http.StatusConflict { // with one of those below
				long <- a
				return
			}
		}
	}()
	for { // until it runs
		a := operator.call("GET", "/v1/app/debug?profile=heap", "")
		if a.status == http.StatusConflict {
			if a.Code != hub.CodeLimitReached {
				t.Errorf("a second profile is refused with %s", a.Code)
			}
			break
		}
	}
	h.Hub.EndParked()
	if a := <-long; a.status != http.StatusOK || len(a.Result) == 0 {
		t.Errorf("the profile of a hub that stops: %d, %d bytes", a.status, len(a.Result))
	}
}
