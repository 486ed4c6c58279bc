package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// mcpShare is the part of the connections that requests of MCP may take: each needs a second one,
// on which it asks the hub. It needs no more, because the calls of a batch run one after the other.
const mcpShare = 4

// serveMCP hands a request to the server of MCP, which makes its calls as a client of this hub
// on loopback. So it is only for those whose calls would be the same from there: programs of the hub's own
// user, on this machine.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, user string) *hub.Error {
	if e := s.mayUseMCP(r, user); e != nil {
		return e
	}
	select {
	case s.mcpCalls <- struct{}{}:
		defer func() { <-s.mcpCalls }()
	default:
		return hub.NewError(hub.CodeOverloaded, "as many calls of MCP are under way as this hub takes").WithRetryAfter(1).
			WithFix("call again after a second")
	}
	body, e := s.mcpBody(w, r)
	if e != nil {
		return e
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	go func() {
		select {
		case <-s.stopping:
			cancel(hub.NewError(hub.CodeStopping, "the hub is stopping")) // the answer says so
		case <-ctx.Done():
		}
	}()
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	defer func() {
		if cause := recover(); cause != nil {
			s.panicked(w, r, cause)
		}
	}()
	out := &boundWriter{ResponseWriter: w, server: s}
	out.unbound()
	s.config.MCP.ServeHTTP(out, r)
	s.boundWrite(w) // the rest of the answer
	return nil
}

// mayUseMCP refuses callers whose rights the calls of the server would not have.
func (s *Server) mayUseMCP(r *http.Request, user string) *hub.Error {
	header := r.Header
	id, named := header[api.HeaderInstance]
	switch {
	case user != "":
		own := s.config.Peers.Status().Own.Name
		return hub.Errorf(hub.CodeOtherUser, "MCP over HTTP is for %s alone, whose hub this is", own).
			With("hub_user", own).With("user", user).WithFix("use hubcli mcp --base-url with the address of this hub")
	case !overSocket(r) && !fromLoopback(r):
		return hub.NewError(hub.CodeForbiddenHost, "MCP over HTTP is for programs on the machine of the hub").
			WithFix("use hubcli mcp --base-url with the address of this hub")
	case header[api.HeaderRelay] != nil:
		return hub.NewError(hub.CodeForbiddenRelay, "a call that came through a spool cannot use MCP over HTTP").
			WithFix("use hubcli mcp, or the calls of the HTTP surface")
	case header[api.HeaderOperator] != nil:
		return hub.NewError(hub.CodeOperatorRequired, "MCP over HTTP makes no calls of the operator").
			WithFix("leave " + api.HeaderOperator + " out: its tools act as an agent")
	case named && (len(id) != 1 || id[0] != string(s.config.InstanceID)):
		return otherStore(s.config.InstanceID)
	}
	return nil
}

// mcpBody reads the body of a POST. Those of other methods do not matter.
func (s *Server) mcpBody(w http.ResponseWriter, r *http.Request) ([]byte, *hub.Error) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	if len(r.Header["Content-Encoding"]) != 0 {
		return nil, unsupportedMedia("compressed bodies are not taken")
	}
	b, err := s.readBody(w, r, api.MCPBodyCap)
	if err != nil {
		return nil, s.asError(r, err)
	}
	defer b.free()
	return bytes.Clone(b.data), nil
}

// boundWriter gives a call all the time that its tool waits, and each write the usual time.
type boundWriter struct {
	http.ResponseWriter
	server *Server
}

// Unwrap lets the answer be flushed.
func (b *boundWriter) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *boundWriter) Write(p []byte) (int, error) {
	b.server.boundWrite(b.ResponseWriter)
	n, err := b.ResponseWriter.Write(p)
	b.unbound()
	return n, err
}

// unbound ends the deadlines of the connection until something is written. A client that goes away ends the
// call by that.
func (b *boundWriter) unbound() {
	deadlines := http.NewResponseController(b.ResponseWriter)
	// An error means that the connection is gone or belongs to a test; the write will show it.
	_ = deadlines.SetReadDeadline(time.Time{})
	_ = deadlines.SetWriteDeadline(time.Time{})
}
