package actors

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"strings"

	"hubcli/hub"
)

// secrets renders the secrets of answers. They are never stored: each is an HMAC
// of the store's key over the public id that it belongs to, so that a replayed
// answer carries the same secret again and a copied journal carries none.
type secrets struct{ key []byte }

// secretBytes of the MAC are shown: 128 bits.
const secretBytes = 16

func (s secrets) mac(purpose string, id hub.SessionID) string {
	return base64.RawURLEncoding.EncodeToString(s.sum(purpose, string(id))[:secretBytes])
}

func (s secrets) sum(purpose, of string) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(purpose + "\x00" + of))
	return m.Sum(nil)
}

// session returns the full form of a public session id.
func (s secrets) session(public hub.SessionID) hub.SessionID {
	return public + "." + hub.SessionID(s.mac("session", public))
}

// reveal adds a session's secrets to its row.
func (s secrets) reveal(row hub.Session) hub.Registered {
	public := row.SessionID.Public()
	row.SessionID = s.session(public)
	return hub.Registered{Session: row, ResumeKey: s.mac("resume", public)}
}

// pass returns the secret form of a pass's id.
func (s secrets) pass(id hub.PassID) string {
	return string(id) + "." + base64.RawURLEncoding.EncodeToString(s.sum("pass", string(id))[:secretBytes])
}

func (s secrets) provesSession(full hub.SessionID) bool {
	return same(string(full), string(s.session(full.Public())))
}

func (s secrets) provesKey(public hub.SessionID, key string) bool {
	return same(key, s.mac("resume", public))
}

// codeDigits are Crockford's base 32 digits, which leave out I, L, O and U.
var codeDigits = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// code renders the code of an invite of a room from the invite's nonce:
// XXXX-XXXX, 40 bits.
func (s secrets) code(room hub.RoomID, nonce string) string {
	code := codeDigits.EncodeToString(s.sum("invite", string(room)+"\x00"+nonce)[:5])
	return code[:4] + "-" + code[4:]
}

// codeHash returns the hash by which an invite is found. It is keyed, because a
// reader of the store could try all codes against a plain hash.
func (s secrets) codeHash(code string) []byte { return s.sum("invite-code", code) }

// foldCode returns the rendered form of a typed code. Case, the hyphen and
// outer spaces do not matter; O counts as 0, I and L count as 1. It returns
// false if the text is not a code.
func foldCode(typed string) (string, bool) {
	folded := strings.NewReplacer("-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(typed)))
	data, err := codeDigits.DecodeString(folded)
	if err != nil || len(folded) != 8 || codeDigits.EncodeToString(data) != folded { // the decoder skips line breaks
		return "", false
	}
	return folded[:4] + "-" + folded[4:], true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
