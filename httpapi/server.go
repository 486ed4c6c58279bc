package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hubcli/api"
	"hubcli/httpapi/console"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// Server answers the v1 contract.
type Server struct {
	config        Config
	operatorToken []byte
	instance      []string // value of X-Hub-Instance
	largeBody     int64    // cap of a body that carries a message
	routes        map[*api.Operation]*route
	metrics       *metrics
	bodyBytes     atomic.Int64   // of all bodies being read
	answers       answers.Memory // see shareAnswers
	stopping      chan struct{}  // closed when Serve is to end
	conns         conns          // over the ports
	attempts      *attempts
	turns         *turns
	signatures    *signatures
	console       *console.Files
	refused       refusedUsers
	mcpCalls      chan struct{} // holds one for each call of MCP under way
}

// New makes a server. Its configuration must not change afterwards.
func New(config Config) (*Server, error) {
	config.EnsureDefaults()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		config:        config,
		operatorToken: []byte(config.OperatorToken),
		instance:      []string{string(config.InstanceID)},
		largeBody:     api.BodyCap(config.Limits),
		stopping:      make(chan struct{}),
		attempts:      newAttempts(),
		turns:         newTurns(),
		signatures:    newSignatures(),
		mcpCalls:      make(chan struct{}, max(1, config.MaxConnections/mcpShare)),
	}
	s.metrics = newMetrics(s)
	var err error
	if s.console, err = console.New(); err != nil {
		return nil, err
	}
	if s.routes, err = newRoutes(s.metrics); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler returns the server without its listener, timeouts and limits of
// connections. The guard learns the port from http.LocalAddrContextKey.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	e := s.guard(r)
	var user string
	if e == nil {
		if user, e = s.admitUser(r); e != nil {
			w.Header()["Connection"] = []string{"close"} // its place is for others
		}
	}
	if e == nil && s.console.Has(r.URL.Path) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		s.console.Serve(w, r)
		return
	}
	w.Header()[api.HeaderInstance] = s.instance
	if e == nil && r.URL.Path == api.MCPPath && s.config.MCP != nil {
		if e = s.serveMCP(w, r, user); e == nil {
			return
		}
	}
	if e != nil {
		s.metrics.refused(e.Code)
		s.fail(w, e)
		return
	}
	s.dispatch(w, r, user)
}

// Serve answers requests until ctx ends, then closes the listeners and returns once every
// handler has ended and every connection is closed. It is called once. The
// owner of the services stops them first, so that parked calls are answered.
// Calls that still run after StopTimeout are cut off. MaxConnections are those of the first
// listener. Any other is a socket of the operator, which agents cannot fill: it has places
// of its own.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(),
		MaxHeaderBytes:    s.config.MaxHeaderBytes,
		ReadHeaderTimeout: s.config.ReadHeaderTimeout,
		ReadTimeout:       s.config.ReadTimeout,
		// net/http counts it from the end of the header.
		WriteTimeout: s.config.ReadTimeout + s.config.WriteTimeout,
		IdleTimeout:  s.config.IdleTimeout,
		ConnState:    connChanged,
		ConnContext:  withConn,
		ErrorLog:     slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true,
	}
	var open []*conns
	failed := make(chan error, len(listeners))
	for i, l := range listeners {
		of, most := &s.conns, s.config.MaxConnections
		if i > 0 {
			of, most = &conns{}, min(most, operatorConnections)
		}
		open = append(open, of)
		go func() { failed <- server.Serve(bound(l, most, of)) }()
	}
	select {
	case <-ctx.Done():
	case err := <-failed:
		failed <- err
	}
	close(s.stopping)
	for _, of := range open {
		of.closeUnused()
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.StopTimeout)
	defer cancel()
	if stopErr := server.Shutdown(grace); stopErr != nil {
		_ = server.Close() // the listener is closed already; an error of a connection has no reader
	}
	var bad error
	for range listeners {
		if err := <-failed; err != nil && !errors.Is(err, http.ErrServerClosed) {
			bad = errors.Join(bad, fmt.Errorf("httpapi: serve: %w", err))
		}
	}
	for _, of := range open {
		of.ended()
	}
	return bad
}

// serve is the only place that runs handlers, writes their replies, logs calls
// and counts them.
func (s *Server) serve(rt *route, param, user string, w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	c := &call{server: s, route: rt, w: w, r: r, param: param, local: overSocket(r) || fromLoopback(r)}
	c.caller.User = user
	defer c.giveTurn()
	defer c.endAnswer()
	rep, err := s.run(c)
	defer c.giveTurnLater()()
	s.boundWrite(w)
	if err == nil && !rep.done {
		err = s.write(c, &rep)
	}
	if err == nil {
		rt.observed.succeeded(began)
		if rt.Changes() || c.logged {
			s.log(c, rep.status, "ok", began)
		}
		return
	}
	e := s.asError(r, err)
	s.fail(w, e)
	s.metrics.failed(rt, e.Code)
	if rt.Changes() || c.logged {
		s.log(c, e.Status, e.Code, began)
	}
}

func (s *Server) run(c *call) (reply, error) {
	if err := s.admit(c); err != nil {
		return reply{}, err
	}
	return c.route.handle(c)
}

// log writes the one line of a call. It shows no body and no secret.
func (s *Server) log(c *call, status int, code hub.Code, began time.Time) {
	path := c.r.URL.Path
	if c.route.Secret {
		path = c.route.Path
	}
	s.config.Logger.LogAttrs(c.r.Context(), slog.LevelInfo, "call",
		slog.String("method", c.r.Method), slog.String("path", path),
		slog.String("agent", string(c.agent)), slog.Bool("operator", c.caller.Operator),
		slog.Int("status", status), slog.String("code", string(code)),
		slog.Float64("ms", float64(time.Since(began).Microseconds())/1000))
}

// noOperation answers a request that matches no operation.
func (s *Server) noOperation(w http.ResponseWriter, path string) {
	methods := api.Methods(path)
	if s.console.Has(path) {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	if len(methods) == 0 {
		s.metrics.refused(hub.CodeNotFound)
		s.fail(w, hub.NewError(hub.CodeNotFound, "there is no such path"))
		return
	}
	list := strings.Join(methods, ", ")
	w.Header()["Allow"] = []string{list}
	s.metrics.refused(hub.CodeMethodNotAllowed)
	s.fail(w, hub.NewError(hub.CodeMethodNotAllowed, "the path does not take this method").
		With("allow", methods).WithFix("use "+list))
}

// panicked sends the answer of a handler that panicked, or ends its stream.
func (s *Server) panicked(w http.ResponseWriter, r *http.Request, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	s.config.Logger.Error("handler panicked", "method", r.Method,
		"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	s.metrics.refused(hub.CodeInternal)
	if w.Header().Get("Content-Type") == streamType {
		panic(http.ErrAbortHandler)
	}
	s.boundWrite(w)
	s.fail(w, internalError())
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
