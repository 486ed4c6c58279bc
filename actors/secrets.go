package actors

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"

	"hubcli/hub"
)

// secrets renders the secrets of answers. They are never stored: each is an HMAC
// of the store's key over the public id that it belongs to, so that a replayed
// answer carries the same secret again and a copied journal carries none.
type secrets struct{ key []byte }

// secretBytes of the MAC are shown: 128 bits.
const secretBytes = 16

func (s secrets) mac(purpose string, id hub.SessionID) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(purpose + "\x00" + string(id)))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:secretBytes])
}

// session returns the full form of a public session id.
func (s secrets) session(public hub.SessionID) hub.SessionID {
	return public + "." + hub.SessionID(s.mac("session", public))
}

// reveal adds its secrets to a session's row.
func (s secrets) reveal(row hub.Session) hub.Registered {
	public := row.SessionID.Public()
	row.SessionID = s.session(public)
	return hub.Registered{Session: row, ResumeKey: s.mac("resume", public)}
}

func (s secrets) provesSession(full hub.SessionID) bool {
	return same(string(full), string(s.session(full.Public())))
}

func (s secrets) provesKey(public hub.SessionID, key string) bool {
	return same(key, s.mac("resume", public))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
