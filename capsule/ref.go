package capsule

import (
	"strconv"
	"strings"
	"sync"

	"hubcli/hub"
)

// References in texts. A text of the hub refers to a message or task as #12, and to other
// things by their ids, such as r_5x. A text of a capsule says #m5 and #r1 instead, so that
// it is the same in every hub. What a text has of that form itself gets its letter once
// more: #m12 becomes #mm12, and loses the letter again when it is decoded.
//
// A reference is a whole token: no ASCII letter, digit or underscore stands beside it.

// refLetters are the letters that begin a reference: message, room, decision, artifact,
// memory (k), run (u) and the project.
const refLetters = "mrdakup"

// ProjectRef is the reference to the project itself.
const ProjectRef Ref = "p1"

// maxRefDigits bounds the digits of a number: no message id has more.
const maxRefDigits = 16

// word has the bytes that cannot stand beside a reference.
var word = sync.OnceValue(func() (w [256]bool) {
	for c := range w {
		w[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	}
	return w
})

// EncodeRefs turns a text of a hub into one of a capsule. message gives the number of a
// message or task, thing the reference of an id; both say false of a
// thing that is not in the capsule, which the text then names as before. A text without references is returned as
// it is. DecodeRefs with the inverse functions gives back the text exactly.
func EncodeRefs(text string, message func(hub.MessageID) (Number, bool), thing func(id string) (Ref, bool)) string {
	if strings.IndexByte(text, '#') < 0 && strings.IndexByte(text, '_') < 0 {
		return text
	}
	e := rewrite{text: text}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#' && (i == 0 || !word()[text[i-1]]):
			end := wordEnd(text, i+1)
			i = e.encodeMark(i, end, message)
		case word()[c]:
			end := wordEnd(text, i)
			if token := text[i:end]; strings.IndexByte(token, '_') > 0 {
				if ref, ok := thing(token); ok {
					e.replace(i, end, "#", string(ref))
				}
			}
			i = end
		default:
			i++
		}
	}
	return e.done()
}

// encodeMark encodes the token that begins with # at i and ends at end, and returns where
// to go on.
func (r *rewrite) encodeMark(i, end int, message func(hub.MessageID) (Number, bool)) int {
	token := r.text[i+1 : end]
	if n, ok := parseNumber(token); ok {
		if number, ok := message(hub.MessageID(n)); ok {
			r.replace(i, end, "#m", strconv.FormatInt(int64(number), 10))
		}
		return end
	}
	if letters, _ := splitForm(token); letters > 0 {
		r.replace(i, i+1, "#", token[:1])
		return end
	}
	return i + 1
}

// DecodeRefs turns a text of a capsule into one of a hub. message gives the id of a
// message or task, thing the id of another thing; a reference of which they say false is
// left as it is.
func DecodeRefs(text string, message func(Number) (hub.MessageID, bool), thing func(Ref) (string, bool)) string {
	d := rewrite{text: text}
	for i := 0; ; {
		next := strings.IndexByte(text[i:], '#')
		if next < 0 {
			return d.done()
		}
		i += next
		if i > 0 && word()[text[i-1]] {
			i++
			continue
		}
		end := wordEnd(text, i+1)
		d.decodeMark(i, end, message, thing)
		i = max(end, i+1)
	}
}

func (r *rewrite) decodeMark(i, end int, message func(Number) (hub.MessageID, bool), thing func(Ref) (string, bool)) {
	token := r.text[i+1 : end]
	letters, digits := splitForm(token)
	switch {
	case letters == 0:
	case letters > 1:
		r.replace(i, i+2, "#", "")
	case token[0] == 'm':
		if n, ok := parseNumber(digits); ok {
			if id, ok := message(Number(n)); ok {
				r.replace(i, end, "#", strconv.FormatInt(int64(id), 10))
			}
		}
	default:
		if id, ok := thing(Ref(token)); ok {
			r.replace(i, end, id, "")
		}
	}
}

// splitForm splits a token into one letter of refLetters, repeated, and digits. It returns
// 0 letters for every other token.
func splitForm(token string) (letters int, digits string) {
	if token == "" || strings.IndexByte(refLetters, token[0]) < 0 {
		return 0, ""
	}
	for letters < len(token) && token[letters] == token[0] {
		letters++
	}
	digits = token[letters:]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, ""
	}
	return letters, digits
}

// parseNumber reads the digits of a message id or number: no sign, no zero in front.
func parseNumber(digits string) (int64, bool) {
	if digits == "" || len(digits) > maxRefDigits || digits[0] == '0' {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, n <= hub.MaxMessageID
}

// wordEnd returns where the letters, digits and underscores from i on end.
func wordEnd(text string, i int) int {
	for i < len(text) && word()[text[i]] {
		i++
	}
	return i
}

// rewrite copies a text from its first change on.
type rewrite struct {
	text string
	out  []byte
	kept int // the text up to here is in out
}

// replace puts two pieces in the place of text[from:to].
func (r *rewrite) replace(from, to int, first, second string) {
	if r.out == nil {
		r.out = make([]byte, 0, len(r.text)+16)
	}
	r.out = append(r.out, r.text[r.kept:from]...)
	r.out = append(append(r.out, first...), second...)
	r.kept = to
}

func (r *rewrite) done() string {
	if r.out == nil {
		return r.text
	}
	return string(append(r.out, r.text[r.kept:]...))
}
