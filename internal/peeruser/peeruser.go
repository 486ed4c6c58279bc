package peeruser

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/user"
)

// User names an account of the machine: by its number in decimal, on Windows by its SID.
type User string

// Errors of Of.
var (
	// ErrGone says that the peer has left, or that no socket of this machine is the peer's.
	ErrGone = errors.New("peeruser: the peer has left, or its socket cannot be seen")
	// ErrUnmapped says that the peer's user has no number where this process runs: it is
	// outside of the user namespace.
	ErrUnmapped = errors.New("peeruser: the peer's user is outside of this user namespace")
	// ErrDenied says that the system does not tell this process whose the peer is.
	ErrDenied = errors.New("peeruser: the system does not tell whose process the peer is")
)

// Looker finds the users of peers.
type Looker struct {
	how string
	of  func(p pair) (owner, error)
	end func() error
	own User
}

// owner is what the system says of a socket.
type owner struct {
	user User
	pid  int // of the process that used it last; 0: the system does not tell
}

// pair are the two ends of a connection as the peer's socket has them.
type pair struct {
	local  netip.AddrPort // the peer's own
	remote netip.AddrPort // ours
}

// turned is the same connection as our socket has it.
func (p pair) turned() pair { return pair{local: p.remote, remote: p.local} }

// Open finds the way in which this system tells, and tries it on a connection of its own. The
// error says why it cannot tell. The caller closes the Looker.
func Open() (*Looker, error) {
	own, err := self()
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, way := range ways {
		l := &Looker{how: way.name, own: own}
		if l.of, l.end, err = way.open(); err == nil {
			if err = l.try(); err == nil {
				return l, nil
			}
			_ = l.end() // nothing was written
		}
		failed = append(failed, fmt.Errorf("%s: %w", way.name, err))
	}
	return nil, errors.Join(failed...)
}

// way is one way to ask the system.
type way struct {
	name string // for people
	open func() (of func(pair) (owner, error), end func() error, err error)
}

// How names the way in which the system tells, for people.
func (l *Looker) How() string { return l.how }

// Own is the user of this process.
func (l *Looker) Own() User { return l.own }

// Close gives back what the Looker has opened.
func (l *Looker) Close() error { return l.end() }

// Of returns the user whose program is at the other end of a connection over loopback. Errors:
// ErrGone, ErrUnmapped, ErrDenied, and those of the system.
//
// Two connections never have the same two ends at a time. So the answer is that of this
// connection if it still stands afterwards, and of another one at most if it does not.
func (l *Looker) Of(conn net.Conn) (User, error) {
	o, err := l.look(conn)
	return o.user, err
}

func (l *Looker) look(conn net.Conn) (owner, error) {
	p := pair{local: endOf(conn.RemoteAddr()), remote: endOf(conn.LocalAddr())}
	if !p.local.IsValid() || !p.remote.IsValid() {
		return owner{}, fmt.Errorf("peeruser: %v is no connection over TCP", conn.RemoteAddr())
	}
	o, err := l.of(p)
	if err != nil {
		return owner{}, err
	}
	if !l.stands(conn, p) {
		return owner{}, ErrGone
	}
	return o, nil
}

func endOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	end := tcp.AddrPort()
	return netip.AddrPortFrom(end.Addr().Unmap().WithZone(""), end.Port())
}

// try looks at a connection whose both ends are this process.
func (l *Looker) try() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // it was for one connection
	dialed, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		return err
	}
	defer func() { _ = dialed.Close() }() // nothing was sent
	accepted, err := listener.Accept()
	if err != nil {
		return err
	}
	defer func() { _ = accepted.Close() }() // nothing was sent
	if accepted.RemoteAddr().String() != dialed.LocalAddr().String() {
		return errors.New("another program has connected meanwhile")
	}
	o, err := l.look(accepted)
	switch {
	case err != nil:
		return err
	case o.user != l.own:
		return fmt.Errorf("it says that a socket of user %s is of user %s", l.own, o.user)
	case o.pid != 0 && o.pid != pid():
		return fmt.Errorf("it says that a socket of process %d is of process %d", pid(), o.pid)
	}
	return nil
}

// Own returns the user of this process; empty: it has no number where it runs.
func Own() User {
	own, _ := self() // Open says why
	return own
}

// Name returns the name of the account, or its number where the system knows no name.
func (u User) Name() string {
	account, err := user.LookupId(string(u))
	if err != nil || account.Username == "" {
		return string(u)
	}
	return account.Username
}

// Find returns the account of a name or a number; false: there is no such name. A number is
// taken as it is: accounts of directories and containers have no name here.
func Find(name string) (User, bool) {
	if account, err := user.Lookup(name); err == nil {
		return User(account.Uid), true
	}
	return User(name), isNumber(name)
}
