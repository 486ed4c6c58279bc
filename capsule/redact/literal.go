package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// literalWord bounds the keyword of a literal: the rest is compared where it is found.
const literalWord = 12

// A form is one way to write a literal.
type form struct {
	text   string
	fold   bool // the case of its letters does not matter
	base64 bool // it may stand in the middle of a longer run
}

// literals finds the values that the caller named, in every form.
func (b *builder) literals(values []string) error {
	seen := map[string]bool{}
	for _, value := range values {
		if len(value) < minLiteral {
			return errLiteral
		}
		if seen[value] {
			continue
		}
		seen[value] = true
		for _, f := range forms(value) {
			word := f.text[:min(len(f.text), literalWord)]
			b.add(word, func(s *scan, at, end int) { s.literal(f, value, at) })
		}
	}
	return nil
}

// forms returns the ways to write value, each once.
func forms(value string) []form {
	var all []form
	seen := map[form]bool{}
	add := func(f form) {
		if f.text != "" && !seen[f] {
			seen[f] = true
			all = append(all, f)
		}
	}
	add(form{text: value})
	if quoted, err := json.Marshal(value); err == nil {
		add(form{text: strings.Trim(string(quoted), `"`)})
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), percent(value), hex.EncodeToString([]byte(value))} {
		if escaped != value {
			add(form{text: escaped, fold: true})
		}
	}
	for offset := range 3 {
		plain := append(make([]byte, offset), value...)
		// The characters at both ends depend on the bytes beside the value.
		from, to := []int{0, 2, 3}[offset], len(plain)*8/6
		add(form{text: base64.RawStdEncoding.EncodeToString(plain)[from:to], base64: true})
		add(form{text: base64.RawURLEncoding.EncodeToString(plain)[from:to], base64: true})
	}
	return all
}

// percent escapes every byte.
func percent(value string) string {
	var b strings.Builder
	for i := range len(value) {
		b.WriteByte('%')
		b.WriteString(hex.EncodeToString([]byte{value[i]}))
	}
	return b.String()
}

// literal notes the literal whose form stands at the place.
func (s *scan) literal(f form, value string, at int) {
	if len(s.text)-at < len(f.text) {
		return
	}
	stop := at + len(f.text)
	if s.work -= len(f.text); f.fold && !strings.EqualFold(s.text[at:stop], f.text) || !f.fold && s.text[at:stop] != f.text {
		return
	}
	if f.base64 {
		for ; at > 0 && inBase64(s.text[at-1]); at-- {
			s.work--
		}
		for ; stop < len(s.text) && (inBase64(s.text[stop]) || s.text[stop] == '='); stop++ {
			s.work--
		}
	}
	s.add(span{start: at, end: stop, rule: ruleLiteral, value: value})
}

func inBase64(b byte) bool { return wordByte(b) || b == '+' || b == '/' }
