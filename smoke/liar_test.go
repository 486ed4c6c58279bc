package smoke_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/smoke"
)

// A test that cannot fail proves nothing: here a real hub is made to lie, and the
// step that is there for it must notice.

type object = map[string]any

// exchange is a call and its answer on the way back through the proxy.
type exchange struct {
	r      *http.Request
	in     object // the body of the call
	status int
	out    object // the envelope
	memory *memory
}

// memory is what the proxy of one hub remembers. Its own lock covers each lie.
type memory struct {
	sync.Mutex
	rows map[string]any
}

// is reports whether the call is this one; a path that ends in / is a beginning.
func (e *exchange) is(method, path string) bool {
	p := e.r.URL.Path
	return e.r.Method == method && (p == path || strings.HasSuffix(path, "/") && strings.HasPrefix(p, path))
}

// of reports whether the call names this agent in its query.
func (e *exchange) of(agent hub.AgentID) bool {
	return e.r.URL.Query().Get("agent_id") == string(agent)
}

// row is the result if it is one.
func (e *exchange) row() object { row, _ := e.out["result"].(object); return row }

// rows are the result if it is a list.
func (e *exchange) rows() []any { rows, _ := e.out["result"].([]any); return rows }

// word is what a message says in its note.
func word(row any) string {
	metadata, _ := row.(object)["metadata"].(object)
	note, _ := metadata["smoke"].(object)
	s, _ := note["word"].(string)
	return s
}

func number(row any, name string) float64 { n, _ := row.(object)[name].(float64); return n }

// answer replaces the answer.
func (e *exchange) answer(status int, result any) {
	e.status, e.out = status, object{"ok": true, "result": result}
}

// drop leaves rows out of a list.
func (e *exchange) drop(gone func(row any) bool) {
	e.out["result"] = slices.DeleteFunc(e.rows(), gone)
}

// liar is a hub that keeps all of the contract but one thing.
type liar struct {
	name string
	step string                // that must notice
	late bool                  // by waiting in vain
	ask  func(r *http.Request) // changes a call before the hub sees it; may be nil
	lie  func(e *exchange)     // changes an answer; may be nil
}

var liars = []liar{
	{name: "speaks another protocol", step: "hub-info", lie: func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["protocol_version"] = "2"
		}
	}},
	{name: "lacks a kind", step: "hub-info", lie: func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["message_kinds"] = []any{"chat"}
		}
	}},
	{name: "registers two sessions", step: "register", lie: func(e *exchange) {
		if e.is("POST", "/v1/sessions") && e.in["replace"] == false {
			e.answer(201, object{"session_id": "x.y", "agent_id": e.in["agent_id"], "active": true})
		}
	}},
	{name: "keeps the displaced session", step: "register", lie: func(e *exchange) {
		if e.is("DELETE", "/v1/sessions/") && e.status == 404 {
			e.answer(200, object{"session_id": "x", "deleted": true})
		}
	}},
	{name: "believes the displaced session", step: "register", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") && e.status == 409 {
			e.answer(200, []any{})
		}
	}},
	{name: "makes a channel twice", step: "meet", lie: func(e *exchange) {
		if e.is("POST", "/v1/channels") {
			e.status = 201
		}
	}},
	{name: "forgets an agent", step: "presence", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") {
			e.drop(func(row any) bool { return row.(object)["agent_id"] == "smoke-b" })
		}
	}},
	{name: "lists the secrets of sessions", step: "presence", lie: func(e *exchange) {
		if e.is("POST", "/v1/sessions") && e.status == 201 {
			e.memory.rows[e.in["agent_id"].(string)] = e.row()["session_id"]
		}
		if e.is("GET", "/v1/agents") && e.status == 200 {
			for _, row := range e.rows() {
				row.(object)["session_id"] = e.memory.rows[row.(object)["agent_id"].(string)]
			}
		}
	}},
	{name: "repeats a message", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleA) && len(e.rows()) > 0 {
			if old := e.memory.rows["line"]; old != nil {
				e.out["result"] = append(e.rows(), old)
			}
			for _, row := range e.rows() {
				if word(row) == "line" {
					e.memory.rows["line"] = row
				}
			}
		}
	}},
	{name: "loses a message", step: "channel", late: true, lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleA) {
			e.drop(func(row any) bool { return row.(object)["body"] == "line 2 of smoke-b" })
		}
	}},
	{name: "swaps two messages", step: "channel", lie: func(e *exchange) {
		if rows := e.rows(); e.is("GET", "/v1/events") && len(rows) > 1 && word(rows[0]) == "line" {
			rows[0], rows[1] = rows[1], rows[0]
		}
	}},
	{name: "changes a message for one agent", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleC) {
			for _, row := range e.rows() {
				if row.(object)["body"] == "line 3 of smoke-a" {
					row.(object)["metadata"].(object)["smoke"].(object)["n"] = 4.0
				}
			}
		}
	}},
	{name: "lists fewer messages than it shows", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/messages") {
			e.drop(func(row any) bool { return row.(object)["body"] == "line 1 of smoke-c" })
		}
	}},
	{name: "forgets idempotency keys", step: "channel", ask: func(r *http.Request) {
		r.Header.Del("Idempotency-Key")
	}},
	{name: "loses a reply", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/threads/") && e.status == 200 {
			messages := e.row()["messages"].([]any)
			e.row()["messages"] = messages[:len(messages)-1]
		}
	}},
	{name: "miscounts a thread", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/threads/") && e.status == 200 {
			e.row()["thread"].(object)["message_count"] = 2.0
		}
	}},
	{name: "forgets what a reply answers", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			for _, row := range e.rows() {
				row.(object)["reply_to"] = nil
			}
		}
	}},
	{name: "leaks a direct message in polls", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleB) {
			for _, row := range e.rows() {
				if word(row) == "secret" {
					e.memory.rows["secret"] = row
				}
			}
		}
		if secret := e.memory.rows["secret"]; secret != nil && e.is("GET", "/v1/events") && e.of(smoke.RoleC) {
			e.out["result"] = append([]any{secret}, e.rows()...)
		}
	}},
	{name: "leaks a direct message in the thread's listing", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/messages") && e.r.URL.Query().Has("thread_id") {
			e.out["result"] = append(e.rows(), object{"id": sinceOf(e) + 1, "body": "between us"})
		}
	}},
	{name: "shows a direct message by its id", step: "direct", ask: func(r *http.Request) {
		if r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/v1/messages/") {
			r.Header.Del("X-Hub-Session")
			r.URL.RawQuery = "agent_id=smoke-b"
		}
	}},
	{name: "loses a direct message", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			e.drop(func(row any) bool { return word(row) == "secret" })
		}
	}},
	{name: "empties the inbox", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/inbox/") {
			e.out["result"] = []any{}
		}
	}},
	{name: "grants a claim twice", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["owner_agent_id"] = e.in["owner_agent_id"]
		}
	}},
	{name: "names the wrong holder", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.row()["owner_agent_id"] = "somebody"
		}
	}},
	{name: "shows another fence to the losers", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.row()["fence"] = number(e.row(), "fence") + 1
		}
	}},
	{name: "grants a held claim to who waits", step: "hand-over", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.in["wait_sec"] != nil && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["owner_agent_id"] = e.in["owner_agent_id"]
			e.row()["fence"] = number(e.row(), "fence") + 1
		}
	}},
	{name: "grants with the fence before", step: "hand-over", ask: func(r *http.Request) {
		change(r, "/v1/claims/release", func(in object) { delete(in, "fence") })
	}, lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") {
			e.row()["fence"] = 1.0
		}
	}},
	{name: "releases twice", step: "hand-over", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims/release") && e.in["fence"] == nil && e.memory.rows["released"] != nil {
			e.answer(200, object{"claim_key": "x"})
		}
		if e.is("POST", "/v1/claims/release") && e.in["fence"] != nil {
			e.memory.rows["released"] = true
		}
	}},
	{name: "takes a result of nothing", step: "task", ask: func(r *http.Request) {
		change(r, "/v1/messages", func(in object) {
			if in["kind"] == "task_result" && in["reply_to"] == nil {
				in["kind"] = "chat"
			}
		})
	}},
	{name: "leaves an answered task open", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["assignee"] != nil {
			e.row()["status"] = "open"
		}
	}},
	{name: "does not mark what a result completes", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			for _, row := range e.rows() {
				if row.(object)["kind"] == "task_result" {
					delete(row.(object)["metadata"].(object), "task_completed")
				}
			}
		}
	}},
	{name: "shows a private task", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 404 {
			e.answer(200, object{"task_id": 1.0})
		}
	}},
	{name: "drops a rollup", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["title"] == "the whole" {
			e.row()["status"] = "open"
		}
	}},
	{name: "rolls up early", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["title"] == "the whole" {
			e.row()["status"] = "done"
		}
	}},
	{name: "forgets the notice", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			e.drop(func(row any) bool { return row.(object)["from_agent"] == "system" })
		}
	}},
	{name: "locks for two", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks") && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["agent_id"] = e.in["agent_id"]
		}
	}},
	{name: "keeps a lock that was released", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks") && e.out["acquired"] == true && e.in["agent_id"] == "smoke-b" {
			e.status, e.out["acquired"] = 200, false
			e.row()["agent_id"] = "smoke-a"
		}
	}},
	{name: "unlocks for who has not locked", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks/release") && e.in["agent_id"] == "smoke-c" && e.memory.rows["locked"] != nil {
			e.answer(200, object{"file_path": "x"})
		}
		if e.is("POST", "/v1/locks") {
			e.memory.rows["locked"] = true
		}
	}},
	{name: "lists who has left", step: "leave", late: true, lie: func(e *exchange) {
		if !e.is("GET", "/v1/agents") || e.status != 200 {
			return
		}
		for _, row := range e.rows() {
			if row.(object)["agent_id"] == "smoke-c" {
				e.memory.rows["smoke-c"] = row
				return
			}
		}
		if row := e.memory.rows["smoke-c"]; row != nil {
			e.out["result"] = append(e.rows(), row)
		}
	}},
	{name: "drops all who are there when one leaves", step: "leave", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") && len(e.rows()) == 2 && e.memory.rows["all"] != nil {
			e.out["result"] = []any{}
		}
		if e.is("GET", "/v1/agents") && len(e.rows()) == 3 {
			e.memory.rows["all"] = true
		}
	}},
	{name: "keeps a claim that was released", step: "end", lie: func(e *exchange) {
		if e.is("GET", "/v1/claims") {
			e.out["result"] = append(e.rows(), object{"claim_key": string(smoke.DefaultClaim), "owner_agent_id": "smoke-b"})
		}
	}},
	{name: "keeps a lock in its list", step: "end", lie: func(e *exchange) {
		if e.is("GET", "/v1/locks") {
			e.out["result"] = append(e.rows(), object{"file_path": "smoke/" + string(smoke.DefaultClaim), "agent_id": "smoke-b"})
		}
	}},
}

func sinceOf(e *exchange) float64 {
	n, _ := json.Number(e.r.URL.Query().Get("since_id")).Float64()
	return n
}

// change rewrites the body of a call to path.
func change(r *http.Request, path string, rewrite func(in object)) {
	if r.URL.Path != path || r.Body == nil {
		return
	}
	data, _ := io.ReadAll(r.Body)
	var in object
	if json.Unmarshal(data, &in) == nil {
		rewrite(in)
		data, _ = json.Marshal(in)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
}

type inKey struct{}

// lying puts a proxy in front of a hub.
func lying(t *testing.T, base string, ask func(*http.Request), lie func(*exchange)) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	mem := &memory{rows: map[string]any{}}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if ask != nil {
				ask(r.Out)
			}
			if r.Out.Body != nil {
				data, _ := io.ReadAll(r.Out.Body)
				r.Out.Body = io.NopCloser(bytes.NewReader(data))
				in := object{}
				_ = json.Unmarshal(data, &in)
				r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), inKey{}, in))
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			data, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			e := &exchange{r: resp.Request, status: resp.StatusCode, memory: mem}
			e.in, _ = resp.Request.Context().Value(inKey{}).(object)
			if lie != nil && json.Unmarshal(data, &e.out) == nil {
				mem.Lock()
				lie(e)
				data, err = json.Marshal(e.out)
				mem.Unlock()
			}
			resp.StatusCode, resp.Body, resp.ContentLength = e.status, io.NopCloser(bytes.NewReader(data)), int64(len(data))
			resp.Header.Del("Content-Length")
			return err
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
	return server.URL
}

// TestLiesAreNoticed: each lie by the step that is there for it, and by no other.
// All have one hub behind them: what a failed run leaves does not confuse the next.
func TestLiesAreNoticed(t *testing.T) {
	h := testhub.Start(t)
	for _, liar := range liars {
		t.Run(liar.name, func(t *testing.T) {
			url := lying(t, h.URL, liar.ask, liar.lie)
			noticed, timeout := false, patience
			if liar.late {
				timeout = 5 * time.Second
			}
			for _, e := range play(t, timeout, same(url), smoke.Roles()...) {
				var f *smoke.Failure
				switch {
				case e.err == nil || !errors.As(e.err, &f):
					if e.err != nil {
						t.Errorf("%s: %v", e.role, e.err)
					}
				case strings.Contains(f.Why, "another role has failed"):
				case f.Step == liar.step:
					noticed = true
					t.Log(f)
				case !strings.HasPrefix(f.Why, "waited"):
					t.Errorf("another step than %s noticed: %v", liar.step, f)
				}
			}
			if !noticed {
				t.Errorf("step %s has not noticed", liar.step)
			}
		})
	}
	succeeds(t, play(t, patience, same(h.URL), smoke.Roles()...))
}

// TestHonestProxy: without a lie the proxy changes nothing.
func TestHonestProxy(t *testing.T) {
	succeeds(t, play(t, patience, same(lying(t, testhub.Start(t).URL, nil, func(*exchange) {})), smoke.Roles()...))
}

// TestEveryStepHasALiar: no step is left without proof that it can fail.
func TestEveryStepHasALiar(t *testing.T) {
	for _, step := range smoke.Steps() {
		if !slices.ContainsFunc(liars, func(l liar) bool { return l.step == step }) {
			t.Errorf("no lie for step %s", step)
		}
	}
}

// TestMissingFeaturesAreSkipped: a hub that says that it lacks something is not
// held to it.
func TestMissingFeaturesAreSkipped(t *testing.T) {
	url := lying(t, testhub.Start(t).URL, nil, func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["features"] = []any{}
		}
	})
	for _, e := range play(t, patience, same(url), smoke.Roles()...) {
		if e.err != nil || !strings.Contains(e.out, "11 rollup: skipped: the hub does not list subtask_rollup") ||
			!strings.Contains(e.out, "10 task: skipped: the hub does not list rpc_kinds") || !strings.Contains(e.out, "ok: 14 steps (2 skipped), ") {
			t.Errorf("%s: %v\n%s", e.role, e.err, e.out)
		}
	}
}
