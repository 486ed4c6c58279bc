package api

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"hubcli/hub"
)

// A page in a browser keeps acting on an address, whatever program has it by now. So it does
// not send its pass with its calls. Both ends make a key of the pass and of the run of the
// hub's process. With that key the hub first proves itself to the page, and then the page
// signs each call. What a page has sent in one run is worth nothing in the next, when another
// program may have had the address in between.

// PassKey returns the key that a pass has in one run of the hub.
func PassKey(token, run string) []byte { return sum([]byte(token), "hub-pass-run-1\n"+run) }

// ProvePass is the proof of the hub, for a nonce of the page and the address that the
// page's connection leads to, as host:port. It says too whether the pass has ended.
func ProvePass(key []byte, nonce, address, run string, ended bool) string {
	return hex.EncodeToString(sum(key, strings.Join([]string{"hub-pass-proof-1", nonce, address, run, strconv.FormatBool(ended)}, "\n")))
}

// SealPass encrypts a pass for the page that has its key of this run and has lost the pass
// itself, because it was loaded anew: a nonce of AES-256-GCM and its output, in base64url.
func SealPass(key []byte, token string) string {
	block, err := aes.NewCipher(sum(key, "hub-pass-seal-1"))
	if err != nil {
		panic("api: a key of 32 bytes is one of AES: " + err.Error())
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic("api: AES has blocks for GCM: " + err.Error())
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce) // it never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(gcm.Seal(nonce, nonce, []byte(token), nil))
}

// SignedCall is a call of which the sender has signed everything that matters.
type SignedCall struct {
	Pass    hub.PassID
	Page    string // of the sender, made anew when it begins: 16 to 64 letters, digits, - and _
	Counter uint64 // of the calls of the page, from 1 on
	Method  string
	Target  string // path and query, as they are sent
	Body    [sha256.Size]byte
}

// signedPrefix begins the X-Hub-Operator of a signed call.
const signedPrefix = "signed "

// Signed reports whether an X-Hub-Operator claims to be that of a signed call.
func Signed(header string) bool { return strings.HasPrefix(header, signedPrefix) }

// Sign returns the X-Hub-Operator of the call.
func (s *SignedCall) Sign(key []byte) string {
	return signedPrefix + string(s.Pass) + " " + s.Page + " " + strconv.FormatUint(s.Counter, 10) + " " +
		hex.EncodeToString(s.Body[:]) + " " + hex.EncodeToString(s.mac(key))
}

// ParseSigned reads an X-Hub-Operator. Method and target are those of the request.
func ParseSigned(header, method, target string) (s SignedCall, mac []byte, ok bool) {
	const parts = 5
	words := strings.Split(strings.TrimPrefix(header, signedPrefix), " ")
	if !Signed(header) || len(words) != parts || !nonceForm.MatchString(words[1]) {
		return s, nil, false
	}
	counter, err := strconv.ParseUint(words[2], 10, 63)
	body, err2 := hex.DecodeString(words[3])
	mac, err3 := hex.DecodeString(words[4])
	if err != nil || err2 != nil || err3 != nil || len(body) != sha256.Size || counter == 0 {
		return s, nil, false
	}
	s = SignedCall{Pass: hub.PassID(words[0]), Page: words[1], Counter: counter, Method: method, Target: target, Body: [sha256.Size]byte(body)}
	return s, mac, true
}

// Holds reports whether the signature is that of the key.
func (s *SignedCall) Holds(key, mac []byte) bool { return hmac.Equal(mac, s.mac(key)) }

func (s *SignedCall) mac(key []byte) []byte {
	return sum(key, strings.Join([]string{
		"hub-pass-call-1", string(s.Pass), s.Page, strconv.FormatUint(s.Counter, 10), s.Method, s.Target, hex.EncodeToString(s.Body[:]),
	}, "\n"))
}

func sum(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
