package capsule

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth is how deep objects and arrays may nest, as in requests to the hub.
const maxJSONDepth = 64

// The refusals of a JSON text. The caller says where it stands.
var (
	errJSON      = errors.New("it is not JSON")
	errUTF8      = errors.New("it is not valid UTF-8")
	errDepth     = errors.New("it nests deeper than " + strconv.Itoa(maxJSONDepth) + " levels")
	errTwice     = errors.New("a name stands twice in one object")
	errSurrogate = errors.New("a string has half of a surrogate pair")
	errNames     = errors.New("it has too many names")
	errRange     = errors.New("a number is out of range")
)

// checkJSON refuses what a jsonWalk cannot read.
func checkJSON(raw []byte) error {
	if err := checkText(raw); err != nil {
		return err
	}
	if !json.Valid(raw) {
		return errJSON
	}
	return nil
}

// checkText is the part of checkJSON that encoding/json does not do while it decodes.
func checkText(raw []byte) error {
	switch {
	case !utf8.Valid(raw):
		return errUTF8
	case jsonDepth(raw) > maxJSONDepth: // before a parser sees it
		return errDepth
	}
	return nil
}

// jsonDepth returns how deep objects and arrays nest in what may be JSON.
func jsonDepth(raw []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}

// jsonWalk reads a JSON text that checkJSON has passed.
type jsonWalk struct {
	data  []byte
	pos   int
	names int // of the objects that are open
}

// maxNames bounds the names of the objects that are open, which are kept. It is more than
// the largest attachment or metadata can have.
const maxNames = 200_000

// once adds a name to those of an object that is open.
func (w *jsonWalk) once(names *nameSet, name string) error {
	if !names.add(name) {
		return errTwice
	}
	if w.names++; w.names > maxNames {
		return errNames
	}
	return nil
}

// peek passes white space, commas and colons, and returns the byte behind them.
func (w *jsonWalk) peek() byte {
	for w.pos < len(w.data) {
		switch c := w.data[w.pos]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

// next reports whether the object or array that closes with end has more. At its end it
// passes the bracket.
func (w *jsonWalk) next(end byte) bool {
	if w.peek() != end {
		return true
	}
	w.pos++
	return false
}

// scalar passes a number, true, false or null, and returns its text.
func (w *jsonWalk) scalar() ([]byte, error) {
	w.peek()
	start := w.pos
	for w.pos < len(w.data) && scalarByte()[w.data[w.pos]] {
		w.pos++
	}
	token := w.data[start:w.pos]
	const surelyFinite = 300 // digits
	for _, c := range token {
		if c == 'e' && token[0] < 'a' || c == 'E' || len(token) > surelyFinite {
			if _, err := strconv.ParseFloat(string(token), 64); err != nil {
				return nil, errRange
			}
			break
		}
	}
	return token, nil
}

// scalarByte has the bytes of numbers and words.
var scalarByte = sync.OnceValue(func() (s [256]bool) {
	for c := range s {
		s[c] = word()[c] || c == '+' || c == '-' || c == '.'
	}
	return s
})

// string passes a string and returns its text.
func (w *jsonWalk) string() (string, error) {
	text, err := w.text()
	return string(text), err
}

// text is string for a text that is not kept: it may be a part of the data.
func (w *jsonWalk) text() ([]byte, error) {
	w.peek()
	w.pos++
	start, escaped := w.pos, false
	for w.data[w.pos] != '"' {
		if w.data[w.pos] == '\\' {
			escaped = true
			w.pos++
		}
		w.pos++
	}
	raw := w.data[start:w.pos]
	w.pos++
	if !escaped {
		return raw, nil
	}
	return unescape(raw)
}

// skip passes one value. It refuses names that stand twice in one object, and what string
// and scalar refuse.
func (w *jsonWalk) skip() error {
	switch w.peek() {
	case '{':
		return w.skipObject()
	case '[':
		w.pos++
		for w.next(']') {
			if err := w.skip(); err != nil {
				return err
			}
		}
		return nil
	case '"':
		_, err := w.text()
		return err
	}
	_, err := w.scalar()
	return err
}

func (w *jsonWalk) skipObject() error {
	w.pos++
	var names nameSet
	before := w.names
	for w.next('}') {
		name, err := w.string()
		if err == nil {
			err = w.once(&names, name)
		}
		if err == nil {
			err = w.skip()
		}
		if err != nil {
			return err
		}
	}
	w.names = before
	return nil
}

// nameSet holds the names of an object. Few names are compared one by one; many are kept
// in a map, so that no object costs quadratic time.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

const fewNames = 16

// add reports whether the name is new.
func (s *nameSet) add(name string) bool {
	if s.many == nil {
		for _, other := range s.few {
			if other == name {
				return false
			}
		}
		if s.few = append(s.few, name); len(s.few) > fewNames {
			s.many = make(map[string]struct{}, 4*fewNames)
			for _, other := range s.few {
				s.many[other] = struct{}{}
			}
		}
		return true
	}
	if _, ok := s.many[name]; ok {
		return false
	}
	s.many[name] = struct{}{}
	return true
}

// unescape returns the text of a string with escapes.
func unescape(raw []byte) ([]byte, error) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, size := escapedRune(raw[i:])
			if size == 0 {
				return nil, errSurrogate
			}
			out = utf8.AppendRune(out, r)
			i += size
			continue
		default:
			out = append(out, c)
		}
		i += 2
	}
	return out, nil
}

// escapedRune reads \uXXXX, or two of them that are one character, and returns how many
// bytes these are; 0 for half of a pair.
func escapedRune(raw []byte) (rune, int) {
	r := hex4(raw[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(raw) < 12 || raw[6] != '\\' || raw[7] != 'u' {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, hex4(raw[8:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func hex4(raw []byte) rune {
	n, _ := strconv.ParseUint(string(raw[:4]), 16, 32) // valid JSON has four digits here
	return rune(n)
}

// appendQuoted appends a text as encoding/json does without escaping of HTML.
func appendQuoted(dst []byte, text string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2]&^1 == 0xa8: // U+2028, U+2029
			dst = append(dst, '\\', 'u', '2', '0', '2', digits[text[i+2]&15])
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
