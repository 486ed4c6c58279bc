package supervisor

import (
	"errors"
	"log/slog"
	"net"

	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/peeruser"
)

// peers tells the server whose connections are, as the system tells it.
type peers struct {
	look *peeruser.Looker // nil: the system does not tell
	why  string
	own  hub.LocalUser
}

// newPeers asks the system for a way, and says in the log if there is none.
func newPeers(log *slog.Logger) *peers {
	look, err := peeruser.Open()
	p := &peers{look: look, own: account(peeruser.Own())}
	if err != nil {
		p.why = err.Error()
		log.Warn("the system does not tell whose a connection is: all users of this machine count as the hub's own", "cause", err)
	}
	return p
}

func account(id peeruser.User) hub.LocalUser { return hub.LocalUser{ID: string(id), Name: id.Name()} }

// Status implements httpapi.Peers.
func (p *peers) Status() hub.LocalUsers {
	s := hub.LocalUsers{Why: p.why, Own: p.own}
	if p.look != nil {
		s.Told = p.look.How()
	}
	return s
}

// Peer implements httpapi.Peers.
func (p *peers) Peer(conn net.Conn) (hub.LocalUser, bool, error) {
	if p.look == nil {
		return hub.LocalUser{}, true, nil
	}
	id, err := p.look.Of(conn)
	switch {
	case errors.Is(err, peeruser.ErrGone):
		return hub.LocalUser{Name: "a program that had left"}, false, errors.New("its sender had left")
	case errors.Is(err, peeruser.ErrUnmapped):
		return hub.LocalUser{Name: "a user outside of this container"}, false, errors.New("its user is outside of the container of the hub")
	case errors.Is(err, peeruser.ErrDenied):
		return hub.LocalUser{Name: "a program that the system hides"}, false, errors.New("the system hides whose its process is")
	case err != nil:
		return hub.LocalUser{Name: "unknown"}, false, err
	case p.trusts(id):
		return hub.LocalUser{}, true, nil
	}
	return account(id), false, nil
}

// Find implements httpapi.Peers.
func (p *peers) Find(name string) (user hub.LocalUser, trusted, found bool) {
	id, found := peeruser.Find(name)
	return account(id), p.trusts(id), found
}

func (p *peers) trusts(id peeruser.User) bool { return string(id) == p.own.ID || id.Superuser() }

func (p *peers) close() error {
	if p.look == nil {
		return nil
	}
	return p.look.Close()
}

var _ httpapi.Peers = (*peers)(nil)
