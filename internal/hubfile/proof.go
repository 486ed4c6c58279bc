package hubfile

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"

	"hubcli/hub"
)

// ProofKey derives the key of the proofs from the secret key of a store. It is the same
// for as long as the store is, and nobody learns the secret key from it.
func ProofKey(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("hub proof"))
	return mac.Sum(nil)
}

// NewNonce returns 128 random bits as text that a challenge may hold.
func NewNonce() string { return rand.Text() }

// Proof is what the hub of the instance answers to a challenge with the nonce on a
// connection to the address at, in hexadecimal digits. It binds all three: an answer is of
// use on no other connection.
func Proof(key []byte, nonce string, at netip.AddrPort, instance hub.InstanceID) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("hub-proof-1\n" + nonce + "\n" + plain(at).String() + "\n" + string(instance)))
	return hex.EncodeToString(mac.Sum(nil))
}

// Proves reports whether the answer is the Proof. The comparison takes the same time
// wherever the two differ.
func (n *Note) Proves(answer, nonce string, at netip.AddrPort) bool {
	return hmac.Equal([]byte(answer), []byte(Proof(n.ProofKey, nonce, at, n.InstanceID)))
}

// plain is the one form of an address: an IPv4 address in IPv6 form is an IPv4 address, and
// no zone is named.
func plain(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}
