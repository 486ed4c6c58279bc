package daemon

import (
	"context"
	"errors"
	"net"
	"net/url"
	"time"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peeruser"
)

// someUser stands for another user whose name is not told.
const someUser = "another user"

// ownerName is the name of a user as a program gives it, of a bounded length.
func ownerName(name string) string {
	if utf8.RuneCountInString(name) > hub.MaxUserChars {
		return someUser
	}
	return name
}

// acceptTime is how long a program may take to accept a connection.
const acceptTime = 500 * time.Millisecond

// OtherUser asks the system for the other user of this machine whose program takes the
// connections at an address. It returns "" if that is this user, or if the system does not tell.
// The program is sent nothing.
func OtherUser(ctx context.Context, baseURL string) string {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	u, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	look, err := peeruser.Open()
	if err != nil {
		return ""
	}
	defer func() { _ = look.Close() }() // nothing was written
	owner, err := look.Of(conn)
	// The socket belongs to the program from when it has accepted it.
	for until := time.Now().Add(acceptTime); errors.Is(err, peeruser.ErrGone) && time.Now().Before(until) && pause.For(ctx, acceptTime/50); {
		owner, err = look.Of(conn)
	}
	switch {
	case errors.Is(err, peeruser.ErrDenied), errors.Is(err, peeruser.ErrUnmapped):
		return someUser
	case err != nil || owner == look.Own():
		return ""
	}
	return owner.Name()
}
