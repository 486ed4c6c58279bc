package transfer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"

	"hubcli/actors/capsules"
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/capsule/redact"
)

// ruleHub is the rule of the secrets that agents have of the hub.
const ruleHub = "hub-secret"

// A redactor redacts what package redact finds, and then the secrets that agents have of
// the hub. These may be many, so they are looked up by their whole words.
type redactor struct {
	*redact.Redactor
	salt    []byte
	secrets map[string]bool // in upper case where case does not matter: codes of invites
	places  int
}

// redactor makes the redaction of one export.
func (x *Exports) redactor(rows core.Rows) (*redactor, error) {
	o := x.options.Machine()
	o.Salt = newSalt()
	inner, err := redact.New(o)
	if err != nil {
		return nil, err
	}
	r := &redactor{Redactor: inner, salt: o.Salt, secrets: map[string]bool{}}
	return r, x.options.Secrets(rows, func(secret string) { r.secrets[secret] = true })
}

// Text returns a redacted text.
func (r *redactor) Text(text string) string { return r.words(r.Redactor.Text(text)) }

// JSON returns a JSON text whose strings are redacted.
func (r *redactor) JSON(raw []byte) ([]byte, error) {
	out, err := r.Redactor.JSON(raw)
	if err != nil || len(r.secrets) == 0 {
		return out, err
	}
	return capsule.MapJSON(capsules.Single(out), r.words)
}

// Counts says how many places each rule has replaced so far.
func (r *redactor) Counts() map[string]int {
	counts := maps.Clone(r.Redactor.Counts())
	if r.places > 0 {
		counts[ruleHub] += r.places
	}
	return counts
}

// words replaces the words of a text that are secrets. A word is letters, digits, hyphens
// and underscores.
func (r *redactor) words(text string) string {
	if len(r.secrets) == 0 {
		return text
	}
	var b strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && wordByte(text[end]) {
			end++
		}
		if word := text[i:end]; len(word) >= shortestSecret && (r.secrets[word] || len(word) == codeLen && r.secrets[strings.ToUpper(word)]) {
			b.WriteString(text[kept:i])
			b.WriteString(r.tag(strings.ToUpper(word)))
			r.places++
			kept = end
		}
		i = max(end, i+1)
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// The lengths of secrets of the hub: the code of an invite, XXXX-XXXX, is the shortest.
const (
	shortestSecret = 9
	codeLen        = 9
)

// tag stands in the place of a secret, in the form of package redact.
func (r *redactor) tag(value string) string {
	m := hmac.New(sha256.New, r.salt)
	m.Write([]byte(value))
	return "[redacted:" + ruleHub + ":" + hex.EncodeToString(m.Sum(nil)[:4]) + "]"
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}
