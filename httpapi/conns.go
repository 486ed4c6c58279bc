package httpapi

import (
	queue "container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// quietFor is how long a connection may take to send the first byte of its first request
// before it gives way to others.
const quietFor = 250 * time.Millisecond

// conns tracks the open connections. A stop uses it to close connections that
// never sent a request, for each of which net/http would wait five seconds, and
// to wait until the last connection has ended. Where there are as many as may be,
// those that carry no request give way to new ones.
type conns struct {
	open sync.WaitGroup

	mu     sync.Mutex
	unused restingConns // on which no byte of a request has arrived
	idle   restingConns // between two requests
}

// restingConns are connections that carry no request, those first that have rested longest.
type restingConns struct {
	order queue.List // of *boundedConn
}

func (r *restingConns) add(conn *boundedConn) {
	conn.since = time.Now()
	conn.place, conn.among = r.order.PushBack(conn), r
}

// leave takes a connection out of those among which it rests, if it rests.
func (c *boundedConn) leave() {
	if c.among != nil {
		c.among.order.Remove(c.place)
		c.place, c.among = nil, nil
	}
}

// first returns the connection that has rested longest, if that is for at least d.
func (r *restingConns) first(d time.Duration) (*boundedConn, bool) {
	e := r.order.Front()
	if e == nil {
		return nil, false
	}
	conn := e.Value.(*boundedConn)
	return conn, time.Since(conn.since) >= d
}

// changed is the server's ConnState hook. It gets the connections of a boundedListener.
// They are added by the one goroutine that accepts them, which ends before wait is called.
func (c *conns) changed(accepted net.Conn, state http.ConnState) {
	conn := accepted.(*boundedConn)
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.leave()
	switch state {
	case http.StateNew:
		c.open.Add(1)
		c.unused.add(conn)
	case http.StateIdle:
		c.idle.add(conn)
	case http.StateActive:
	case http.StateClosed, http.StateHijacked:
		c.open.Done()
	}
}

func (c *conns) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.unused.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*boundedConn).Close() // nobody waits for it
	}
}

// makeRoom closes the connection that has been idle longest or, if none is, the one that has
// waited longest for its first byte. It reports whether there was one. A client that sends a
// request just then sees the connection end, as it does when an idle one has been open for too
// long.
func (c *conns) makeRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, ok := c.idle.first(0)
	if !ok {
		conn, ok = c.unused.first(quietFor)
	}
	if ok {
		conn.leave()
		_ = conn.Close() // the server notices it
	}
	return ok
}

func (c *conns) wait() { c.open.Wait() }

// boundedListener accepts connections of which at most cap(permits) are handed out at a time.
// One more is held meanwhile, until another one ends.
type boundedListener struct {
	net.Listener
	permits  chan struct{}
	makeRoom func() bool
	closed   chan struct{}
	close    func() error
}

func bound(l net.Listener, most int, makeRoom func() bool) *boundedListener {
	closed := make(chan struct{})
	return &boundedListener{
		Listener: l, permits: make(chan struct{}, most), makeRoom: makeRoom, closed: closed,
		close: sync.OnceValue(func() error {
			close(closed)
			return l.Close()
		}),
	}
}

// Close implements net.Listener.
func (l *boundedListener) Close() error { return l.close() }

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.permit() {
		_ = conn.Close() // the listener is closed
		return nil, net.ErrClosed
	}
	return &boundedConn{Conn: conn, release: sync.OnceFunc(func() { <-l.permits })}, nil
}

// permit waits until there is room for a connection; false: the listener was closed.
func (l *boundedListener) permit() bool {
	select {
	case l.permits <- struct{}{}:
		return true
	default:
	}
	again := time.NewTicker(quietFor / 5)
	defer again.Stop()
	for {
		l.makeRoom()
		select {
		case l.permits <- struct{}{}:
			return true
		case <-l.closed:
			return false
		case <-again.C:
		}
	}
}

// boundedConn gives its permit back when it is closed.
type boundedConn struct {
	net.Conn
	release func()

	// Guarded by conns.mu. The connection itself knows its place, since every request
	// changes it twice.
	among *restingConns // nil: it carries a request
	place *queue.Element
	since time.Time // when it began to rest
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
