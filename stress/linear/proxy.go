package linear

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
)

// proxy stands between the clients and the hub. It passes connections on to where the
// hub is, and breaks them when it is told to.
type proxy struct {
	listener net.Listener
	target   atomic.Pointer[string] // nil while there is no hub
	wg       sync.WaitGroup

	mu    sync.Mutex
	links map[*link]bool
	down  bool
}

// link is one connection through the proxy.
type link struct {
	near, far net.Conn
	deaf      atomic.Bool // answers of the hub are lost
}

func (l *link) close() { l.near.Close(); l.far.Close() }

func newProxy() (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, links: map[*link]bool{}}
	p.wg.Go(p.serve)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// to says where the hub is; an empty address says that it is nowhere.
func (p *proxy) to(addr string) {
	if addr == "" {
		p.target.Store(nil)
		return
	}
	p.target.Store(&addr)
}

func (p *proxy) serve() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.pass(near) })
	}
}

func (p *proxy) pass(near net.Conn) {
	defer near.Close()
	target := p.target.Load()
	if target == nil {
		return
	}
	far, err := net.Dial("tcp", *target)
	if err != nil {
		return
	}
	l := &link{near: near, far: far}
	defer l.close()
	if !p.enter(l) {
		return
	}
	defer p.leave(l)
	p.wg.Go(func() {
		defer l.close()
		_, _ = io.Copy(far, near) // the end of a connection ends both ways
	})
	buffer := make([]byte, 32<<10)
	for {
		n, err := far.Read(buffer)
		if n > 0 && !l.deaf.Load() {
			if _, err := near.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
		if l.deaf.Load() {
			return // the call was carried out and its caller never learns it
		}
	}
}

func (p *proxy) enter(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.links[l] = true
	}
	return !p.down
}

func (p *proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// cut breaks about one in n connections: at once, or so that the next answer is lost.
// It returns how many.
func (p *proxy) cut(random *rand.Rand, n int) (cut int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if random.IntN(n) > 0 {
			continue
		}
		cut++
		if random.IntN(2) == 0 {
			l.deaf.Store(true)
			continue
		}
		l.close()
	}
	return cut
}

// close ends the proxy and all connections through it.
func (p *proxy) close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.down = true
	for l := range p.links {
		l.close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}
