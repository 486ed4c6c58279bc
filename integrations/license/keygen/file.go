package keygen

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// FileKind is what a file is about.
type FileKind string

// The kinds of files. The text is also what a signature begins with.
const (
	LicenseFile FileKind = "license"
	MachineFile FileKind = "machine"
)

// The ways in which a file is encoded and signed.
const (
	AlgorithmPlain     = "base64+ed25519"
	AlgorithmEncrypted = "aes-256-gcm+ed25519"
)

// MaxFile bounds a file, in bytes.
const MaxFile = 256 << 10

// File is a file whose signature is right. What is in it is still encoded.
type File struct {
	Kind      FileKind
	Encrypted bool
	enc       string
}

// Contents is what a file says.
type Contents struct {
	Issued      time.Time
	Until       *time.Time // the file is good until then; nil: without end
	Machine     string     // id, of a machine file
	Fingerprint string     // of a machine file
	Product     string     // id
	License     string     // id
	LicenseEnds *time.Time // nil: never, or the file does not say it
	HasLicense  bool       // the file says when the license ends
	Key         string     // of the license, if the file says it
}

// ReadFile takes a file apart and verifies its signature.
func ReadFile(public ed25519.PublicKey, kind FileKind, text string) (*File, error) {
	if len(text) > MaxFile {
		return nil, fail(Broken, "the file is longer than %d bytes", MaxFile)
	}
	title := strings.ToUpper(string(kind)) + " FILE-----"
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "-----BEGIN "+title)
	inner, ends := strings.CutSuffix(inner, "-----END "+title)
	if !ok || !ends {
		return nil, fail(Broken, "it is no %s file, or it is cut off", kind)
	}
	outer, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(inner), ""))
	if err != nil {
		return nil, fail(Broken, "the %s file cannot be decoded", kind)
	}
	var parts struct {
		Enc string `json:"enc"`
		Sig string `json:"sig"`
		Alg string `json:"alg"`
	}
	if err := json.Unmarshal(outer, &parts); err != nil {
		return nil, fail(Broken, "the %s file cannot be decoded", kind)
	}
	if parts.Alg != AlgorithmPlain && parts.Alg != AlgorithmEncrypted {
		return nil, fail(Broken, "the %s file is not signed with ed25519", kind)
	}
	sig, err := base64.StdEncoding.DecodeString(parts.Sig)
	if err != nil || len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, []byte(string(kind)+"/"+parts.Enc), sig) {
		return nil, fail(NotGenuine, "the signature of the %s file is not by the configured public key", kind)
	}
	return &File{Kind: kind, Encrypted: parts.Alg == AlgorithmEncrypted, enc: parts.Enc}, nil
}

// Secret is what opens an encrypted file: the key, of a machine file with the fingerprint.
func Secret(kind FileKind, key, fingerprint string) string {
	if kind == MachineFile {
		return key + fingerprint
	}
	return key
}

// Open returns what the file says. A file that is not encrypted needs no secret.
func (f *File) Open(secret string) (Contents, error) {
	var plain []byte
	var err error
	if f.Encrypted {
		plain, err = decrypt(f.enc, secret)
	} else if plain, err = base64.StdEncoding.DecodeString(f.enc); err != nil {
		err = fail(Broken, "the %s file cannot be decoded", f.Kind)
	}
	if err != nil {
		return Contents{}, err
	}
	return f.contents(plain)
}

// decrypt opens ciphertext, nonce and tag, each in base64, with a dot between them.
func decrypt(enc, secret string) ([]byte, error) {
	wrong := fail(NotGenuine, "this license key and this machine do not open the file")
	parts := strings.Split(enc, ".")
	if len(parts) != 3 {
		return nil, fail(Broken, "the file cannot be decoded")
	}
	var raw [3][]byte
	for i, part := range parts {
		b, err := base64.StdEncoding.DecodeString(part)
		if err != nil {
			return nil, fail(Broken, "the file cannot be decoded")
		}
		raw[i] = b
	}
	key := sha256.Sum256([]byte(secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	if len(raw[1]) != gcm.NonceSize() || len(raw[2]) != gcm.Overhead() {
		return nil, fail(Broken, "the file cannot be decoded")
	}
	plain, err := gcm.Open(nil, raw[1], append(raw[0], raw[2]...), nil)
	if err != nil {
		return nil, wrong
	}
	return plain, nil
}

func (f *File) contents(plain []byte) (Contents, error) {
	var doc struct {
		Data     resource   `json:"data"`
		Included []resource `json:"included"`
		Meta     struct {
			Issued time.Time  `json:"issued"`
			Expiry *time.Time `json:"expiry"`
		} `json:"meta"`
	}
	want := string(f.Kind) + "s"
	if err := json.Unmarshal(plain, &doc); err != nil || doc.Data.Type != want || doc.Data.ID == "" || doc.Meta.Issued.IsZero() {
		return Contents{}, fail(Broken, "the %s file does not say what such a file says", f.Kind)
	}
	out := Contents{Issued: doc.Meta.Issued, Until: doc.Meta.Expiry, Product: doc.Data.relation("product")}
	if f.Kind == LicenseFile {
		out.of(&doc.Data)
		return out, nil
	}
	out.Machine, out.Fingerprint, out.License = doc.Data.ID, doc.Data.Attributes.Fingerprint, doc.Data.relation("license")
	for i := range doc.Included {
		if r := &doc.Included[i]; r.Type == "licenses" && r.ID == out.License {
			out.of(r)
		}
	}
	return out, nil
}

// of notes what the file says of the license.
func (c *Contents) of(r *resource) {
	c.License, c.LicenseEnds, c.HasLicense, c.Key = r.ID, r.Attributes.Expiry, true, r.Attributes.Key
	if c.Product == "" {
		c.Product = r.relation("product")
	}
}
