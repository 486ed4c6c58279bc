package gate

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// ReadyHost is the name of no machine. The gate answers it without a body, so that an
// engine learns its secret before it asks for anything else.
const ReadyHost = "ready.hub.invalid"

// hopByHop are the headers that concern one connection alone.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate", "Proxy-Authorization"}

// ServeHTTP implements http.Handler.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := g.known(r)
	switch {
	case p == nil:
		w.Header().Set("Proxy-Authenticate", `Basic realm="hub"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		w.WriteHeader(http.StatusBadRequest)
	case r.URL.Hostname() == ReadyHost:
		w.WriteHeader(http.StatusNoContent)
	default:
		p.forward(w, r)
	}
}

// tunnel connects the engine with a target and passes on what both say.
func (p *Pass) tunnel(w http.ResponseWriter, r *http.Request) {
	to, err := parseTarget(r.Host, 0)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	far, err := p.dial(r.Context(), to)
	if err != nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	defer far.Close()
	near, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	stop := context.AfterFunc(p.ctx, func() { _ = near.Close() })
	defer stop()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		defer far.Close()
		_, _ = io.Copy(far, rest) // either end closes both
	})
	both.Go(func() {
		defer near.Close()
		_, _ = io.Copy(near, far)
	})
	both.Wait()
}

// forward sends a plain request on and its answer back. A target that is refused or does
// not answer closes the connection: a page cannot read why.
func (p *Pass) forward(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	out := r.Clone(ctx)
	out.RequestURI = ""
	for _, name := range hopByHop {
		out.Header.Del(name)
	}
	out.Host = r.URL.Host
	answer, err := p.transport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	for _, name := range hopByHop {
		answer.Header.Del(name)
	}
	header := w.Header()
	for name, values := range answer.Header {
		header[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	flush := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		n, err := answer.Body.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return
			}
			_ = flush.Flush() // a stream of events waits for nobody
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}
