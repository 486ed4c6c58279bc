package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

// VerdictMAC is the MAC of a verdict on a permission prompt, in hexadecimal. A verdict lets a
// program run, so it counts only with a MAC that the hub of this user alone can make: another
// program at the hub's address does not have the operator's token. It binds all of the answer but
// its wait to the nonce of the asker and to the body that was sent, by its SHA-256.
func VerdictMAC(token, nonce string, body [sha256.Size]byte, p *hub.Permission) string {
	key := hmac.New(sha256.New, []byte(token))
	key.Write([]byte("hub verdict"))
	ask := ""
	if p.AskID != nil {
		ask = string(*p.AskID)
	}
	said := sha256.Sum256([]byte(p.By + "\x00" + p.Reason))
	mac := hmac.New(sha256.New, key.Sum(nil))
	mac.Write([]byte("hub-verdict-1\n" + nonce + "\n" + hex.EncodeToString(body[:]) + "\n" +
		string(p.Verdict) + "\n" + ask + "\n" + hex.EncodeToString(said[:])))
	return hex.EncodeToString(mac.Sum(nil))
}

// VerdictHolds reports whether the answer has the MAC of VerdictMAC.
func VerdictHolds(token, nonce string, body [sha256.Size]byte, p *hub.Permission) bool {
	return token != "" && nonce != "" && hmac.Equal([]byte(p.MAC), []byte(VerdictMAC(token, nonce, body, p)))
}

var nonceForm = lazy.Regexp{Pattern: `^[A-Za-z0-9_-]{16,64}$`}

// CheckNonce refuses what is no nonce: 16 to 64 letters, digits, - and _.
func CheckNonce(field, nonce string) error {
	if !nonceForm.MatchString(nonce) {
		return hub.Invalid(field, field+" must have 16 to 64 letters, digits, - or _").
			WithFix("send a new random text with each call")
	}
	return nil
}
