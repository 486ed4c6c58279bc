package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// newest is the latest revision of the protocol that the SDK knows.
const newest = "2026-07-28"

// endpointHub starts a hub that serves MCP over HTTP, and returns somebody else at it.
func endpointHub(t *testing.T) (*testhub.Hub, *client.Client) {
	t.Helper()
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		e := NewEndpoint(EndpointConfig{Version: "test", BaseURL: "http://" + c.Listener.Addr().String(), DataRoot: c.DataRoot})
		t.Cleanup(e.Close)
		c.MCP = e
	}))
	other := client.New(client.Config{BaseURL: h.URL, DataRoot: h.DataRoot})
	t.Cleanup(other.Close)
	return h, other
}

// overHTTP connects the SDK's own client.
func overHTTP(t *testing.T, h *testhub.Hub, query string) *rig {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "rig", Version: "1"}, nil)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.URL + api.MCPPath + query, HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return &rig{ClientSession: s, tb: t}
}

// TestEndpointHasTheToolsOfABridge: a client that starts no process is shown the tools that a bridge shows, and works
// with them as its agent.
func TestEndpointHasTheToolsOfABridge(t *testing.T) {
	h, other := endpointHub(t)
	me, bridge := overHTTP(t, h, "?agent=web"), bridgeTo(t, h, nil)
	shown, err := me.ListTools(t.Context(), nil)
	require.NoError(t, err)
	want, err := bridge.ListTools(t.Context(), nil)
	require.NoError(t, err)
	if mustJSON(t, shown.Tools) != mustJSON(t, want.Tools) {
		t.Error("the endpoint shows other tools than a bridge")
	}
	var began started
	if me.must("hub_start", nil, &began); began.AgentID != "web" {
		t.Errorf("it starts as %+v", began)
	}
	if row, err := other.Recipient(t.Context(), "web"); err != nil || row.State != hub.RecipientLive {
		t.Errorf("the agent is %+v, %v", row, err)
	}
	var p posted
	me.must("hub_post_message", args{"body": "from the web", "channel": "general"}, &p)
	enc, err := other.Message(t.Context(), p.ID, "web")
	require.NoError(t, err)
	if row, err := enc.Decode(); err != nil || row.FromAgent != "web" || row.Assurance != hub.AssuranceAsserted {
		t.Errorf("the message is %+v, %v", row, err)
	}
	bridge.must("hub_dm", args{"to_agent": "web", "body": "hello there"}, nil)
	for i, count := range []int{1, 0} {
		var heard polled
		if me.must("hub_poll_messages", args{"timeout_seconds": 0}, &heard); len(heard.Messages) != count {
			t.Errorf("poll %d brings %+v", i+1, heard.Messages)
		}
	}
	if a, err := other.Attention(t.Context(), hub.AttentionQuery{Agent: "web"}); err != nil || a.Unread != 0 {
		t.Errorf("the hub counts %d as unread, %v", a.Unread, err)
	}
}

// TestEndpointAgentAndRoom: the agent stays the one that the address names; a seat and a folder
// hold from one request to the next.
func TestEndpointAgentAndRoom(t *testing.T) {
	h, other := endpointHub(t)
	lead, dir := bridgeTo(t, h, nil), t.TempDir()
	lead.must("hub_whoami", nil, nil)
	code := inviteNamed(t, &rig{hub: other}, "till", "")
	me := overHTTP(t, h, "?agent=web&folder="+dir)
	if said := me.refused("hub_join", args{"code": code, "agent_id": "other"}); !strings.Contains(said, "you are web") {
		t.Errorf("another agent: %s", said)
	}
	if said := me.refused("hub_join", args{"agent_id": "other"}); !strings.Contains(said, "you are web") {
		t.Errorf("another agent: %s", said)
	}
	var in joinOut
	if me.must("hub_join", args{"code": code}, &in); in.AgentID != "web" || in.Room == nil {
		t.Fatalf("it joins as %+v", in)
	}
	var about aboutMe
	if me.must("hub_whoami", nil, &about); about.AgentID != "web" || about.RoomID != in.Room.RoomID {
		t.Errorf("it is %+v", about)
	}
	if said := overHTTP(t, h, "?agent=me").refused("hub_join", args{"code": code}); !strings.Contains(said, "session_conflict") {
		t.Errorf("the agent of a bridge: %s", said)
	}
	var lock granted
	if me.must("hub_lock", args{"file_path": "a.go"}, &lock); !lock.Acquired {
		t.Errorf("the lock is %+v", lock)
	}
	if lead.must("hub_lock", args{"file_path": dir + "/a.go"}, &lock); lock.Acquired || lock.Holder != "web" {
		t.Errorf("the lock of the same file is %+v", lock)
	}
	var w watchCommand
	if me.must("hub_watch", nil, &w); w.Command != "" {
		t.Errorf("it is to run %q", w.Command)
	}
	if said := overHTTP(t, h, "?agent=nowhere").refused("hub_lock", args{"file_path": "a.go"}); !strings.Contains(said, "absolute path") {
		t.Errorf("without a folder: %s", said)
	}
}

// TestEndpointNeedsAnAgent: a client that names none sees the tools, and each tool that acts says how to
// name one.
func TestEndpointNeedsAnAgent(t *testing.T) {
	h, _ := endpointHub(t)
	me := overHTTP(t, h, "")
	if list, err := me.ListTools(t.Context(), nil); err != nil || len(list.Tools) < 5 {
		t.Errorf("%v, %v", list, err)
	}
	me.must("hub_search_tools", args{"query": "lock a file"}, nil)
	for _, name := range []string{"hub_start", "hub_whoami", "hub_poll_messages"} {
		for _, said := range []string{me.refused(name, nil), me.refused("hub_call_tool", args{"name": name})} {
			if !strings.Contains(said, "invalid_agent_id") || !strings.Contains(said, "?agent=") || !strings.Contains(said, api.HeaderAgent) {
				t.Errorf("%s: %s", name, said)
			}
		}
	}
	me.refused("hub_join", args{"code": "7KQ2-M9XD"})
}

// rawCall is a request as no SDK writes it.
type rawCall struct {
	method, query, body string
	header              http.Header
}

func (c rawCall) send(t *testing.T, h *testhub.Hub) (status int, header http.Header, body string) {
	t.Helper()
	method := c.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, h.URL+api.MCPPath+c.query, strings.NewReader(c.body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for name, values := range c.header {
		if req.Header[name] = values; name == "Host" {
			req.Host = values[0]
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, string(b)
}

const whoAmI = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hub_whoami","arguments":{}}}`

// modern is the same call in the newest revision.
const modern = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hub_whoami","arguments":{},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// TestEndpointRequestsStandAlone: one POST without anything before it is answered, in each revision of the
// protocol and in the form that the client takes, and leaves no session.
func TestEndpointRequestsStandAlone(t *testing.T) {
	h, _ := endpointHub(t)
	version := func(v string) http.Header { return http.Header{"Mcp-Protocol-Version": {v}} }
	latest := http.Header{"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hub_whoami"}}
	if known := sdk.SupportedProtocolVersions(); !slices.Contains(known, newest) || slices.Max(known) != newest {
		t.Fatalf("the SDK knows %v", known)
	}
	for _, c := range []rawCall{
		{body: whoAmI},
		{body: whoAmI, header: version("2025-03-26")},
		{body: whoAmI, header: version("2025-06-18")},
		{body: whoAmI, header: version("2025-11-25")},
		{body: modern, header: latest},
		{body: whoAmI, header: http.Header{"Accept": {"application/json"}}},
		{body: whoAmI, header: http.Header{"Accept": {"*/*"}}},
		{body: whoAmI, header: http.Header{"Accept": {"text/event-stream"}}},
		{body: "[" + whoAmI + "]", header: version("2025-03-26")},
	} {
		for _, named := range []rawCall{{query: "?agent=web"}, {header: http.Header{api.HeaderAgent: {"web"}}}} {
			c.query = named.query
			header := c.header.Clone()
			if header == nil {
				header = http.Header{}
			}
			header["X-Hub-Agent"] = named.header[api.HeaderAgent]
			if named.header == nil {
				delete(header, "X-Hub-Agent")
			}
			status, got, body := rawCall{query: c.query, body: c.body, header: header}.send(t, h)
			if status != 200 || !strings.Contains(body, `"id":7`) || !strings.Contains(body, `"agent_id":"web"`) || got.Get("Mcp-Session-Id") != "" {
				t.Errorf("%v: %d %v %s", c, status, got, body)
			}
			if want := c.header.Get("Accept") == "text/event-stream"; strings.HasPrefix(got.Get("Content-Type"), "text/event-stream") != want {
				t.Errorf("%v is answered as %s", c, got.Get("Content-Type"))
			}
		}
	}
	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	if status, got, body := (rawCall{body: begin}).send(t, h); status != 200 || got.Get("Mcp-Session-Id") != "" || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("initialize: %d %v %s", status, got, body)
	}
	if status, _, body := (rawCall{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}).send(t, h); status != http.StatusAccepted || body != "" {
		t.Errorf("a notification: %d %s", status, body)
	}
}

// TestEndpointKnowsNoSubAgents: a client over HTTP is one agent, even if it names itself and its
// calls as Claude Code does and a hook has said who calls.
func TestEndpointKnowsNoSubAgents(t *testing.T) {
	h, other := endpointHub(t)
	sessions := identity.SessionsOf(h.DataRoot)
	require.NoError(t, sessions.NoteCall("toolu_1", identity.Caller{SubAgent: "helper1"}))
	body := strings.NewReplacer(`"name":"raw"`, `"name":"claude-code"`, `"_meta":{`, `"_meta":{"claudecode/toolUseId":"toolu_1",`).Replace(modern)
	header := http.Header{"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hub_whoami"}}
	if status, _, said := (rawCall{query: "?agent=web", body: body, header: header}).send(t, h); status != 200 || !strings.Contains(said, `"agent_id":"web"`) {
		t.Errorf("%d %s", status, said)
	}
	live, _, err := other.Agents(t.Context(), hub.AgentsQuery{Prefix: "web"})
	require.NoError(t, err)
	if len(live) != 1 || live[0].Harness() != hub.HarnessClaudeCode {
		t.Errorf("there are %+v", live)
	}
	if by, ok := sessions.TakeCall("toolu_1"); !ok || by.SubAgent != "helper1" {
		t.Errorf("the note of the hook says %+v, %v", by, ok)
	}
}

// TestEndpointRefusesInWords: what is no call is answered with the status that the protocol wants and an error of
// JSON-RPC, or by the hub's guard in its envelope.
func TestEndpointRefusesInWords(t *testing.T) {
	h, _ := endpointHub(t)
	head := func(name, value string) http.Header { return http.Header{name: {value}} }
	for name, c := range map[string]struct {
		call   rawCall
		status int
		word   string
	}{
		"GET":             {rawCall{method: "GET"}, 405, "Method Not Allowed"},
		"DELETE":          {rawCall{method: "DELETE"}, 405, "Method Not Allowed"},
		"PUT":             {rawCall{method: "PUT", body: whoAmI}, 405, "Method Not Allowed"},
		"no body":         {rawCall{}, 400, "no JSON"},
		"no JSON":         {rawCall{body: "{"}, 400, "no JSON"},
		"no message":      {rawCall{body: "7"}, 400, "payload"},
		"a null":          {rawCall{body: "null"}, 400, ""},
		"an empty batch":  {rawCall{body: "[]"}, 400, ""},
		"unknown method":  {rawCall{body: `{"jsonrpc":"2.0","id":1,"method":"tools/fly"}`}, 400, "tools/fly"},
		"form":            {rawCall{body: whoAmI, header: head("Content-Type", "text/plain")}, 415, "application/json"},
		"accepts HTML":    {rawCall{body: whoAmI, header: head("Accept", "text/html")}, 406, "Accept"},
		"old version":     {rawCall{body: whoAmI, header: head("Mcp-Protocol-Version", "1999-01-01")}, 400, "known are"},
		"batch":           {rawCall{body: "[" + whoAmI + "]", header: head("Mcp-Protocol-Version", "2025-06-18")}, 400, "batch"},
		"newer version":   {rawCall{body: whoAmI, header: head("Mcp-Protocol-Version", "9999-99-99")}, 400, "known are"},
		"word as version": {rawCall{body: whoAmI, header: head("Mcp-Protocol-Version", "abc")}, 400, "known are"},
		"large batch":     {rawCall{body: "[" + strings.Repeat(whoAmI+",", maxBatch) + whoAmI + "]"}, 400, "more than 50 messages"},
		"watcher":         {rawCall{body: whoAmI, query: "?agent=web.watch"}, 403, "name of watches"},
		"slip":            {rawCall{body: whoAmI, query: "?agnet=web"}, 400, "did you mean agent?"},
		"another slip":    {rawCall{body: whoAmI, query: "?agent=web&folders=/srv"}, 400, "did you mean folder?"},
		"no parameter":    {rawCall{body: whoAmI, query: "?agent=web&colour=red"}, 400, "takes agent and folder"},
		"relative folder": {rawCall{body: whoAmI, query: "?agent=web&folder=src"}, 400, "no absolute path"},
		"two agents":      {rawCall{body: whoAmI, query: "?agent=a", header: head("X-Hub-Agent", "b")}, 400, "two agents"},
		"agent twice":     {rawCall{body: whoAmI, query: "?agent=a&agent=b"}, 400, "agent"},
		"no agent id":     {rawCall{body: whoAmI, query: "?agent=a%20b"}, 400, "letters, digits"},
		"reserved":        {rawCall{body: whoAmI, query: "?agent=operator"}, 403, "reserved"},
		"foreign page":    {rawCall{body: whoAmI, header: head("Origin", "https://evil.example")}, 403, "forbidden_origin"},
		"null page":       {rawCall{body: whoAmI, header: head("Origin", "null")}, 403, "forbidden_origin"},
		"cross site":      {rawCall{body: whoAmI, header: head("Sec-Fetch-Site", "cross-site")}, 403, "forbidden_origin"},
		"rebound":         {rawCall{body: whoAmI, header: head("Host", "evil.example")}, 403, "forbidden_host"},
		"operator":        {rawCall{body: whoAmI, header: head("X-Hub-Operator", h.Store.OperatorToken())}, 403, "operator"},
		"relay":           {rawCall{body: whoAmI, header: head("X-Hub-Relay", "a")}, 403, "spool"},
		"another store":   {rawCall{body: whoAmI, header: head("X-Hub-Instance", "other")}, 409, "store_changed"},
		"compressed":      {rawCall{body: whoAmI, header: head("Content-Encoding", "gzip")}, 415, "compressed"},
		"too large":       {rawCall{body: strings.Repeat(" ", api.MCPBodyCap+1)}, 413, "too large"},
		"headers lie":     {rawCall{body: modern, header: http.Header{"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/list"}}}, 400, "ethod"},
		"no such version": {rawCall{body: strings.ReplaceAll(modern, newest, "2999-01-01"), header: http.Header{"Mcp-Protocol-Version": {"2999-01-01"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hub_whoami"}}}, 400, "2999-01-01"},
	} {
		status, header, body := c.call.send(t, h)
		var e struct {
			JSONRPC string `json:"jsonrpc"`
			Error   any    `json:"error"`
		}
		err := json.Unmarshal([]byte(body), &e)
		if status != c.status || !strings.Contains(body, c.word) || err != nil || e.Error == nil || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %s %q, want %d with %q", name, status, header.Get("Content-Type"), body, c.status, c.word)
		}
		if status == 405 && header.Get("Allow") != "POST" {
			t.Errorf("%s allows %q", name, header.Get("Allow"))
		}
	}
}

// TestEndpointSessions: a session that the request proves is proved in its calls, and one that is
// no session, or another agent's, is refused.
func TestEndpointSessions(t *testing.T) {
	h, other := endpointHub(t)
	row, err := other.Register(t.Context(), hub.RegisterInput{AgentID: "web"})
	require.NoError(t, err)
	post := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hub_post_message","arguments":{"body":"proved","channel":"general","verbose":true}}}`
	call := func(agent string, session hub.SessionID) string {
		_, _, body := rawCall{query: "?agent=" + agent, body: post, header: http.Header{api.HeaderSession: {string(session)}}}.send(t, h)
		return body
	}
	var got struct {
		Result struct {
			StructuredContent posted `json:"structuredContent"`
		}
	}
	body := call("web", row.Row.SessionID)
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Result.StructuredContent.ID == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	enc, err := other.Message(t.Context(), got.Result.StructuredContent.ID, "web")
	require.NoError(t, err)
	if m, err := enc.Decode(); err != nil || m.Assurance != hub.AssuranceSession {
		t.Errorf("the message is %+v, %v", m, err)
	}
	wayOut := "takes the header " + api.HeaderSession + " out of the settings"
	if body := call("web", "s_none.secret"); !strings.Contains(body, "session_invalid") || !strings.Contains(body, wayOut) {
		t.Errorf("no session: %s", body)
	}
	if body := call("eve", row.Row.SessionID); !strings.Contains(body, "agent_mismatch") || !strings.Contains(body, wayOut) {
		t.Errorf("the session of another: %s", body)
	}
	_, err = other.AsOperator().EndSession(t.Context(), "web", hub.SessionEndInput{Reason: "stop now"})
	require.NoError(t, err)
	if body := call("web", row.Row.SessionID); !strings.Contains(body, "session_ended") || !strings.Contains(body, "stop now") || !strings.Contains(body, wayOut) {
		t.Errorf("a session that the operator has ended: %s", body)
	}
}

// TestEndpointUnknownVersionsCanBeNegotiated: the refusal of a version names those that are known for programs too,
// and answers the request by its id.
func TestEndpointUnknownVersionsCanBeNegotiated(t *testing.T) {
	h, _ := endpointHub(t)
	_, _, body := rawCall{body: whoAmI, header: http.Header{"Mcp-Protocol-Version": {"9999-99-99"}}}.send(t, h)
	var e struct {
		ID    int
		Error struct {
			Code int64
			Data sdk.UnsupportedProtocolVersionData
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.ID != 7 || e.Error.Code != sdk.CodeUnsupportedProtocolVersion ||
		!slices.Contains(e.Error.Data.Supported, newest) || e.Error.Data.Requested != "9999-99-99" {
		t.Errorf("%v: %s", err, body)
	}
}

// TestEndpointBatchesAreBounded: a batch that is too large runs nothing, and the calls of one that is not ask the
// hub one after the other.
func TestEndpointBatchesAreBounded(t *testing.T) {
	h, other := endpointHub(t)
	poll := func(id int, seconds string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hub_poll_messages","arguments":{"thread_id":"t-%d","timeout_seconds":%s}}}`, id, id, seconds)
	}
	var large []string
	for i := range maxBatch + 1 {
		large = append(large, poll(i+1, "0"))
	}
	if status, _, body := (rawCall{query: "?agent=web", body: " [" + strings.Join(large, ",") + "]"}).send(t, h); status != 400 {
		t.Errorf("%d messages: %d %s", len(large), status, body)
	}
	if row, err := other.Recipient(t.Context(), "web"); err != nil || row.State != hub.RecipientNeverRegistered {
		t.Errorf("a call of the refused batch has run: %+v, %v", row, err)
	}
	status, _, body := rawCall{query: "?agent=web", body: "[" + strings.Join(large[1:], ",") + "]"}.send(t, h)
	if got := strings.Count(body, `"jsonrpc"`); status != 200 || got != maxBatch || strings.Contains(body, `"isError":true`) {
		t.Errorf("%d messages: %d with %d answers: %s", maxBatch, status, got, body)
	}
	done, most := make(chan struct{}), 0
	go func() {
		defer close(done)
		rawCall{query: "?agent=web", body: "[" + poll(1, "1") + "," + poll(2, "1") + "," + poll(3, "1") + "]"}.send(t, h)
	}()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		default:
			most = max(most, parked(t, other))
		}
	}
	if most != 1 {
		t.Errorf("%d calls of one batch wait at the hub at a time", most)
	}
}

// TestEndpointJoinDisplacesNobodyInVain: a code that leads nowhere leaves the live session of the agent alone.
func TestEndpointJoinDisplacesNobodyInVain(t *testing.T) {
	h, other := endpointHub(t)
	row, err := other.Register(t.Context(), hub.RegisterInput{AgentID: "web"})
	require.NoError(t, err)
	proved := other.As("web", row.Row.SessionID)
	lead := bridgeTo(t, h, nil)
	lead.must("hub_whoami", nil, nil)
	code := inviteNamed(t, &rig{hub: other}, "till", "")
	_, err = other.AsOperator().RevokeInvite(t.Context(), code)
	require.NoError(t, err)
	me := overHTTP(t, h, "?agent=web")
	for code, want := range map[string]hub.Code{"AAAA-BBBB": hub.CodeInviteNotFound, code: hub.CodeInviteRevoked} {
		if said := me.refused("hub_join", args{"code": code}); !strings.HasPrefix(said, string(want)) {
			t.Errorf("%s: %s", code, said)
		}
		if _, err := proved.Post(t.Context(), hub.PostInput{FromAgent: "web", Channel: "general", Body: "still here"}); err != nil {
			t.Errorf("%s: the session of the agent is refused: %v", code, err)
		}
	}
}

// TestEndpointRefusesTwins: an id that differs from a known one in case alone is nobody.
func TestEndpointRefusesTwins(t *testing.T) {
	h, other := endpointHub(t)
	_, err := other.Register(t.Context(), hub.RegisterInput{AgentID: "alice"})
	require.NoError(t, err)
	me := overHTTP(t, h, "?agent=AliCe")
	for range 2 {
		if said := me.refused("hub_whoami", nil); !strings.Contains(said, "in case alone") || !strings.Contains(said, "use alice") || !strings.Contains(said, `"agent_id":"alice"`) {
			t.Errorf("a twin: %s", said)
		}
	}
	overHTTP(t, h, "?agent=alice").must("hub_whoami", nil, nil)
}

// TestEndpointTellsWhoIsEnded: an agent whose session the operator has ended is told why, and comes back
// only if it asks to, as in a bridge.
func TestEndpointTellsWhoIsEnded(t *testing.T) {
	h, other := endpointHub(t)
	me := overHTTP(t, h, "?agent=web")
	me.must("hub_whoami", nil, nil)
	_, err := other.AsOperator().EndSession(t.Context(), "web", hub.SessionEndInput{Reason: "stop now"})
	require.NoError(t, err)
	for range 2 {
		if said := me.refused("hub_poll_messages", args{"timeout_seconds": 0}); !strings.HasPrefix(said, "session_ended") || !strings.Contains(said, "stop now") || !strings.Contains(said, "hub_join") {
			t.Errorf("after the end: %s", said)
		}
	}
	if row, err := other.Recipient(t.Context(), "web"); err != nil || row.Reachable {
		t.Errorf("the agent has come back: %+v, %v", row, err)
	}
	me.must("hub_join", args{"agent_id": "web"}, nil)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
}

// TestEndpointSaysThatTheHubStops: a call that waits is told so.
func TestEndpointSaysThatTheHubStops(t *testing.T) {
	h, other := endpointHub(t)
	type answered struct {
		status int
		body   string
	}
	answer := make(chan answered, 1)
	go func() {
		status, _, body := rawCall{query: "?agent=web", body: strings.Replace(whoAmI, `"hub_whoami","arguments":{}`, `"hub_poll_messages","arguments":{}`, 1)}.send(t, h)
		answer <- answered{status, body}
	}()
	require.Eventually(t, "the call does not wait", func() bool { return parked(t, other) == 1 })
	require.NoError(t, h.Stop())
	if got := <-answer; got.status != 200 || !strings.Contains(got.body, `"isError":true`) || !strings.Contains(got.body, "stopping: ") || !strings.Contains(got.body, `"id":7`) {
		t.Errorf("%d %q", got.status, got.body)
	}
}

// TestEndpointIsNeverTheOperator: its client refuses what only the operator may, although the hub's secret lies in
// files that this process could read.
func TestEndpointIsNeverTheOperator(t *testing.T) {
	h, other := endpointHub(t)
	e := NewEndpoint(EndpointConfig{Version: "test", BaseURL: h.URL, DataRoot: h.DataRoot})
	defer e.Close()
	if _, err := other.Recipient(t.Context(), "web"); err != nil {
		t.Fatalf("the operator: %v", err)
	}
	for _, c := range []*client.Client{e.hub, e.hub.As("web", ""), e.hub.AsOperator()} {
		if _, err := c.Recipient(t.Context(), "web"); !errors.Is(err, &hub.Error{Code: hub.CodeOperatorRequired}) {
			t.Errorf("a call of the operator: %v", err)
		}
	}
}

// parked returns how many polls wait at the hub.
func parked(t *testing.T, c *client.Client) int {
	t.Helper()
	status, err := c.AsOperator().AppStatus(t.Context())
	require.NoError(t, err)
	return status.Counts.ParkedPolls
}

// TestEndpointWaitsEndWithTheClient: a call that waits ends when its client goes, in each revision of the
// protocol, and one with a progress token hears that it goes on.
func TestEndpointWaitsEndWithTheClient(t *testing.T) {
	h, other := endpointHub(t)
	for _, c := range []rawCall{
		{body: strings.Replace(whoAmI, `"hub_whoami","arguments":{}`, `"hub_poll_messages","arguments":{}`, 1)},
		{body: strings.Replace(modern, `"hub_whoami"`, `"hub_poll_messages"`, 1), header: http.Header{"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hub_poll_messages"}}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+api.MCPPath+"?agent=web", bytes.NewBufferString(c.body))
		require.NoError(t, err)
		req.Header = c.header.Clone()
		if req.Header == nil {
			req.Header = http.Header{}
		}
		req.Header.Set("Content-Type", "application/json")
		ended := make(chan error, 1)
		go func() {
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			ended <- err
		}()
		require.Eventually(t, "the call does not wait", func() bool { return parked(t, other) == 1 })
		cancel()
		if err := <-ended; err == nil {
			t.Error("the call has an answer")
		}
		require.Eventually(t, "the call still waits", func() bool { return parked(t, other) == 0 })
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestEndpointAnswersAWait: a message ends a poll that waits, and its answer is a stream for a
// client that wants progress.
func TestEndpointAnswersAWait(t *testing.T) {
	h, other := endpointHub(t)
	call := rawCall{
		query: "?agent=web", header: http.Header{"Accept": {"application/json, text/event-stream"}},
		body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"hub_poll_messages","arguments":{}}}`,
	}
	rawCall{query: "?agent=web", body: whoAmI}.send(t, h) // the agent is known
	said := make(chan error, 1)
	go func() {
		for parked(t, other) == 0 {
			pause.For(t.Context(), 10*time.Millisecond)
		}
		_, err := other.Post(t.Context(), hub.PostInput{FromAgent: "other", ToAgent: "web", Body: "wake up"})
		said <- err
	}()
	status, header, body := call.send(t, h)
	if status != 200 || header.Get("Content-Type") != "text/event-stream" || !strings.Contains(body, "wake up") || !strings.Contains(body, fmt.Sprintf(`"id":%d`, 7)) {
		t.Errorf("%d %v %s", status, header, body)
	}
	if err := <-said; err != nil {
		t.Error(err)
	}
}
