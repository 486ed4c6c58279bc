package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testrace"
)

// longThread needs to be escaped in a call that names it.
const longThread = "t & <1>"

// longestAnswer is more than any of these answers may have, in bytes: of a thread 2 MiB of
// messages, and 1 MiB of each of tasks, claims and locks.
const longestAnswer = 5 << 20

// fillLong makes rows of all sorts that are too long for one answer, as JSON escapes each <.
func fillLong(c *client) (room string) {
	room = newRoom(c, "long", "Long")
	long := func(n int) string { return strings.Repeat("<", n) }
	metadata := fmt.Sprintf(`{"thread_id":%q,"x":%q}`, longThread, long(60_000))
	for n := range 6 {
		c.ok(201, "POST", "/v1/sessions", fmt.Sprintf(`{"agent_id":"a-long-%d","metadata":%s}`, n, metadata))
		c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"long %d","note":%q}`, room, n, long(hub.MaxNoteChars)))
	}
	for n := range 3 {
		c.ok(201, "POST", "/v1/sessions", fmt.Sprintf(`{"agent_id":"z-short-%d"}`, n))
		c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"short %d"}`, room, n))
	}
	post := func(rest string) {
		c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":"ann","thread_id":%q,%s}`, longThread, rest))
	}
	post(`"body":"to all"`)
	post(`"to_agent":"bob","kind":"chat","body":"to bob"`)
	for range 20 {
		post(fmt.Sprintf(`"body":%q`, strings.Repeat("x", 120_000)))
	}
	for n, more := range []string{metadata, metadata, metadata, metadata, "{}", "{}"} {
		c.ok(201, "POST", "/v1/claims", fmt.Sprintf(`{"claim_key":"k%d","owner_agent_id":"ann","thread_id":%q,"ttl_sec":3600,"metadata":%s}`, n, longThread, more))
		if n < 4 {
			c.ok(201, "POST", "/v1/locks", fmt.Sprintf(`{"file_path":"f%d","agent_id":"ann","ttl_sec":3600,"metadata":%s}`, n, more))
		}
	}
	return room
}

// TestCutAnswersSayHowToReadOn: an answer with several lists has a bounded length. It says
// which lists lack rows, and the call that it names for each has all of them. Short rows stay.
func TestCutAnswersSayHowToReadOn(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long lists")
	h := testhub.Start(t)
	c := newClient(t, h)
	room := fillLong(unchecked(c))
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	thread := "/v1/threads/" + url.PathEscape(longThread)
	for _, want := range []struct {
		c     *client
		path  string
		lists map[string]int // that lack rows, and how many there are in all
		short string         // is in the answer
	}{
		{c, "/v1/bootstrap?agent_id=z-short-0", map[string]int{"live_agents": 9}, `"agent_id":"z-short-2"`},
		{c, thread + "?agent_id=bob", map[string]int{"messages": 22, "claims": 6, "locks": 4}, `"claim_key":"k4"`},
		{c, thread, map[string]int{"messages": 21, "claims": 6, "locks": 4}, `"claim_key":"k5"`},
		{operator, thread, map[string]int{"messages": 22, "claims": 6, "locks": 4}, `"claim_key":"k4"`},
		{c, "/v1/rooms/" + room + "/status", map[string]int{"decisions": 9}, `"title":"short 2"`},
	} {
		a := want.c.ok(200, "GET", want.path, "")
		if len(a.Result) > longestAnswer {
			t.Errorf("%s answers %d bytes", want.path, len(a.Result))
		}
		if !strings.Contains(string(a.Result), want.short) {
			t.Errorf("%s lacks %s", want.path, want.short)
		}
		var lists map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(a.Result, &lists))
		var more hub.More
		require.NoError(t, json.Unmarshal(lists["more"], &more))
		if got := slices.Sorted(maps.Keys(want.lists)); !slices.Equal(more.Lists(), got) {
			t.Errorf("%s says that %v lack rows, want %v", want.path, more.Lists(), got)
		}
		for name, call := range more {
			shown := answer{Envelope: api.Envelope{Result: lists[name]}}.rows()
			if all := readAll(unchecked(want.c), call); shown < 1 || shown >= all || all != want.lists[name] {
				t.Errorf("%s shows %d %s, and %s has %d, want %d", want.path, shown, name, call, all, want.lists[name])
			}
		}
	}
	if a := c.ok(200, "GET", "/v1/rooms/"+newRoom(c, "long", "Other")+"/status", ""); a.row("more") != nil {
		t.Errorf("an answer that is whole says %s", a.row("more"))
	}
}

// unchecked returns a client that does not compare calls with their description: these are
// long, and that takes long.
func unchecked(c *client) *client {
	plain := *c
	plain.http = http.DefaultClient
	return &plain
}

// readAll counts the rows of a list, which it reads to its end.
func readAll(c *client, call string) (rows int) {
	c.t.Helper()
	path, get := strings.CutPrefix(call, "GET ")
	if !get {
		c.t.Fatalf("%s is no call that reads", call)
	}
	if !strings.Contains(path, "?") {
		path += "?"
	}
	for next := path; ; {
		a := c.ok(200, "GET", next, "")
		rows += a.rows()
		switch {
		case a.NextCursor != "":
			next = path + "&cursor=" + string(a.NextCursor)
		case a.NextSinceID != nil && a.rows() > 0:
			next = fmt.Sprintf("%s&since_id=%d", path, *a.NextSinceID)
		default:
			return rows
		}
	}
}

// crowded is a hub with very many claims, which all have long metadata and a waiter, and with
// one question to the operator, which is its longest row.
type crowded struct {
	*edge
	atEnd func()
}

const (
	crowd    = 5000
	crowdRow = 50
)

func (crowded) Agents(context.Context, hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	return crowdOf(hub.LiveAgent{}, func(a *hub.LiveAgent, n int) {
		a.AgentID, a.Metadata = hub.AgentID(fmt.Sprint("a", n)), crowdMetadata()
	})
}

func (c crowded) Claims(_ context.Context, q hub.LeasesQuery) (rows []hub.Claim, next hub.Cursor, err error) {
	begin := 0
	_, _ = fmt.Sscan(string(q.Cursor), &begin)
	for n := begin; n < begin+crowdRow; n++ {
		rows = append(rows, hub.Claim{
			ClaimKey: hub.ClaimKey(fmt.Sprint(n, strings.Repeat("<", hub.MaxNameChars))), OwnerAgentID: "owner", Metadata: crowdMetadata(),
			Waiters: []hub.LeaseWaiter{{AgentID: hub.AgentID(fmt.Sprint("waiter", n))}},
		})
	}
	if begin+crowdRow < crowd {
		return rows, hub.Cursor(fmt.Sprint(begin + crowdRow)), nil
	}
	c.atEnd()
	return rows, "", nil
}

func crowdMetadata() json.RawMessage {
	return json.RawMessage(`{"x":"` + strings.Repeat("x", hub.MaxMetadataBytes-8) + `"}`)
}

func crowdOf[Row any](row Row, set func(*Row, int)) (rows []Row, next hub.Cursor, err error) {
	for n := range crowdRow {
		set(&row, n)
		rows = append(rows, row)
	}
	return rows, "", nil
}

func (crowded) Projects(context.Context, hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error) {
	return nil, "", nil
}

func (crowded) Rooms(context.Context, hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	return nil, "", nil
}

func (crowded) Tasks(context.Context, hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	return nil, "", nil
}

func (crowded) Locks(context.Context, hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error) {
	return crowdOf(hub.Lock{}, func(l *hub.Lock, n int) { l.FilePath, l.Metadata = fmt.Sprint(n), crowdMetadata() })
}

func (crowded) Asks(context.Context, hub.AsksQuery) ([]hub.Ask, hub.Cursor, error) {
	return []hub.Ask{{AskID: "ask_1", State: hub.AskOpen, AgentID: "asker", Question: strings.Repeat("<", hub.MaxAskChars)}}, "", nil
}
func (crowded) Pauses(context.Context) ([]hub.Pause, error) { return nil, nil }
func (crowded) Mutes(context.Context) ([]hub.Mute, error)   { return nil, nil }
func (crowded) Loops(context.Context) ([]hub.Loop, error)   { return nil, nil }

// TestOverviewOfACrowdIsBounded: an overview of thousands of long rows keeps none of their
// metadata while it looks, and its answer is bounded and says what it lacks. The question to the
// operator stays, though it is the longest row.
func TestOverviewOfACrowdIsBounded(t *testing.T) {
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, within := live(), uint64(0)
	e := startEdge(t, nil)
	e = startEdge(t, func(c *httpapi.Config) { c.Service = crowded{e, func() { within = live() }} })
	_, body := e.get(t, "/v1/overview", api.HeaderOperator+": "+testToken)
	if kept := int64(within) - int64(before); kept > 64<<20 {
		t.Errorf("it keeps %d MiB while it looks", kept>>20)
	}
	var a struct{ Result hub.Overview }
	require.NoError(t, json.Unmarshal(body, &a))
	if n := len(a.Result.Waits); len(body) > 2<<20 || n == 0 || n >= crowd || !slices.Equal(a.Result.More.Lists(), []string{"trouble", "waits"}) {
		t.Errorf("the answer has %d bytes and %d waits, and of more %v", len(body), n, a.Result.More)
	}
	if first := a.Result.Waits[0]; first.Waiter != "asker" || first.For != hub.AgentOperator {
		t.Errorf("the question to the operator is not first: %+v", first)
	}
}
