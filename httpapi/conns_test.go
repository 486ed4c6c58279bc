package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
)

// kept is a connection that stays open between requests.
type kept struct {
	net.Conn
	in *bufio.Reader
}

func keep(t *testing.T, addr string) *kept {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(45*time.Second)))
	return &kept{conn, bufio.NewReader(conn)}
}

func (k *kept) ask(t *testing.T, addr, path string) {
	t.Helper()
	_, err := fmt.Fprintf(k, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, addr)
	require.NoError(t, err)
}

func (k *kept) answered(t *testing.T) int {
	t.Helper()
	resp, err := http.ReadResponse(k.in, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	return resp.StatusCode
}

// TestIdleConnectionsGiveWay: a client that holds all connections and asks nothing keeps nobody
// out. A connection with a request is never taken.
func TestIdleConnectionsGiveWay(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) { c.MaxConnections = 4 })
	began, release := make(chan struct{}), make(chan struct{})
	e.events = func(ctx context.Context, _ hub.EventsQuery) (hub.Page, error) {
		close(began)
		<-release
		return hub.Page{}, nil
	}
	parked := keep(t, e.addr)
	parked.ask(t, e.addr, "/healthz") // it has been idle for the longest time, and is no longer
	parked.answered(t)
	parked.ask(t, e.addr, "/v1/events?agent_id=agent-2")
	<-began
	var idle []*kept
	for range 3 {
		k := keep(t, e.addr)
		k.ask(t, e.addr, "/healthz")
		if status := k.answered(t); status != 200 {
			t.Fatalf("status %d", status)
		}
		idle = append(idle, k)
	}
	for range 20 {
		next := keep(t, e.addr) // it stays, and asks nothing more
		next.ask(t, e.addr, "/healthz")
		if status := next.answered(t); status != 200 {
			t.Fatalf("status %d", status)
		}
	}
	for i, k := range idle {
		if _, err := k.in.ReadByte(); err == nil {
			t.Errorf("idle connection %d has not given way", i)
		}
	}
	close(release)
	if status := parked.answered(t); status != 200 {
		t.Errorf("the poll that was parked: status %d", status)
	}
}

// TestSilentConnectionsGiveWay: one that has sent nothing gives way, too.
func TestSilentConnectionsGiveWay(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) { c.MaxConnections, c.ReadHeaderTimeout = 2, time.Minute })
	keep(t, e.addr)
	keep(t, e.addr)
	k := keep(t, e.addr)
	k.ask(t, e.addr, "/healthz")
	if status := k.answered(t); status != 200 {
		t.Errorf("status %d", status)
	}
}

// TestUnsentBodiesGiveWay: requests whose bodies do not come keep nobody out, and neither do
// bodies that come byte by byte. Whether the call is refused before its body is read makes no
// difference.
func TestUnsentBodiesGiveWay(t *testing.T) {
	const unsent = "Content-Length: 100000\r\n\r\n{"
	for name, request := range map[string]string{
		"a call":              "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n" + unsent,
		"a type":              "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Type: text/plain\r\n" + unsent,
		"a path":              "POST /nowhere HTTP/1.1\r\nHost: %s\r\n" + unsent,
		"a host":              "POST /v1/messages HTTP/1.1\r\nHost: not-%s\r\n" + unsent,
		"the operator":        "POST /v1/shutdown HTTP/1.1\r\nHost: %s\r\n" + unsent,
		"a page":              "GET / HTTP/1.1\r\nHost: %s\r\n" + unsent,
		"a read":              "GET /v1/channels HTTP/1.1\r\nHost: %s\r\n" + unsent + strings.Repeat("x", 5000),
		"a read in parts":     "GET /v1/channels HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n",
		"one that asks first": "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n" + unsent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEdge(t, func(c *httpapi.Config) { c.MaxConnections, c.ReadTimeout = 2, time.Minute })
			var sends sync.WaitGroup
			defer sends.Wait()
			for range 2 {
				slow := keep(t, e.addr)
				defer slow.Close()
				_, err := fmt.Fprintf(slow, request, e.addr)
				require.NoError(t, err)
				sends.Go(func() {
					for range 30 {
						time.Sleep(100 * time.Millisecond)
						if _, err := slow.Write([]byte(" ")); err != nil {
							return
						}
					}
				})
			}
			k := keep(t, e.addr)
			k.ask(t, e.addr, "/healthz")
			if status := k.answered(t); status != 200 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// TestUnreadPagesGiveWay: a client that asks for page after page and reads none keeps nobody
// out, though each piece that is written is short.
func TestUnreadPagesGiveWay(t *testing.T) {
	t.Parallel()
	e := startEdge(t, func(c *httpapi.Config) { c.MaxConnections, c.WriteTimeout = 2, time.Minute })
	row := hub.EncodedMessage(`{"id":1,"body":"` + strings.Repeat("x", 40_000) + `"}`)
	e.events = func(context.Context, hub.EventsQuery) (hub.Page, error) {
		return hub.Page{Rows: slices.Repeat([]hub.EncodedMessage{row}, 25)}, nil
	}
	for i := range 2 {
		k := keepUnread(t, e)
		for range 40 {
			k.ask(t, e.addr, fmt.Sprintf("/v1/events?agent_id=reader-%d&timeout=0", i))
		}
		if status := k.status(t); status != 200 {
			t.Fatalf("status %d", status)
		}
	}
	k := keep(t, e.addr)
	k.ask(t, e.addr, "/healthz")
	if status := k.answered(t); status != 200 {
		t.Errorf("status %d", status)
	}
}
