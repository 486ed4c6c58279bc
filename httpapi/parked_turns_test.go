package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/httpapi"
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
