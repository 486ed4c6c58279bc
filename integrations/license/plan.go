package license

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
	"hubcli/integrations/license/machine"
)

// plan says exactly what a call does. It is made without a network and writes nothing.
type plan struct {
	server *keygen.Server
	was    *state // what is saved; nil: nothing
	left   *state // what a deactivation that was cut off has left; nil: nothing
	// Of an activation.
	key         string
	keyIn       hub.LicensePlace
	fingerprint string // empty: the machine gets a random id first

	prompt, digest string
}

// seal writes the question and its digest. The digest covers the key, the question does not
// show it.
func (p *plan) seal(title string, lines [][2]string) *plan {
	var b strings.Builder
	b.WriteString(title + "\n\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "  %-8s %s\n", line[0], line[1])
	}
	p.prompt = b.String()
	sum := sha256.Sum256([]byte(p.prompt + "\x00" + digestOf(p.key) + "\x00" + hex.EncodeToString(p.server.PublicKey)))
	p.digest = hex.EncodeToString(sum[:])
	return p
}

// address says whom a call goes to.
func address(s *keygen.Server) string {
	if s.Account == "" {
		return s.Base
	}
	return s.Base + ", account " + s.Account
}

// planActivate says what activating with a key does.
func (l *Licenses) planActivate(ctx context.Context, key string) (*plan, error) {
	server, err := l.server()
	if err != nil {
		return nil, err
	}
	kind, err := checkKey(server, key)
	if err != nil {
		return nil, asError(err, server, false)
	}
	was, err := l.load()
	if err != nil {
		return nil, failedHere(err)
	}
	var left *state
	if was != nil && was.Ended {
		was, left = nil, was
	}
	if was != nil && (was.KeyDigest != digestOf(key) || !was.of(server)) {
		return nil, hub.NewError(hub.CodeLicenseActive, "another license key is active on this machine").
			With("server", was.Server).With("product", was.Product).
			WithFix("deactivate that one first, so that its place is free again")
	}
	p := &plan{server: server, was: was, left: left, key: key}
	named := "a random id that is made now, because the system has none of its own"
	switch p.fingerprint, err = l.fingerprint(server.Product); {
	case err == nil:
		named = p.fingerprint + ", which does not tell the system's own id"
	case !errors.Is(err, machine.ErrNoID):
		return nil, failedHere(err)
	}
	why := l.whyNoStore(ctx)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p.keyIn = hub.LicenseInStore
	kept := "the credential store of this system, under " + l.keyPath(hub.LicenseInStore)
	if why != nil {
		p.keyIn = hub.LicenseInFile
		kept = fmt.Sprintf("%s, for your user alone (mode 0600), because: %v", l.path(keyName), why)
	}
	places := "one of the machines of the license, unless this machine is one of them"
	if was != nil && !was.pending() {
		places = "nothing more: this machine is one of the machines of the license"
	}
	return p.seal("Activate the license on this machine", [][2]string{
		{"server", address(server)},
		{"product", server.Product},
		{"key", kind},
		{"kept in", kept},
		{"machine", named},
		{"sends", "the key, the machine as it is named above, and " + platform},
		{"takes", places},
	}), nil
}

// checkKey refuses a key that cannot be right, as far as that can be told without a network,
// and says what it is.
func checkKey(server *keygen.Server, key string) (kind string, err error) {
	if err := keygen.CheckKey(key); err != nil {
		return "", err
	}
	const shown = 8 // digits of the digest, to tell keys apart
	kind = "with the digest " + digestOf(key)[:shown]
	if !keygen.IsSigned(key) {
		return kind + "; it is not signed, so only the server can tell whether it is good", nil
	}
	data, err := keygen.ReadKey(server.PublicKey, key)
	if err != nil {
		return "", err
	}
	if data.Product != "" && data.Product != server.Product {
		return "", &keygen.Error{Kind: keygen.Refused, Code: keygen.CodeOtherProduct, Why: "it is for another product"}
	}
	return kind + "; its signature is right", nil
}

// planDeactivate says what deactivating does.
func (l *Licenses) planDeactivate() (*plan, error) {
	was, err := l.load()
	if err != nil {
		return nil, failedHere(err)
	}
	if was == nil {
		return nil, notActive()
	}
	server, err := l.server()
	if err != nil {
		return nil, err
	}
	if !was.of(server) {
		return nil, hub.NewError(hub.CodeLicenseUnconfigured, "the activation is of another server, account or product than the configuration names").
			With("server", was.Server).With("product", was.Product).
			WithFix("put the old configuration back first: the key is sent to no other server")
	}
	p := &plan{server: server, was: was}
	frees := "the place of this machine on the license, so that another machine can take it"
	if was.Ended {
		frees = "nothing more: the place was given back already"
	}
	return p.seal("Deactivate the license on this machine", [][2]string{
		{"server", address(server)},
		{"product", server.Product},
		{"frees", frees},
		{"deletes", "the saved key, " + l.keyPath(was.KeyIn) + ", and " + l.path(stateName)},
	}), nil
}

func notActive() *hub.Error {
	return hub.NewError(hub.CodeLicenseNotActive, "no license is activated on this machine")
}
