package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

// guard runs before anything else looks at a request. It refuses requests that
// a browser or a rebound name might have sent: those with a Host or an Origin
// that is not exactly ours, or with a Sec-Fetch-Site that names a page of
// another site.
func (s *Server) guard(r *http.Request) *hub.Error {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !overSocket(r) && (!ok || !s.hostAllowed(r.Host, local)) {
		return hub.NewError(hub.CodeForbiddenHost, "the Host header does not name this hub").
			WithFix("use http://127.0.0.1 with the port of the hub")
	}
	if origins, ok := r.Header["Origin"]; ok {
		if len(origins) != 1 || origins[0] != "http://"+r.Host {
			return hub.NewError(hub.CodeForbiddenOrigin, "requests of foreign pages are refused").
				WithFix("do not send an Origin header")
		}
	}
	if sites, ok := r.Header["Sec-Fetch-Site"]; ok {
		if len(sites) != 1 || sites[0] != "same-origin" && sites[0] != "none" {
			return hub.NewError(hub.CodeForbiddenOrigin, "requests of foreign pages are refused").
				WithFix("do not call the hub from a page of another site")
		}
	}
	return nil
}

// hostAllowed accepts 127.0.0.1, localhost and ::1 with our port, and with
// AllowRemote every address of this machine. Addresses are compared as
// addresses, never as text or prefixes of text; names know no case.
func (s *Server) hostAllowed(host string, local *net.TCPAddr) bool {
	port := strconv.Itoa(local.Port)
	name, ok := strings.CutSuffix(host, ":"+port)
	if !ok {
		if port != "80" || strings.HasSuffix(host, ":") {
			return false
		}
		name = host
	}
	switch strings.ToLower(name) {
	case "127.0.0.1", "localhost", "[::1]":
		return true
	}
	addr, ok := hostAddr(name)
	switch {
	case !ok || addr.IsUnspecified():
		return false
	case addr == loopback4 || addr == loopback6:
		return true
	}
	if !s.config.AllowRemote {
		return false
	}
	at, _ := netip.AddrFromSlice(local.IP)
	return addr == at.Unmap() || slices.Contains(s.config.LocalAddrs(), addr)
}

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

// hostAddr parses the host part of a Host header. IPv6 must be in brackets,
// without a zone and not an IPv4-mapped address.
func hostAddr(name string) (netip.Addr, bool) {
	inner, bracketed := strings.CutPrefix(name, "[")
	if bracketed {
		if inner, bracketed = strings.CutSuffix(inner, "]"); !bracketed {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil || addr.Zone() != "" || addr.Is4In6() || addr.Is6() != bracketed {
		return netip.Addr{}, false
	}
	return addr, true
}

// overSocket reports whether the request came over the operator's socket. No page reaches
// that, whatever its name is rebound to, and only the hub's user does.
func overSocket(r *http.Request) bool {
	_, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return ok
}

// fromLoopback reports whether the peer is on this machine's loopback.
func fromLoopback(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// admit identifies the caller and refuses a call that its plane or the peer's
// address does not allow.
func (s *Server) admit(c *call) error {
	header := c.r.Header
	c.caller.Remote = !c.local
	if id, ok := header[api.HeaderInstance]; ok && (len(id) != 1 || id[0] != string(s.config.InstanceID)) {
		return otherStore(s.config.InstanceID)
	}
	if err := c.takeRelay(); err != nil {
		return err
	}
	if token, ok := header[api.HeaderOperator]; ok {
		if err := s.takeOperator(c, token); err != nil {
			return err
		}
	}
	if err := s.authenticate(c); err != nil {
		return err
	}
	if c.route.Plane == api.PlaneOperator && !c.caller.Operator {
		return c.needsOperator(c.route.Method + " " + c.route.Path + " is for the operator only")
	}
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		return c.passBody()
	}
	if err := checkContentType(header); err != nil {
		return err
	}
	return c.takeIdempotencyKey()
}

func otherStore(own hub.InstanceID) *hub.Error {
	return hub.NewError(hub.CodeStoreChanged, "the call names another store than the one that this hub serves").
		With("instance_id", own).
		WithFix("forget cursors and sessions, register again and bootstrap")
}

// passBody reads the body of a call that takes none, while the request still has a deadline:
// net/http waits for it before the answer, and a call that may wait has no such deadline.
func (c *call) passBody() error {
	const most = 4 << 10 // bytes
	if err := c.signedBody(sha256.Sum256(nil)); err != nil {
		return err
	}
	if c.r.ContentLength == 0 {
		return nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(c.r.Body, most+1))
	if err != nil || n > most {
		return hub.Invalid("body", "this call takes no body, and one was announced that is long or did not come").
			WithFix("send the call without a body")
	}
	return nil
}

// takeOperator proves that a call is the operator's: by the operator's own token, by a
// pass, or by a signature with a pass.
func (s *Server) takeOperator(c *call, token []string) (err error) {
	switch {
	case len(token) == 1 && strings.HasPrefix(token[0], passPrefix):
		if c.caller.Pass, err = s.config.Sessions.ProvePass(token[0]); err != nil {
			return err
		}
	case len(token) == 1 && api.Signed(token[0]):
		if c.caller.Pass, err = c.proveSigned(token[0]); err != nil {
			return err
		}
	case len(token) != 1 || subtle.ConstantTimeCompare([]byte(token[0]), s.operatorToken) != 1:
		return hub.NewError(hub.CodeOperatorRequired, "the operator token is wrong")
	}
	c.caller.Operator = true
	return nil
}

// needsSecret refuses a pass where the operator's own token is wanted. What a pass may do
// ends with the pass.
func (c *call) needsSecret(do string) error {
	if c.caller.Pass == "" {
		return nil
	}
	return hub.NewError(hub.CodeOperatorRequired, "a pass cannot "+do).
		WithFix("use the operator's own token: run the command of hubcli on the machine of the hub")
}

// takeRelay binds a call that came through a spool to the agent of the spool.
// It can only restrict a call: a session that the call also proves must belong
// to that agent, and the operator's token is refused. The header proves
// nothing, as an agent's name proves nothing. So it is refused from another
// machine, where names must be proved.
func (c *call) takeRelay() error {
	agents, ok := c.r.Header[api.HeaderRelay]
	if !ok {
		return nil
	}
	if !c.local {
		return hub.NewError(hub.CodeForbiddenRelay, "a call from another machine cannot have come through a spool of this hub")
	}
	if len(agents) != 1 || hub.CheckSender(api.HeaderRelay, hub.AgentID(agents[0])) != nil {
		return hub.NewError(hub.CodeInvalidAgentID, api.HeaderRelay+" does not name one agent").
			With("field", api.HeaderRelay).WithFix("send the id of the agent whose spool the call came through")
	}
	if _, ok := c.r.Header[api.HeaderOperator]; ok {
		return hub.NewError(hub.CodeOperatorRequired, "a call that came through a spool cannot be the operator's").
			WithFix("make the operator's calls to the hub's own address")
	}
	c.caller.Relay = hub.AgentID(agents[0])
	return nil
}

// needsOperator returns the error for a caller that is not the operator.
func (c *call) needsOperator(message string) *hub.Error {
	e := hub.NewError(hub.CodeOperatorRequired, message)
	if c.caller.Relay != "" {
		e.Fix = "ask the operator: a spool never carries a call of the operator"
	}
	return e
}

// authenticate proves the session that the call sends, if the operation uses
// one. It refuses peers on other machines without a session.
func (s *Server) authenticate(c *call) error {
	auth := c.route.Auth
	remote := !c.local
	if auth == api.AuthNone || auth == api.AuthRemote && c.local {
		return nil
	}
	if auth == api.AuthRegister {
		if remote && !c.caller.Operator {
			return hub.NewError(hub.CodeOperatorRequired, "only the operator may register an agent from another machine")
		}
		return nil
	}
	full, ok := c.r.Header[api.HeaderSession]
	if !ok {
		if remote && auth != api.AuthOptional {
			return hub.NewError(hub.CodeSessionRequired, "calls from another machine need a session")
		}
		return nil
	}
	if len(full) != 1 || full[0] == "" {
		return hub.NewError(hub.CodeSessionInvalid, "the session is unknown").WithFix("register again")
	}
	proved, err := s.config.Sessions.Authenticate(c.r.Context(), hub.SessionID(full[0]))
	if err != nil {
		return err
	}
	c.caller.Agent, c.caller.Session, c.caller.Incarnation = proved.Agent, proved.Session, proved.Incarnation
	return nil
}

// checkContentType refuses a body that is declared as something else than JSON.
func checkContentType(header http.Header) *hub.Error {
	if len(header["Content-Encoding"]) != 0 {
		return unsupportedMedia("compressed bodies are not taken")
	}
	types, ok := header["Content-Type"]
	if !ok {
		return nil
	}
	if len(types) == 1 && (types[0] == api.ContentType || isJSON(types[0])) {
		return nil
	}
	return unsupportedMedia("the body must be JSON")
}

func unsupportedMedia(message string) *hub.Error {
	return hub.NewError(hub.CodeUnsupportedMedia, message)
}

// isJSON accepts application/json, alone or with charset=utf-8.
func isJSON(value string) bool {
	media, parameter, found := strings.Cut(value, ";")
	if !strings.EqualFold(strings.TrimSpace(media), api.ContentType) {
		return false
	}
	if !found {
		return true
	}
	name, charset, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	return strings.EqualFold(name, "charset") && strings.EqualFold(strings.Trim(charset, `"`), "utf-8")
}

// takeIdempotencyKey checks the key of a call that changes something. The hash
// of the body is set when the body is read.
func (c *call) takeIdempotencyKey() error {
	keys, ok := c.r.Header[api.HeaderIdempotency]
	if !ok {
		return nil
	}
	const field = api.HeaderIdempotency
	if len(keys) != 1 || keys[0] == "" || len(keys[0]) > hub.MaxIdempotencyKey {
		return hub.Invalid(field, field+" must be one value of 1 to 255 characters")
	}
	for _, b := range []byte(keys[0]) {
		if b < 0x20 || b > 0x7e {
			return hub.Invalid(field, field+" must be printable ASCII")
		}
	}
	c.key = hub.IdempotencyKey{Method: c.r.Method, Path: c.r.URL.Path, Key: keys[0]}
	c.caller.Idempotency = &c.key
	return nil
}
