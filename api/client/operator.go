package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"

	"hubcli/hub"
	"hubcli/internal/hubfile"
	"hubcli/internal/osfile"
)

// The files of a store that a client reads. Only the daemon uses the rest of
// the store.
const (
	tokenFile  = "operator.token"
	markerFile = "FORMAT"

	markerMagic = "hubcli store" // the first line of the marker in every format

	maxSecretBytes = 4096
)

// infoCall says which hub answers. It is the one call that an operator's client makes
// without the secret, over the port.
const infoCall = "getHubInfo"

// Calls of the operator go over the hub's socket, which lies in a folder that no other user
// can enter. The note of the address names it: what has the port is not asked, and the secret
// is never sent to a port.

// operatorToken returns the secret for the hub of this user at the address. Where it cannot,
// the error says first what has the address.
func (c *Client) operatorToken(ctx context.Context) (string, error) {
	note, err := c.note()
	if err == nil && note == nil {
		// A hub that starts takes connections before it is noted.
		if away := c.away(ctx); away != nil {
			return "", away
		}
		note, err = c.note()
	}
	if err != nil {
		return "", err
	}
	if note == nil {
		return "", noToken("no hub of this user is known at " + c.BaseURL()).
			WithFix("run the command as the user who started the hub, with its HUB_DATA_ROOT; a hub that is yours is known once it has been stopped and started")
	}
	token, failed := tokenOf(note)
	if failed == nil {
		return token, nil
	}
	if away := c.away(ctx); away != nil {
		return "", away
	}
	return "", failed
}

// note returns what is noted of the hub at the client's address; nil: nothing is.
func (c *Client) note() (*hubfile.Note, error) {
	if c.base == nil || !OnThisMachine(c.base.String()) {
		return nil, noToken("operator calls go to a hub on this machine only").
			WithFix("name an IP address of the hub, on its own machine")
	}
	if c.root == "" {
		return nil, nil
	}
	note, err := Noted(c.root, c.base.String())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &note, nil
}

// dialOperator connects to the socket of the hub at the client's address.
func (c *Client) dialOperator(ctx context.Context, _, _ string) (net.Conn, error) {
	note, err := c.note()
	switch {
	case err != nil:
		return nil, &unprovedError{err}
	case note == nil || note.Socket == "":
		return nil, &unprovedError{errNoSocket}
	}
	if err := hubfile.Private(filepath.Dir(note.Socket)); err != nil {
		return nil, &unprovedError{err}
	}
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, "unix", note.Socket)
	if err != nil {
		return nil, &unprovedError{err}
	}
	return conn, nil
}

var errNoSocket = errors.New("the hub has none")

// noSocketFix is for a hub that found no place for its socket.
const noSocketFix = "see which process it is, and why it has none: hubcli app doctor. End that process, and start the hub with a HUB_DATA_ROOT of a shorter path, or with XDG_RUNTIME_DIR set to a folder of yours"

// noPlane explains that no connection to the operator's socket came about: the hub may be
// away, another program may have its port, and only the socket may be gone. Then the hub may
// be starting or stopping, so that another attempt may help.
func (c *Client) noPlane(ctx context.Context, err error) *failure {
	if away := c.away(ctx); away != nil {
		return &failure{err: away}
	}
	var h *hub.Error
	if !errors.As(err, &h) {
		h = noToken("the operator's socket of the hub at " + c.BaseURL() + " cannot be used: " + cause(err)).
			WithFix("run the command as the user who started the hub; if that is you, end the hub and start it again with hubcli ensure, which makes the socket anew")
	}
	if errors.Is(err, errNoSocket) {
		return &failure{err: h.WithFix(noSocketFix)}
	}
	return &failure{err: h, again: true}
}

// away says why no hub of this user answers at the address; nil: one does, or another's.
func (c *Client) away(ctx context.Context) *hub.Error {
	var h *hub.Error
	if _, err := c.Info(ctx); errors.As(err, &h) {
		return h
	}
	return nil
}

// tokenOf reads the operator token in the folder of a store, provided that this is the store
// that the note is of. Errors: operator_required otherwise.
func tokenOf(note *hubfile.Note) (string, *hub.Error) {
	dir := note.Store
	instance, err := StoreInstance(dir)
	if err != nil {
		return "", unreadable(dir, err)
	}
	if instance != note.InstanceID {
		return "", noToken("the store in "+dir+" is another one than the hub had that served there last").
			With("instance_id", note.InstanceID).
			WithFix("stop that hub if it still runs, and start it again with hubcli ensure")
	}
	b, err := osfile.ReadSmall(filepath.Join(dir, tokenFile), maxSecretBytes)
	if err != nil {
		return "", unreadable(dir, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", unreadable(dir, errors.New(tokenFile+" holds no token"))
	}
	return token, nil
}

// StoreInstance reads the instance id of the store in the folder dir.
func StoreInstance(dir string) (hub.InstanceID, error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, markerFile), maxSecretBytes)
	if err != nil {
		return "", err
	}
	return parseMarker(string(b))
}

// parseMarker finds the line "instance <id>" of a store's marker. The store
// checks the rest of the file; here it only has to be the marker of some store.
func parseMarker(s string) (hub.InstanceID, error) {
	rest, ok := strings.CutPrefix(s, markerMagic+"\n")
	if !ok {
		return "", fmt.Errorf("%s is no store's", markerFile)
	}
	for line := range strings.Lines(rest) {
		id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "instance ")
		if ok && id != "" {
			return hub.InstanceID(id), nil
		}
	}
	return "", fmt.Errorf("%s names no instance", markerFile)
}

// newOperatorTransport carries the operator's calls.
func (c *Client) newOperatorTransport() *http.Transport {
	t := newTransport(c.dialOperator)
	t.MaxIdleConnsPerHost = 2
	return t
}

func noToken(message string) *hub.Error { return hub.NewError(hub.CodeOperatorRequired, message) }

func unreadable(dir string, err error) *hub.Error {
	var p *fs.PathError
	why := err.Error()
	if errors.As(err, &p) {
		why = filepath.Base(p.Path) + ": " + p.Err.Error()
	}
	return noToken("the operator token of the store in "+dir+" cannot be read: "+why).
		With("storage_path", dir).
		WithFix("run the command as the user who started the hub")
}
