package codec

import "strings"

// Redact keeps the beginning of the first line: Badger's errors go on with a hex
// dump of the value.
func Redact(text string) string {
	const most = 160
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Redacted is an error with a safe text that keeps what it wraps for errors.Is.
type Redacted struct{ Err error }

func (r Redacted) Error() string { return Redact(r.Err.Error()) }

func (r Redacted) Unwrap() error { return r.Err }
