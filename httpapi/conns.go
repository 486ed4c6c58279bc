package httpapi

import (
	"net"
	"net/http"
	"sync"
)

// conns tracks the open connections. A stop uses it to close connections that
// never sent a request, for each of which net/http would wait five seconds, and
// to wait until the last connection has ended.
type conns struct {
	unused sync.Map // set of net.Conn: connections on which no byte of a request has arrived
	open   sync.WaitGroup
}

// changed is the server's ConnState hook. Connections are added by the one
// goroutine that accepts them, which ends before wait is called.
func (c *conns) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.open.Add(1)
		c.unused.Store(conn, nil)
	case http.StateActive:
		c.unused.Delete(conn)
	case http.StateClosed, http.StateHijacked:
		c.unused.Delete(conn)
		c.open.Done()
	}
}

func (c *conns) closeUnused() {
	c.unused.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() // nobody waits for it
		return true
	})
}

func (c *conns) wait() { c.open.Wait() }
