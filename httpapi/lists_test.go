package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// listRows is the number of rows that each list has in the test.
const listRows = 5

// pagedLists holds every list by its operation. seed makes its n-th row; query
// selects exactly these rows, with R for a room.
var pagedLists = map[string]struct {
	query string
	seed  func(c *client, room string, n int)
}{
	"listAgents":    {"prefix=l-", posts("/v1/sessions", `{"agent_id":"l-%d"}`)},
	"listArtifacts": {"room_id=R", posts("/v1/artifacts", `{"room_id":"R","title":"t%d","kind":"k","body":""}`)},
	"listAsks":      {"agent_id=ann", posts("/v1/asks", `{"agent_id":"ann","question":"q%d"}`)},
	"listChannels":  {"prefix=l-&created_by=ann", posts("/v1/channels", `{"name":"l-%d","created_by":"ann"}`)},
	"listClaims":    {"prefix=l-", posts("/v1/claims", `{"claim_key":"l-%d","owner_agent_id":"ann"}`)},
	"listDecisions": {"room_id=R", posts("/v1/decisions", `{"room_id":"R","title":"t%d"}`)},
	"listInvites":   {"room=R", posts("/v1/invites", `{"project":"lists","room":"R","role":"r%d"}`)},
	"listLocks":     {"prefix=l/", posts("/v1/locks", `{"file_path":"l/%d","agent_id":"ann"}`)},
	"recall":        {"room_id=R", posts("/v1/memory", `{"room_id":"R","text":"t%d"}`)},
	"listProjects": {"", func(c *client, room string, n int) {
		if n > 0 { // there is one for the room
			posts("/v1/projects", `{"name":"l %d"}`)(c, room, n)
		}
	}},
	"listRooms": {"project=lists", func(c *client, room string, n int) {
		if n > 0 {
			posts("/v1/rooms", `{"project":"lists","name":"name %d","force":true,"force_reason":"a test"}`)(c, room, n)
		}
	}},
	"listRuns":        {"room_id=R", posts("/v1/runs", `{"title":"t%d","room_id":"R"}`)},
	"listSpawns":      {"room_id=R", spawnOne},
	"listTasks":       {"created_by=tom", posts("/v1/messages", `{"from_agent":"tom","kind":"task","body":"t%d"}`)},
	"listUndelivered": {"", posts("/v1/messages", `{"from_agent":"ann","to_agent":"u-%d","body":"x"}`)},
	"listThreads":     {"", posts("/v1/messages", `{"from_agent":"ann","thread_id":"t%d","body":"x"}`)},
}

// posts makes a row with a call whose body has R for the room.
func posts(path, body string) func(*client, string, int) {
	return func(c *client, room string, n int) {
		c.ok(201, "POST", path, strings.ReplaceAll(fmt.Sprintf(body, n), `"R"`, `"`+room+`"`))
	}
}

func spawnOne(c *client, room string, _ int) {
	a := c.ok(201, "POST", "/v1/spawn", fmt.Sprintf(`{"room_id":%q,"harness":"codex","by":"ann","prompt":"x"}`, room))
	endedSpawn(c.t, c, fmt.Sprint(a.row("spawn_id")))
}

// described is what the OpenAPI description says about a read that returns an
// array.
type described struct {
	path                                  string
	cursor, limit, next, since, saysBound bool
}

// arrays reads them from the description that the hub serves.
func arrays(t *testing.T) map[string]described {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(api.OpenAPI(), &doc))
	at := func(v any, path ...string) map[string]any {
		for _, name := range path {
			m, _ := v.(map[string]any)
			if v = m[name]; v == nil {
				return nil
			}
			if ref, _ := v.(map[string]any)["$ref"].(string); ref != "" {
				v = any(doc)
				for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					v = v.(map[string]any)[part]
				}
			}
		}
		m, _ := v.(map[string]any)
		return m
	}
	out := map[string]described{}
	for path := range at(doc, "paths") {
		get := at(doc, "paths", path, "get")
		shape := at(get, "responses", "200", "content", "application/json", "schema", "properties")
		if at(shape, "result")["type"] != "array" {
			continue
		}
		d := described{path: path, next: shape["next_cursor"] != nil, since: shape["next_since_id"] != nil, saysBound: get["x-bounded"] != nil}
		for _, p := range get["parameters"].([]any) {
			name := p.(map[string]any)["name"] // nil: a header that every call may have
			d.cursor, d.limit = d.cursor || name == "cursor", d.limit || name == "limit"
		}
		out[get["operationId"].(string)] = d
	}
	return out
}

// TestEveryArrayPages: an operation that returns an array has a cursor, or is a
// feed, or says why the array stays small enough. Each operation with a cursor
// is tried below.
func TestEveryArrayPages(t *testing.T) {
	found := arrays(t)
	for operation, d := range found {
		pages := d.cursor && d.limit && d.next
		if _, tried := pagedLists[operation]; tried != pages {
			t.Errorf("%s (GET %s): it is described to page: %v; it is tried: %v", operation, d.path, pages, tried)
		}
		if ways := count(pages, d.since, d.saysBound); ways != 1 || !pages && (d.cursor || d.next) {
			t.Errorf("%s (GET %s) is described as %+v: it needs a cursor, or next_since_id, or x-bounded", operation, d.path, d)
		}
	}
	if len(found) < len(pagedLists)+6 {
		t.Errorf("%d reads answer an array", len(found))
	}
}

func count(what ...bool) (n int) {
	for _, yes := range what {
		if yes {
			n++
		}
	}
	return n
}

// TestEveryListPages walks through each list in pages of every size, and tries
// invalid limits and cursors.
func TestEveryListPages(t *testing.T) {
	h := testhub.Start(t, spawning)
	c := newClient(t, h)
	room := newRoom(c, "lists", "Lists")
	c.ok(201, "PUT", "/v1/rooms/"+room+"/binding", fmt.Sprintf(`{"path":%q}`, t.TempDir()))
	allow(c.with(api.HeaderOperator, h.Store.OperatorToken()), room, 0, map[hub.Harness]string{hub.HarnessCodex: "exit 0"})
	paths := arrays(t)
	foreign := map[string]string{} // a cursor of each list
	for _, operation := range slices.Sorted(maps.Keys(pagedLists)) {
		list := pagedLists[operation]
		for n := range listRows {
			list.seed(c, room, n)
		}
		path := paths[operation].path + "?" + strings.ReplaceAll(list.query, "R", room)
		t.Run(operation, func(t *testing.T) {
			reader := &client{t: t, base: c.base, http: c.http}
			if operation == "listUndelivered" { // it is for the operator alone
				reader = reader.with(api.HeaderOperator, h.Store.OperatorToken())
			}
			foreign[operation] = walkPages(t, reader, path)
		})
	}
	for operation, list := range pagedLists {
		path := paths[operation].path + "?" + strings.ReplaceAll(list.query, "R", room)
		for other, cursor := range foreign {
			if other != operation {
				wantCursorRefused(c.with(api.HeaderOperator, h.Store.OperatorToken()), path, cursor)
			}
		}
	}
}

// walkPages checks that a list returns its rows in pages, and returns a cursor
// of it.
func walkPages(t *testing.T, c *client, path string) (cursor string) {
	whole := c.ok(200, "GET", path, "")
	if whole.rows() != listRows || whole.NextCursor != "" {
		t.Fatalf("%d rows, cursor %q: %s", whole.rows(), whole.NextCursor, whole.Result)
	}
	want := rowTexts(t, whole)
	for limit := 1; limit <= listRows+1; limit++ {
		var got []string
		for at := ""; ; {
			a := c.ok(200, "GET", fmt.Sprintf("%s&limit=%d&cursor=%s", path, limit, at), "")
			rows := rowTexts(t, a)
			if got = append(got, rows...); len(rows) != min(limit, listRows-len(got)+len(rows)) {
				t.Errorf("limit %d: a page of %d", limit, len(rows))
			}
			if (a.NextCursor == "") != (len(got) >= listRows) {
				t.Fatalf("limit %d: after %d rows the cursor is %q", limit, len(got), a.NextCursor)
			}
			if at = string(a.NextCursor); at == "" {
				break
			}
			cursor = at
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d gives\n%v, want\n%v", limit, got, want)
		}
	}
	c.ok(200, "GET", path+"&limit=100000", "")
	for _, limit := range []string{"0", "-1", "x", "", "1.5"} {
		c.refused(hub.CodeInvalid, "GET", path+"&limit="+limit, "")
	}
	last := "A"
	if strings.HasSuffix(cursor, last) {
		last = "Q"
	}
	for _, bad := range []string{"0", "AAAAAAAAAAAAAAAA", "l-1", cursor[1:], cursor[:len(cursor)-1], cursor + "A", cursor[:len(cursor)-1] + last} {
		wantCursorRefused(c, path, bad)
	}
	c.refused(hub.CodeInvalid, "GET", path+"&cursor="+cursor+"&cursor="+cursor, "")
	return cursor
}

// rowTexts returns rows as text, without the fields that change by themselves.
func rowTexts(t *testing.T, a answer) []string {
	t.Helper()
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(a.Result, &rows))
	texts := make([]string, len(rows))
	for i, row := range rows {
		delete(row, "expires_at") // computed for each answer
		delete(row, "last_seen")
		texts[i] = fmt.Sprint(row)
	}
	return texts
}

func wantCursorRefused(c *client, path, cursor string) {
	c.t.Helper()
	a := c.refused(hub.CodeInvalid, "GET", path+"&cursor="+url.QueryEscape(cursor), "")
	if a.status != 400 || a.Detail["field"] != "cursor" || !strings.Contains(a.Fix, "without a cursor") {
		c.t.Errorf("GET %s with the cursor %q: %+v", path, cursor, a.Envelope)
	}
}
