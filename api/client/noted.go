package client

import (
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"hubcli/internal/hubfile"
)

// Noted returns the note of the hub of this user at a base address. An empty dataRoot is that
// of the environment. The server at the address is not asked. The error is fs.ErrNotExist
// where no hub of this user has served.
func Noted(dataRoot, base string) (hubfile.Note, error) {
	root := rootOr(dataRoot)
	u, err := url.Parse(base)
	if err != nil || root == "" {
		return hubfile.Note{}, errors.Join(fs.ErrNotExist, err)
	}
	digits := u.Port()
	if digits == "" {
		digits = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return hubfile.Note{}, errors.Join(fs.ErrNotExist, err) // nothing listens there
	}
	hosts := []string{u.Hostname()}
	if strings.EqualFold(u.Hostname(), "localhost") {
		hosts = []string{"127.0.0.1", "::1"}
	}
	for _, host := range hosts {
		addr, err := netip.ParseAddr(host)
		if err != nil || !onThisMachine(addr) {
			continue
		}
		at := netip.AddrPortFrom(addr, uint16(port))
		note, err := hubfile.Find(root, at)
		if err == nil {
			return note, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return hubfile.Note{}, noteUnusable(at, err)
		}
	}
	return hubfile.Note{}, fs.ErrNotExist
}

// NotedToken returns the operator's token of the hub of this user at a base address, and asks
// nothing of the server there. Errors: operator_required.
func NotedToken(dataRoot, base string) (string, error) {
	note, err := Noted(dataRoot, base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", noToken("no hub of this user is known at " + base)
	case err != nil:
		return "", err
	}
	token, failed := tokenOf(&note)
	if failed != nil {
		return "", failed
	}
	return token, nil
}
