package httpapi

import (
	"net"
	"net/http"
	"sync"
)

// conns knows the open connections, so that a stop can close those that never
// sent a request (net/http would wait five seconds for each) and can wait until
// the last has ended.
type conns struct {
	unused sync.Map // net.Conn → nothing: no byte of a request came yet
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
