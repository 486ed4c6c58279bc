package contract

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestCheckerFindsFaults: what breaks the contract is told, what keeps it is not.
func TestCheckerFindsFaults(t *testing.T) {
	const (
		channel  = `{"name":"c","created_at":"2026-01-02T03:04:05.678Z","created_by":"a","metadata":{},"room_id":null}`
		failure  = `{"ok":false,"error":"x","code":"invalid","status":400,"detail":{},"fix":""}`
		closedOK = `{"ok":true,"result":{"session_id":"s","deleted":true}}`
	)
	for _, c := range []struct {
		name, method, path, sent string
		status                   int
		got                      string
		fault                    string // part of the error text; empty: none
	}{
		{"a created channel", "POST", "/v1/channels", `{"name":"c"}`, 201, `{"ok":true,"result":` + channel + `}`, ""},
		{"an error", "POST", "/v1/channels", `[`, 400, failure, ""},
		{"a thread id with slashes", "GET", "/v1/threads/a/b", "", 404, strings.NewReplacer("invalid", "thread_not_found", "400", "404").Replace(failure), ""},
		{"an unknown member", "POST", "/v1/channels", `{"name":"c"}`, 201, `{"ok":true,"result":` + strings.Replace(channel, `"name"`, `"extra":1,"name"`, 1) + `}`, "ChannelAnswer"},
		{"a missing member", "POST", "/v1/channels", `{"name":"c"}`, 201, `{"ok":true,"result":` + strings.Replace(channel, `"metadata":{},`, ``, 1) + `}`, "ChannelAnswer"},
		{"a time without milliseconds", "POST", "/v1/channels", `{"name":"c"}`, 201, `{"ok":true,"result":` + strings.Replace(channel, `.678`, ``, 1) + `}`, "ChannelAnswer"},
		{"an unknown member of the envelope", "DELETE", "/v1/sessions/s", "", 200, strings.Replace(closedOK, `{"ok"`, `{"x":1,"ok"`, 1), "ClosedSessionAnswer"},
		{"an undescribed status", "DELETE", "/v1/sessions/s", "", 202, closedOK, "does not describe status 202"},
		{"an undescribed path", "GET", "/v1/nowhere", "", 200, `{"ok":true,"result":[]}`, "not described"},
		{"a request that should have been refused", "POST", "/v1/channels", `{"name":7}`, 201, `{"ok":true,"result":` + channel + `}`, "took a request"},
		{"a parameter that should have been refused", "GET", "/v1/channels?x=1", "", 200, `{"ok":true,"result":[` + channel + `]}`, ""},
		{"a limit that should have been refused", "GET", "/v1/tasks?limit=0", "", 200, `{"ok":true,"result":[]}`, "took limit"},
		{"a parameter twice", "GET", "/v1/tasks?limit=1&limit=2", "", 200, `{"ok":true,"result":[]}`, "twice"},
		{"an unknown code", "POST", "/v1/channels", "", 400, strings.Replace(failure, "invalid", "odd", 1), "not a Error"},
		{"a code of another operation", "POST", "/v1/channels", "", 404, strings.NewReplacer("invalid", "task_not_found", "400", "404").Replace(failure), "does not describe the code"},
		{"a code with another status", "POST", "/v1/channels", "", 409, strings.Replace(failure, "400", "409", 1), "came with status 409"},
		{"an envelope with another status", "POST", "/v1/channels", "", 400, strings.Replace(failure, "400", "404", 1), "the status is 400"},
		{"a success with an error's status", "POST", "/v1/channels", "", 400, `{"ok":true}`, "not a Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checker, err := NewChecker()
			require.NoError(t, err)
			h := checker.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Hub-Instance", "i")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.got))
			}))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.sent)))
			told := strings.Join(checker.wrong, "\n")
			if (c.fault == "") != (told == "") || !strings.Contains(told, c.fault) {
				t.Errorf("told %q, want %q", told, c.fault)
			}
		})
	}
}

func TestCheckerWantsTheStoreAndNoCORS(t *testing.T) {
	for header, value := range map[string]string{"X-Other": "x", "Access-Control-Allow-Origin": "*", "Location": "/"} {
		h := http.Header{header: {value}}
		if header != "X-Other" {
			h.Set("X-Hub-Instance", "i")
		}
		if checkHeader(h) == nil {
			t.Errorf("headers %v are taken", h)
		}
	}
}

// TestReportNamesGaps: a run that leaves something out fails.
func TestReportNamesGaps(t *testing.T) {
	checker, err := NewChecker()
	require.NoError(t, err)
	for i := range checker.spec.operations {
		checker.saw(&checker.spec.operations[i], "")
	}
	for code := range hub.Codes() {
		checker.saw(nil, code)
	}
	var b strings.Builder
	if !checker.Report(&b) {
		t.Errorf("a run that left nothing out: %s", b.String())
	}
	delete(checker.operations, "claim")
	delete(checker.codes, hub.CodeInternal)
	if checker.Report(&b) || !strings.Contains(b.String(), "call of claim ") || !strings.Contains(b.String(), "code internal") {
		t.Errorf("a run with gaps: %s", b.String())
	}
}
