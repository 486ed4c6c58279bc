package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// TestParkedCallsGiveTheirTurnsBack: an agent whose calls all wait can still make the call
// that ends their wait.
func TestParkedCallsGiveTheirTurnsBack(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/claims", `{"claim_key":"build","owner_agent_id":"holder"}`)
	var parked sync.WaitGroup
	for i := range 4 {
		parked.Go(func() { c.ok(200, "GET", "/v1/events?agent_id=a&channel=general&timeout=60", "") })
		parked.Go(func() {
			c.ok(201, "POST", "/v1/claims", fmt.Sprintf(`{"claim_key":"build","owner_agent_id":"a","wait_sec":60,"metadata":{"call":%d}}`, i))
		})
	}
	waitParked(t, h, 8)
	began := time.Now()
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"general","body":"wake up"}`)
	c.ok(200, "POST", "/v1/claims/release", `{"claim_key":"build","agent_id":"holder"}`)
	parked.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the calls that waited ended after %v", took)
	}
}

// TestStreamsGiveTheirTurnsBack: a stream has no end, and more of them than there are turns
// do not hold up their agent.
func TestStreamsGiveTheirTurnsBack(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	for range 8 {
		c.stream("agent_id=a&channel=general")
	}
	waitParked(t, h, 8)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"general","body":"hello"}`)
}

// TestCallsThatMayWaitTakeTurns: a call that may wait has a turn while it works. It gives the
// turn back when it waits, and a stream takes one for each of its pages. Calls that name no
// agent share the turns of nobody; the operator's have no bound.
func TestCallsThatMayWaitTakeTurns(t *testing.T) {
	const calls, turns = 40, 8
	for _, kind := range []struct {
		path, header string
		most         int64
	}{
		{path: "/v1/events?agent_id=a&timeout=0.001", most: turns},
		{path: "/v1/stream?agent_id=a", most: turns},
		{path: "/v1/messages?channel=general&timeout=1", most: turns},
		{path: "/v1/log?timeout=1", most: turns},
		{path: "/v1/log?timeout=1", header: "X-Hub-Operator: " + testToken + "\r\n", most: calls},
	} {
		e := startEdge(t, nil)
		var working, most, pages atomic.Int64
		step := make(chan struct{})
		work := func(ctx context.Context, since hub.MessageID) (hub.Page, error) {
			if since >= 3 { // the third page of a stream
				return hub.Page{}, hub.NewError(hub.CodeOverloaded, "the end")
			}
			n := working.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				continue
			}
			pages.Add(1)
			<-step
			working.Add(-1)
			hub.CallerOf(ctx).Waits()
			return hub.Page{NextSinceID: since + 1, Rows: []hub.EncodedMessage{hub.EncodedMessage(`{"id":1}`)}}, nil
		}
		e.events = func(ctx context.Context, q hub.EventsQuery) (hub.Page, error) { return work(ctx, q.Since) }
		e.messages = func(ctx context.Context) (hub.Page, error) { return work(ctx, 0) }
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				k := keep(t, e.addr)
				_, _ = fmt.Fprintf(k, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", kind.path, e.addr, kind.header)
				_, _ = io.Copy(io.Discard, k.in)
			})
		}
		require.Eventually(t, "as many calls work as may", func() bool { return working.Load() == kind.most })
		close(step)
		all.Wait()
		if n := most.Load(); n != kind.most || pages.Load() < calls {
			t.Errorf("%s: %d calls worked at a time, want %d; %d pages", kind.path, n, kind.most, pages.Load())
		}
	}
}

// TestLogOfASessionTakesItsOwnTurn: an agent that has proved its session does not stand in
// line with those that name no agent.
func TestLogOfASessionTakesItsOwnTurn(t *testing.T) {
	e := startEdge(t, nil)
	var working atomic.Int64
	end := make(chan struct{})
	e.messages = func(context.Context) (hub.Page, error) {
		working.Add(1)
		<-end
		return hub.Page{}, nil
	}
	defer close(end)
	for range 9 {
		keep(t, e.addr).ask(t, e.addr, "/v1/log")
	}
	require.Eventually(t, "the turns of nobody are taken", func() bool { return working.Load() == 8 })
	_, err := fmt.Fprintf(keep(t, e.addr), "GET /v1/log HTTP/1.1\r\nHost: %s\r\nX-Hub-Session: s1.secret\r\n\r\n", e.addr)
	require.NoError(t, err)
	require.Eventually(t, "the log of the session is read", func() bool { return working.Load() == 9 })
}

// TestMoreCallsThanTurnsAreAnswered: calls beyond the turns of their agent wait, and none
// is refused or lost.
func TestMoreCallsThanTurnsAreAnswered(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	const calls = 100
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":"a","channel":"general","body":"%d"}`, i))
		})
	}
	all.Wait()
	if rows := c.ok(200, "GET", "/v1/messages?channel=general&agent_id=a&limit=1000", "").rows(); rows != calls {
		t.Errorf("%d messages are there, want %d", rows, calls)
	}
}

// TestUnreadAnswersHoldNoTurn: clients that do not read their answers do not hold up the
// other calls of their agent.
func TestUnreadAnswersHoldNoTurn(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	postMuch(c)
	for range 8 {
		readLittle(t, h, "/v1/events?agent_id=a&channel=general&limit=1000&timeout=0")
	}
	began := time.Now()
	for range 100 { // the first ones may come before the buffers of the connections are full
		c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"general","body":"hello"}`)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the posts waited %v for clients that do not read", took)
	}
}

// TestUnreadAnswersEnd: a client that does not read its answer is ended when the time for
// one answer is over, however long its call was ready to wait.
func TestUnreadAnswersEnd(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.HTTP = func(c *httpapi.Config) { c.WriteTimeout = 300 * time.Millisecond }
	}))
	c := newClient(t, h)
	postMuch(c)
	c.ok(201, "POST", "/v1/channels", `{"name":"short","created_by":"b"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","channel":"short","body":"`+strings.Repeat("x", 60_000)+`"}`)
	for _, channel := range []string{"general", "short"} {
		conn := readLittle(t, h, "/v1/events?agent_id=a&channel="+channel+"&limit=1000&timeout=60")
		require.Eventually(t, "the hub ends the connection", func() bool {
			_, err := conn.Write([]byte("G"))
			return err != nil
		})
	}
}

// TestSlowCallsAreAnswered: a call that takes longer than the time for one answer is answered
// all the same, also with an error and where its handler panics.
func TestSlowCallsAreAnswered(t *testing.T) {
	t.Parallel()
	const slow = 300 * time.Millisecond
	e := startEdge(t, func(c *httpapi.Config) { c.ReadTimeout, c.WriteTimeout = slow/4, slow/4 })
	for _, want := range []struct {
		status int
		err    error
	}{{200, nil}, {503, hub.NewError(hub.CodeOverloaded, "later")}, {500, nil}} {
		e.messages = func(context.Context) (hub.Page, error) {
			time.Sleep(slow) // a slow disk
			if want.status == 500 {
				panic("planned")
			}
			return hub.Page{}, want.err
		}
		answer, _ := e.exchange(t, fmt.Sprintf("GET /v1/log HTTP/1.1\r\nHost: %s\r\n\r\n", e.addr))
		if answer.StatusCode != want.status {
			t.Errorf("status %d, want %d", answer.StatusCode, want.status)
		}
	}
}

// TestUnreadListsShareMemory: lists that nobody takes have a bounded share of memory, and each
// agent has a quarter of it. One that goes beyond it is refused before anything of it is sent.
func TestUnreadListsShareMemory(t *testing.T) {
	const size, lists, agents, most = 7 << 20, 4, 6, 64 << 20
	e := startEdge(t, nil)
	e.decision = strings.Repeat("x", size)
	list := func(agent int) *kept {
		k := keepUnread(t, e)
		k.ask(t, e.addr, fmt.Sprintf("/v1/decisions?agent_id=reader-%d", agent))
		return k
	}
	var unread []*kept
	answered := make([]int, agents)
	for agent := range agents {
		for range lists {
			k := list(agent)
			unread = append(unread, k)
			if k.status(t) == 200 {
				answered[agent]++
			}
		}
	}
	if want := []int{2, 2, 2, 2, 1, 0}; !slices.Equal(answered, want) { // 9 of 7 MiB are less than 64 MiB
		t.Errorf("of %d lists of each agent these were answered: %v, want %v", lists, answered, want)
	}
	for _, k := range unread {
		_ = k.Close()
	}
	require.Eventually(t, "a list is answered again", func() bool {
		k := list(0)
		defer k.Close()
		return k.status(t) == 200
	})
}

// TestOneLongListIsAnswered: an answer that is longer than all memory for answers is given
// where there is no other.
func TestOneLongListIsAnswered(t *testing.T) {
	e := startEdge(t, nil)
	e.decision = strings.Repeat("x", 70<<20)
	k := keepUnread(t, e)
	k.ask(t, e.addr, "/v1/decisions")
	if status := k.status(t); status != 200 {
		t.Errorf("status %d", status)
	}
}

// TestUnreadPostsShareMemory: a call that changes something is answered in any case. Where
// such answers have taken their agent's share, a long one is refused before it changes
// anything. Others are not held up.
func TestUnreadPostsShareMemory(t *testing.T) {
	const size, most = 5 << 20, 16 << 20
	e := startEdge(t, nil)
	var posted atomic.Int64
	e.post = func(_ context.Context, in hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
		posted.Add(1)
		row := `{"id":1,"body":"` + strings.Repeat("x", len(in.Body)/100_000*size) + `"}`
		return hub.Outcome[hub.EncodedMessage]{Row: hub.EncodedMessage(row)}, nil
	}
	post := func(agent string, length int) *kept {
		k := keepUnread(t, e)
		body := `{"from_agent":"` + agent + `","channel":"general","body":"` + strings.Repeat("x", length) + `"}`
		_, err := fmt.Fprintf(k, "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", e.addr, len(body), body)
		require.NoError(t, err)
		return k
	}
	const unread = most/size + 1
	for i := range unread {
		if status := post("a", 100_000).status(t); status != 201 {
			t.Fatalf("post %d: status %d", i, status)
		}
	}
	for _, step := range []struct {
		agent        string
		length, want int
	}{{"a", 100_000, 503}, {"a", 10, 201}, {"b", 100_000, 201}} {
		if status := post(step.agent, step.length).status(t); status != step.want {
			t.Errorf("beside %d unread posts of a, one of %s with %d bytes: status %d, want %d", unread, step.agent, step.length, status, step.want)
		}
	}
	if n := posted.Load(); n != unread+2 {
		t.Errorf("%d posts were made, want %d", n, unread+2)
	}
}

// keepUnread opens a connection whose buffer takes little of an answer.
func keepUnread(t *testing.T, e *edge) *kept {
	t.Helper()
	k := keep(t, e.addr)
	require.NoError(t, k.Conn.(*net.TCPConn).SetReadBuffer(4<<10))
	return k
}

// status reads the first line of an answer, and no more.
func (k *kept) status(t *testing.T) (status int) {
	t.Helper()
	line, err := k.in.ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "HTTP/1.1 %d", &status)
	require.NoError(t, err)
	return status
}

// TestUnsentBodiesEnd: a call that takes no body and announces one that does not come is
// refused when the time for a request is over, also if it is a call that may wait.
func TestUnsentBodiesEnd(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.HTTP = func(c *httpapi.Config) { c.ReadTimeout = 300 * time.Millisecond }
	}))
	addr := strings.TrimPrefix(h.URL, "http://")
	for _, path := range []string{"/v1/events?agent_id=a&timeout=1", "/v1/stream?agent_id=a", "/v1/channels"} {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\nContent-Length: 100\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), "this call takes no body") {
			t.Errorf("%s: %v, answered %.300q", path, err, answer)
		}
		_ = conn.Close()
	}
}

// postMuch posts as much as an answer takes at most, and more.
func postMuch(c *client) {
	body := strings.Repeat("x", 100_000)
	for range 30 {
		c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","channel":"general","body":"`+body+`"}`)
	}
}

// readLittle asks a hundred times for the same and reads no more than the beginning of the
// first answer.
func readLittle(t *testing.T, h *testhub.Hub, path string) net.Conn {
	t.Helper()
	addr := strings.TrimPrefix(h.URL, "http://")
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err = io.WriteString(conn, strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n", 100))
	require.NoError(t, err)
	begin := make([]byte, 100)
	_, err = io.ReadFull(conn, begin)
	require.NoError(t, err)
	if want := "HTTP/1.1 200"; !strings.HasPrefix(string(begin), want) {
		t.Fatalf("the answer begins with %q", begin)
	}
	return conn
}
