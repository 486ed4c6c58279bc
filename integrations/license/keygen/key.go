package keygen

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// keyPrefix begins a signed key.
const keyPrefix = "key/"

// Dataset is what a signed key holds, as far as it is read. A key may hold any other text.
type Dataset struct {
	Raw     []byte
	Product string // id; empty if the key does not say it in the usual form
	License string // id
}

// IsSigned reports whether a key has the form of a signed one: it has data in it that can be
// verified without a network.
func IsSigned(key string) bool { return strings.HasPrefix(key, keyPrefix) }

// ReadKey verifies a signed key and returns what it holds.
func ReadKey(public ed25519.PublicKey, key string) (Dataset, error) {
	if err := CheckKey(key); err != nil {
		return Dataset{}, err
	}
	signed, sig, ok := strings.Cut(key, ".")
	data, isKey := strings.CutPrefix(signed, keyPrefix)
	if !ok || !isKey || data == "" || sig == "" {
		return Dataset{}, fail(BadKey, "the license key is cut off: a signed key has two parts with a dot between them")
	}
	raw, err := base64url(data)
	if err != nil {
		return Dataset{}, fail(BadKey, "the data in the license key cannot be read")
	}
	signature, err := base64url(sig)
	if err != nil || len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, []byte(signed), signature) {
		return Dataset{}, fail(NotGenuine, "the signature of the license key is not by the configured public key")
	}
	out := Dataset{Raw: raw}
	var known struct {
		Product identifier `json:"product"`
		License identifier `json:"license"`
	}
	if json.Unmarshal(raw, &known) == nil {
		out.Product, out.License = known.Product.ID, known.License.ID
	}
	return out, nil
}

// base64url reads the encoding of RFC 4648, with or without padding.
func base64url(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}
