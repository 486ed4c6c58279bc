package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// Peers knows the users of this machine, and whose program is at the other end of a connection
// over loopback.
type Peers interface {
	// Status says whether and how the system tells whose a connection is, and names the hub's own
	// user. It sets Told, Why and Own.
	Status() hub.LocalUsers
	// Peer returns the user at the other end. trusted: it is the hub's own or the superuser. The
	// error says why the hub cannot tell of this connection; the user may be without ID then.
	Peer(conn net.Conn) (user hub.LocalUser, trusted bool, err error)
	// Find returns the account of a name or a number. trusted is that of Peer.
	Find(name string) (user hub.LocalUser, trusted, found bool)
}

// noPeers serves a hub that is not told of users, as in tests: it believes all on this machine.
type noPeers struct{}

func (noPeers) Status() hub.LocalUsers { return hub.LocalUsers{Why: "the hub was not made to ask"} }

func (noPeers) Peer(net.Conn) (hub.LocalUser, bool, error) { return hub.LocalUser{}, true, nil }

func (noPeers) Find(name string) (hub.LocalUser, bool, bool) {
	return hub.LocalUser{ID: name, Name: name}, false, true
}

// peer is the user at the other end of a connection.
type peer struct {
	user    hub.LocalUser
	trusted bool
	err     error // why the hub cannot tell; it counts as a user who is not let in
}

type connKey struct{}

// withConn lets the calls of a connection find it.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// peerOf returns the user at the other end of the call's connection, which is asked of the system
// once a connection; nil: the call comes from another machine, or through no connection.
func (s *Server) peerOf(r *http.Request) *peer {
	conn, ok := r.Context().Value(connKey{}).(*boundedConn)
	if !ok || !fromLoopback(r) {
		return nil
	}
	if known := conn.peer.Load(); known != nil {
		return known
	}
	p := &peer{}
	p.user, p.trusted, p.err = s.config.Peers.Peer(conn.Conn)
	conn.peer.Store(p)
	return p
}

// admitUser refuses a call of another user of the machine whom the operator has not let in, and
// what others may not do in any case. It returns the name of a user who is let in.
func (s *Server) admitUser(r *http.Request) (name string, refused *hub.Error) {
	p := s.peerOf(r)
	if p == nil || p.trusted {
		return "", nil
	}
	op, _ := api.FindOperation(r.Method, r.URL.Path)
	switch {
	case op != nil && op.AnyUser:
		return p.user.Name, nil
	case p.err != nil || !s.config.Sessions.UserAllowed(p.user.ID):
		s.noteRefused(r, p)
		return "", s.otherUser(p)
	case op != nil && (op.OwnUser != "" || op.Plane == api.PlaneOperator || len(r.Header[api.HeaderOperator]) > 0):
		return "", s.ownUserOnly(p, op)
	}
	return p.user.Name, nil
}

func (s *Server) otherUser(p *peer) *hub.Error {
	own := s.config.Peers.Status().Own.Name
	if p.err != nil {
		return hub.Errorf(hub.CodeOtherUser, "this hub is %s's, and it cannot tell whose this call is: %v", own, p.err).With("hub_user", own)
	}
	return hub.Errorf(hub.CodeOtherUser, "this hub is another user's: it belongs to %s, and the call comes from %s", own, p.user.Name).
		With("hub_user", own).With("user", p.user.Name)
}

func (s *Server) ownUserOnly(p *peer, op *api.Operation) *hub.Error {
	own := s.config.Peers.Status().Own.Name
	why := op.OwnUser
	if why == "" {
		why = "another user of the machine is never the operator"
	}
	return hub.Errorf(hub.CodeOtherUser, "%s %s is for %s alone, whose hub this is: %s", op.Method, op.Path, own, why).
		With("hub_user", own).With("user", p.user.Name).WithFix("let " + own + " do it, or use a hub of your own")
}

// refusedUsers remembers whom the hub has refused since it started.
type refusedUsers struct {
	mu   sync.Mutex
	rows []hub.RefusedUser // the latest first
}

// noteRefused counts a refused connection, once, and logs the first of a user.
func (s *Server) noteRefused(r *http.Request, p *peer) {
	row := hub.RefusedUser{LocalUser: p.user, Connections: 1, LastAt: hub.TimeOf(time.Now())}
	if s.refused.add(row) {
		s.config.Logger.LogAttrs(r.Context(), slog.LevelWarn, "calls of another user of the machine are refused",
			slog.String("user", p.user.Name), slog.String("id", p.user.ID), slog.Any("cause", p.err))
	}
}

// add counts a row and reports whether the user is new.
func (u *refusedUsers) add(row hub.RefusedUser) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := slices.IndexFunc(u.rows, func(r hub.RefusedUser) bool { return r.LocalUser == row.LocalUser })
	fresh := at < 0
	if !fresh {
		row.Connections += u.rows[at].Connections
		u.rows = slices.Delete(u.rows, at, at+1)
	}
	u.rows = slices.Insert(u.rows, 0, row)
	u.rows = u.rows[:min(len(u.rows), hub.MaxRefusedUsers)]
	return fresh
}

func (u *refusedUsers) list() []hub.RefusedUser {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]hub.RefusedUser{}, u.rows...)
}
