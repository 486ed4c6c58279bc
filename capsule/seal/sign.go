package seal

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"aead.dev/minisign"

	"hubcli/hub"
)

// SignatureSuffix ends the name of the signature of a file.
const SignatureSuffix = ".minisig"

// The bounds of files, in bytes. Those of minisign are smaller.
const (
	MaxSignatureBytes = 16 << 10
	MaxKeyBytes       = 4 << 10
)

// NewKey makes a signing key and returns its texts: what signs, and what others check
// signatures with. The key has no password.
func NewKey() (secret, public []byte, err error) {
	pub, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if secret, err = key.MarshalText(); err != nil {
		return nil, nil, err
	}
	if public, err = pub.MarshalText(); err != nil {
		return nil, nil, err
	}
	return append(secret, '\n'), append(public, '\n'), nil
}

// A Signer signs files with one key.
type Signer struct{ key minisign.PrivateKey }

// ParseSigner reads the text of a signing key. A key with a password is refused: to open one
// takes a GiB of memory, which the hub does not spend, and the password would have to travel.
func ParseSigner(text []byte) (*Signer, error) {
	const field = "sign_key"
	if len(text) <= MaxKeyBytes {
		if minisign.IsEncrypted(text) {
			return nil, hub.Invalid(field, "the signing key has a password, and the hub takes keys without one").
				WithFix("export without a signature and sign the file with minisign -S; or use a key without a password, such as the hub makes")
		}
		var key minisign.PrivateKey
		if err := key.UnmarshalText(text); err == nil {
			return &Signer{key: key}, nil
		}
	}
	return nil, hub.Invalid(field, "the file is no signing key of minisign").
		WithFix("name a file that begins with the line \"untrusted comment:\" and holds a secret key of minisign")
}

// Key is the key with which others check signatures.
func (s *Signer) Key() PublicKey {
	return PublicKey{key: s.key.Public().(minisign.PublicKey)} //nolint:forcetypeassert // the library says so
}

// Sign reads a file and returns the text of its signature, in which the comment is signed,
// too. The comment must be one line.
func (s *Signer) Sign(file io.Reader, comment string) ([]byte, error) {
	r := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	return r.SignWithComments(s.key, comment, "signature from a hub, key "+s.Key().ID()), nil
}

// A PublicKey checks signatures.
type PublicKey struct{ key minisign.PublicKey }

// ParsePublicKey reads a public key: its one line, or the two lines of its file.
func ParsePublicKey(field, text string) (PublicKey, error) {
	var p PublicKey
	if text = strings.TrimSpace(text); len(text) <= MaxKeyBytes && p.key.UnmarshalText([]byte(text)) == nil {
		return p, nil
	}
	return p, hub.Invalid(field, "that is no public key of minisign").
		WithFix("give the line that begins with RW, or the file that has it, from the person who signs")
}

// ID is what signatures say about their key.
func (p PublicKey) ID() string { return keyID(p.key.ID()) }

// String is the one line that people give to each other.
func (p PublicKey) String() string { return p.key.String() }

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// A Signature is that of some file, which has not been checked.
type Signature struct {
	text  []byte
	inner minisign.Signature
}

// ParseSignature reads the text of a signature.
func ParseSignature(text []byte) (*Signature, error) {
	s := &Signature{text: text}
	switch {
	case len(text) > MaxSignatureBytes:
		return nil, broken("it is longer than any signature").With("limit", MaxSignatureBytes)
	case !utf8.Valid(text) || s.inner.UnmarshalText(text) != nil:
		return nil, broken("it is not as minisign writes it")
	case s.inner.Algorithm != minisign.HashEdDSA:
		return nil, broken("it is of the old kind, which signs no large files").
			WithFix("have the file signed again with a minisign of at least version 0.10")
	}
	return s, nil
}

// broken is the refusal of a signature that is none.
func broken(why string) *hub.Error {
	return hub.NewError(hub.CodeSignatureInvalid, "the file beside the capsule is no signature: "+why).
		WithFix("get capsule and signature again from the one who made them; move the signature away only if you trust the capsule without it")
}

// KeyID names the key that the signature says it is from.
func (s *Signature) KeyID() string { return keyID(s.inner.KeyID) }

// Comment is the trusted comment. It is to be trusted only if the signature fits.
func (s *Signature) Comment() string { return s.inner.TrustedComment }

// By reports whether the signature says it is from this key.
func (s *Signature) By(p PublicKey) bool { return s.inner.KeyID == p.key.ID() }

// Fits reads a file and reports whether the signature is one of it and its comment by a key.
func (s *Signature) Fits(file io.Reader, key PublicKey) (bool, error) {
	r := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, r); err != nil {
		return false, err
	}
	return r.Verify(key.key, s.text), nil
}
