package httpapi

import (
	queue "container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Times after which a connection gives way to others, where there are as many as may be.
const (
	quietFor = 250 * time.Millisecond // for the header of a request, from its first byte on
	bodyFor  = time.Second            // for the body of a request, from its header on
)

// conns tracks the open connections. A stop uses it to close connections that
// never sent a request, for each of which net/http would wait five seconds, and
// to wait until the last connection has ended. Where there are as many as may be,
// those that carry no request give way to new ones, and those whose request does not come.
type conns struct {
	open sync.WaitGroup

	mu      sync.Mutex
	headers restingConns // on which no header has arrived whole: of the first request, or of one that has begun
	idle    restingConns // between two requests
	bodies  restingConns // on which a body does not come with its header
}

// restingConns are connections that do no work, those first that have rested longest.
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
		c.headers.add(conn)
	case http.StateIdle:
		conn.heard.Store(false)
		c.idle.add(conn)
	case http.StateActive:
	case http.StateClosed, http.StateHijacked:
		c.open.Done()
	}
}

// awaits notes that the body of a connection's request has not come with its header.
func (c *conns) awaits(conn *boundedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.body.CompareAndSwap(bodyReading, bodyAwaited) {
		c.bodies.add(conn)
	}
}

// arrived ends awaits.
func (c *conns) arrived(conn *boundedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.leave()
}

func (c *conns) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.headers.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*boundedConn).Close() // nobody waits for it
	}
}

// makeRoom closes the connection that has been idle longest or, if none is, the one that has
// waited longest for a header or a body. It reports whether there was one. A client that
// sends the first byte of a request just then sees the connection end, as it does when an
// idle one has been open for too long.
func (c *conns) makeRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, ok := c.idle.first(0)
	for ok && conn.heard.Load() { // net/http tells of a request when its header is whole
		conn.leave()
		c.headers.add(conn)
		conn, ok = c.idle.first(0)
	}
	if !ok {
		conn, ok = c.headers.first(quietFor)
	}
	if !ok {
		conn, ok = c.bodies.first(bodyFor)
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
	permits chan struct{}
	conns   *conns
	closed  chan struct{}
	close   func() error
}

func bound(l net.Listener, most int, c *conns) *boundedListener {
	closed := make(chan struct{})
	return &boundedListener{
		Listener: l, permits: make(chan struct{}, most), conns: c, closed: closed,
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
	return &boundedConn{Conn: conn, conns: l.conns, release: sync.OnceFunc(func() { <-l.permits })}, nil
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
		l.conns.makeRoom()
		select {
		case l.permits <- struct{}{}:
			return true
		case <-l.closed:
			return false
		case <-again.C:
		}
	}
}

// States of the body of a connection's request.
const (
	bodyNone    int32 = iota // nobody reads it
	bodyReading              // what came with the header
	bodyAwaited              // and more, which is to come; the connection is in conns.bodies
)

// boundedConn gives its permit back when it is closed.
type boundedConn struct {
	net.Conn
	conns   *conns
	release func()
	heard   atomic.Bool // bytes have arrived since the connection began to be idle
	body    atomic.Int32

	// Guarded by conns.mu. The connection itself knows its place, since every request
	// changes it twice.
	among *restingConns // nil: it works
	place *queue.Element
	since time.Time // when it began to rest
}

type connKey struct{}

// withConn keeps a connection in the context of its requests.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// readsBody notes that the body of a request is being read, until read is called.
func readsBody(r *http.Request) (read func()) {
	conn, ok := r.Context().Value(connKey{}).(*boundedConn)
	if !ok {
		return func() {} // the request came without the server's listener
	}
	conn.body.Store(bodyReading)
	return conn.bodyRead
}

func (c *boundedConn) bodyRead() {
	if c.body.Swap(bodyNone) == bodyAwaited {
		c.conns.arrived(c)
	}
}

// Read implements net.Conn.
func (c *boundedConn) Read(b []byte) (int, error) {
	if c.body.Load() == bodyReading { // there is nothing left in the server's buffer
		c.conns.awaits(c)
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
