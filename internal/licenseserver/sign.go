package licenseserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

var b64 = base64.StdEncoding.EncodeToString

// File makes a signed file of a kind, license or machine; without a secret it is not encrypted.
func (s *Server) File(kind string, inside any, secret string) string {
	plain, err := json.Marshal(inside)
	if err != nil {
		panic(err)
	}
	enc, alg := b64(plain), "base64+ed25519"
	if secret != "" {
		enc, alg = encrypt(plain, secret), "aes-256-gcm+ed25519"
	}
	outer, err := json.Marshal(map[string]string{"enc": enc, "sig": b64(ed25519.Sign(s.private, []byte(kind+"/"+enc))), "alg": alg})
	if err != nil {
		panic(err)
	}
	const width = 60 // of a line
	text := b64(outer)
	var b strings.Builder
	title := strings.ToUpper(kind)
	fmt.Fprintf(&b, "-----BEGIN %s FILE-----\n", title)
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	fmt.Fprintf(&b, "%s\n-----END %s FILE-----\n", text, title)
	return b.String()
}

func encrypt(plain []byte, secret string) string {
	key := sha256.Sum256([]byte(secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	sealed := gcm.Seal(nil, nonce, plain, nil)
	tag := len(sealed) - gcm.Overhead()
	return b64(sealed[:tag]) + "." + b64(nonce) + "." + b64(sealed[tag:])
}

// send signs an answer and sends it, or lies about it.
func (s *Server) send(w http.ResponseWriter, r *http.Request, a answer, lie string) {
	date := s.now()
	if lie == "old-date" {
		const old = 20 * time.Minute
		date = date.Add(-old)
	}
	sum := sha256.Sum256(a.body)
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Date", date.UTC().Format(http.TimeFormat))
	h.Set("Digest", "sha-256="+b64(sum[:]))
	private := s.private
	if lie == "other-signer" {
		_, private, _ = ed25519.GenerateKey(rand.Reader)
	}
	text := fmt.Sprintf("(request-target): %s %s\nhost: %s\ndate: %s\ndigest: %s", strings.ToLower(r.Method), r.URL.RequestURI(), r.Host, h.Get("Date"), h.Get("Digest"))
	sig := ed25519.Sign(private, []byte(text))
	if lie == "wrong-signature" {
		sig[0] ^= 1
	}
	h.Set("Keygen-Signature", fmt.Sprintf(`keyid="account", algorithm="ed25519", signature="%s", headers="(request-target) host date digest"`, b64(sig)))
	if lie == "unsigned" {
		h.Del("Keygen-Signature")
	}
	body := a.body
	if lie == "wrong-digest" {
		body = append([]byte(" "), body...)
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNoContent {
		_, _ = w.Write(body)
	}
}
