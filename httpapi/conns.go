package httpapi

import (
	queue "container/list"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Times after which a connection gives way to others, where there are as many as may be.
const (
	quietFor = 250 * time.Millisecond // for the header of a request, from its first byte on
	bodyFor  = time.Second            // for the next bodyPart bytes of a request's body, or the rest of it
	writeFor = 5 * time.Second        // for the client to make room for the next part bytes of an answer
	bodyPart = 64 << 10               // bytes
)

// operatorConnections is how many connections the operator's socket has at a time.
const operatorConnections = 64

// conns tracks the open connections of a listener. A stop uses it to close connections that
// never sent a request, for each of which net/http would wait five seconds, and
// to wait until the last connection has ended. Where there are as many as may be,
// those that carry no request give way to new ones, and those that keep the hub waiting for
// the rest of a request, or for room for an answer.
//
// A connection is in one of the lists only while it waits in Read. A request that is there
// whole is in none, wherever net/http keeps it. Writes are many and seldom wait, so that they
// only note when they began; all connections are looked at where that is asked for.
type conns struct {
	open sync.WaitGroup

	mu      sync.Mutex
	headers waitingConns // for the rest of a header, or for the first request
	idle    waitingConns // for the next request
	bodies  waitingConns // for the rest of a body, whether a handler reads it or net/http passes over it
	all     map[*boundedConn]struct{}
}

// waitingConns are connections that wait for their clients, those first that have begun
// before the others.
type waitingConns struct {
	order queue.List // of *boundedConn
}

// add puts a connection where those are that have waited as long.
func (w *waitingConns) add(conn *boundedConn, since time.Time) {
	conn.since, conn.among = since, w
	for e := w.order.Back(); e != nil; e = e.Prev() {
		if !e.Value.(*boundedConn).since.After(since) {
			conn.place = w.order.InsertAfter(conn, e)
			return
		}
	}
	conn.place = w.order.PushFront(conn)
}

// leave takes a connection out of those among which it waits, if it waits.
func (c *boundedConn) leave() {
	if c.among != nil {
		c.among.order.Remove(c.place)
		c.place, c.among = nil, nil
	}
}

// first returns the connection that has waited longest, if that is for at least d.
func (w *waitingConns) first(d time.Duration) (*boundedConn, bool) {
	e := w.order.Front()
	if e == nil {
		return nil, false
	}
	conn := e.Value.(*boundedConn)
	return conn, time.Since(conn.since) >= d
}

// connChanged is the server's ConnState hook. It gets the connections of a boundedListener.
func connChanged(accepted net.Conn, state http.ConnState) {
	accepted.(*boundedConn).conns.changed(accepted, state)
}

// changed notes the state of a connection. They are added by the one goroutine that accepts
// them, which ends before wait is called.
func (c *conns) changed(accepted net.Conn, state http.ConnState) {
	conn := accepted.(*boundedConn)
	switch state {
	case http.StateNew:
		c.open.Add(1)
		c.mu.Lock()
		if c.all == nil {
			c.all = map[*boundedConn]struct{}{}
		}
		c.all[conn] = struct{}{}
		c.mu.Unlock()
		c.wait(conn, &c.headers, time.Now())
	case http.StateActive:
		conn.phase.Store(phaseWork)
		conn.heard.Store(false)
		conn.bodySince, conn.bodyBytes = time.Time{}, 0
		c.done(conn)
	case http.StateIdle: // the next request may be in the server's buffer already
		conn.phase.Store(phaseIdle)
	case http.StateClosed, http.StateHijacked:
		c.done(conn)
		c.mu.Lock()
		delete(c.all, conn)
		c.mu.Unlock()
		c.open.Done()
	}
}

// wait notes that a connection waits for its client.
func (c *conns) wait(conn *boundedConn, among *waitingConns, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.leave()
	among.add(conn, since)
}

// done notes that it waits no longer.
func (c *conns) done(conn *boundedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.leave()
}

// closeUnused closes the connections that have sent no request yet, or only the beginning.
func (c *conns) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.headers.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*boundedConn).Close() // nobody waits for it
	}
}

// makeRoom closes the connection that has been idle longest or, if none is, one that has
// waited too long for its client. It reports whether there was one. A client that sends the
// first byte of a request just then sees the connection end, as it does when an idle one has
// been open for too long.
func (c *conns) makeRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, ok := c.idle.first(0)
	for ok && conn.heard.Load() { // its Read has returned, or is about to read on
		conn.leave()
		c.headers.add(conn, time.Now())
		conn, ok = c.idle.first(0)
	}
	if !ok {
		conn, ok = c.headers.first(quietFor)
	}
	if !ok {
		conn, ok = c.bodies.first(bodyFor)
	}
	if !ok {
		conn, ok = c.unread()
	}
	if ok {
		conn.leave()
		_ = conn.Close() // the server notices it
	}
	return ok
}

// unread returns the connection whose client has kept a write waiting for longest, if that is
// for at least writeFor. The caller holds the mutex.
func (c *conns) unread() (oldest *boundedConn, ok bool) {
	before := time.Now().Add(-writeFor).UnixNano()
	for conn := range c.all {
		if began := conn.writing.Load(); began != 0 && began <= before {
			oldest, before = conn, began
		}
	}
	return oldest, oldest != nil
}

// closeOf closes the connections of a user, with the calls that wait on them.
func (c *conns) closeOf(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.all {
		if p := conn.peer.Load(); p != nil && !p.trusted && p.user.ID == user {
			_ = conn.Close() // the server notices it
		}
	}
}

// ended waits until all connections have ended.
func (c *conns) ended() { c.open.Wait() }

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

// What a connection is at, as net/http has said.
const (
	phaseHeader int32 = iota // the first request has not come
	phaseWork                // a request has begun to be answered
	phaseIdle                // it has been answered
)

// boundedConn gives its permit back when it is closed. Its Read and Write say when it waits
// for its client.
type boundedConn struct {
	net.Conn
	conns   *conns
	release func()
	phase   atomic.Int32
	heard   atomic.Bool          // bytes of the next request have arrived
	peer    atomic.Pointer[peer] // nil: the system was not asked yet
	writing atomic.Int64         // since when a write waits, in nanoseconds of Unix time; 0: none does

	// Of the body that is being read, where it has not come with its header. Read uses them,
	// and changed between two requests.
	bodySince time.Time // when bodyPart bytes were there last; zero: nothing was waited for
	bodyBytes int       // since then

	// Guarded by conns.mu. The connection itself knows its place, since every request
	// changes it twice.
	among *waitingConns // nil: it does not wait
	place *queue.Element
	since time.Time // when it began to wait
}

// Read implements net.Conn. While a request is answered, net/http listens for one byte, so
// that it notices when the client leaves. All other reads of that time are for the body:
// those of a handler, and those with which net/http passes over what a handler has left.
func (c *boundedConn) Read(b []byte) (int, error) {
	switch phase := c.phase.Load(); {
	case phase == phaseWork && len(b) == 1:
		n, err := c.Conn.Read(b)
		if n > 0 {
			c.heard.Store(true)
		}
		return n, err
	case phase == phaseWork:
		return c.readBody(b)
	case phase == phaseIdle && !c.heard.Load():
		c.conns.wait(c, &c.conns.idle, time.Now())
	case phase == phaseIdle:
		c.conns.wait(c, &c.conns.headers, time.Now())
		c.phase.Store(phaseHeader) // a header that comes byte by byte has no more time for that
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

func (c *boundedConn) readBody(b []byte) (int, error) {
	if c.bodySince.IsZero() {
		c.bodySince = time.Now()
	}
	c.conns.wait(c, &c.conns.bodies, c.bodySince)
	n, err := c.Conn.Read(b)
	c.conns.done(c)
	if c.bodyBytes += n; c.bodyBytes >= bodyPart {
		c.bodySince, c.bodyBytes = time.Now(), 0
	}
	return n, err
}

// Write implements net.Conn. A client has its time for each part of an answer.
func (c *boundedConn) Write(b []byte) (written int, err error) {
	defer c.writing.Store(0)
	for {
		c.writing.Store(time.Now().UnixNano())
		n, err := c.Conn.Write(b[:min(len(b), part)])
		written, b = written+n, b[n:]
		if err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
