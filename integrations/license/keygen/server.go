package keygen

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"hubcli/internal/lazy"
)

// Server says which server licenses which product, and with which key it signs.
type Server struct {
	Base      string // such as https://api.keygen.sh
	Account   string // id or slug; empty for a server with a single account
	Product   string // id
	PublicKey ed25519.PublicKey
}

// maxName bounds an account and a product.
const maxName = 128

var name = lazy.Regexp{Pattern: `^[A-Za-z0-9][A-Za-z0-9._-]*$`}

// Check refuses a server that cannot be called safely.
func (s *Server) Check() error {
	u, err := url.Parse(s.Base)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("server is no address such as https://api.keygen.sh")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return errors.New("server has more than a scheme, a host and a port")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return errors.New("server needs https: without it only this machine may be called, by its number")
	case s.Account != "" && !isName(s.Account):
		return errors.New("account is neither an id nor a slug")
	case !isName(s.Product):
		return errors.New("product is no id")
	case len(s.PublicKey) != ed25519.PublicKeySize:
		return errors.New("public_key is no Ed25519 key: it has 64 hexadecimal digits")
	}
	return nil
}

func isName(s string) bool { return len(s) <= maxName && name.MatchString(s) }

// loopback reports whether a host is this machine, whatever a name server says.
func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback()
}

// ParsePublicKey reads 64 hexadecimal digits.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, errors.New("public_key is no Ed25519 key: it has 64 hexadecimal digits")
	}
	return b, nil
}

// url returns the address of a resource. Parts are escaped.
func (s *Server) url(query url.Values, parts ...string) *url.URL {
	u, err := url.Parse(s.Base)
	if err != nil { // Check has seen it
		u = &url.URL{Host: net.JoinHostPort("127.0.0.1", "0"), Scheme: "http"}
	}
	path := "/v1"
	if s.Account != "" {
		path += "/accounts/" + url.PathEscape(s.Account)
	}
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	u.Path, u.RawPath, u.RawQuery = mustUnescape(path), path, query.Encode()
	return u
}

func mustUnescape(path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		panic(fmt.Sprintf("keygen: %q was just escaped", path))
	}
	return plain
}
