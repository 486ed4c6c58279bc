package api

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"hubcli/hub"
)

// MaxJSONDepth is how deep objects and arrays of a request may nest.
const MaxJSONDepth = 64

// linearKeys is the number of members of one object up to which names are
// compared one by one. Beyond it a set is used, so that a hostile object does
// not cost quadratic time.
const linearKeys = 16

// scanner reads one JSON text that is known to be valid UTF-8. It refuses
// everything that RFC 8259 refuses, and also duplicate member names, unpaired
// surrogates, numbers that no float64 holds and nesting beyond MaxJSONDepth.
type scanner struct {
	source string // how errors call the data
	data   []byte
	pos    int
	depth  int
	keys   [][]byte // member names of the objects that are open, innermost last
}

func (s *scanner) fail(message string) *hub.Error {
	return hub.NewError(hub.CodeInvalidJSON, message).With("offset", s.pos).
		WithFix("send one JSON object (RFC 8259) in UTF-8, each member once")
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is no white space, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *scanner) expect(c byte, message string) error {
	if s.peek() != c {
		return s.fail(message)
	}
	s.pos++
	return nil
}

func (s *scanner) enter() error {
	s.pos++
	if s.depth++; s.depth > MaxJSONDepth {
		return s.fail(s.source+" nests too deep").With("limit", MaxJSONDepth)
	}
	return nil
}

// object reads the object that begins here and calls member for each member with
// the scanner at its value.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	base := len(s.keys)
	var set map[string]struct{}
	if s.peek() == '}' {
		s.pos++
		s.depth--
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.fail("a member name is missing")
		}
		raw, escaped, err := s.string()
		if err != nil {
			return err
		}
		if escaped {
			raw = unescape(make([]byte, 0, len(raw)), raw)
		}
		if set, err = s.once(base, set, raw); err != nil {
			return err
		}
		if err := s.expect(':', "a colon is missing after a member name"); err != nil {
			return err
		}
		s.space()
		if err := member(raw); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			s.depth--
			s.keys = s.keys[:base]
			return nil
		default:
			return s.fail("a comma or the end of an object is missing")
		}
	}
}

// once refuses a duplicate name in the object whose names begin at base.
func (s *scanner) once(base int, set map[string]struct{}, key []byte) (map[string]struct{}, error) {
	if set == nil && len(s.keys)-base < linearKeys {
		for _, k := range s.keys[base:] {
			if bytes.Equal(k, key) {
				return nil, s.duplicate(key)
			}
		}
		s.keys = append(s.keys, key)
		return nil, nil
	}
	if set == nil {
		set = make(map[string]struct{}, 4*linearKeys)
		for _, k := range s.keys[base:] {
			set[string(k)] = struct{}{}
		}
	}
	if _, ok := set[string(key)]; ok {
		return set, s.duplicate(key)
	}
	set[string(key)] = struct{}{}
	return set, nil
}

func (s *scanner) duplicate(key []byte) *hub.Error {
	const shown = 64
	name := string(key[:min(len(key), shown)])
	return s.fail("a member name occurs twice in one object").With("field", name)
}

// array reads the array that begins here and calls element for each element.
func (s *scanner) array(element func(i int) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.pos++
		s.depth--
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		if err := element(i); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			s.depth--
			return nil
		default:
			return s.fail("a comma or the end of an array is missing")
		}
	}
}

// skip reads one value of any type.
func (s *scanner) skip() error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(func([]byte) error { return s.skip() })
	case c == '[':
		return s.array(func(int) error { return s.skip() })
	case c == '"':
		_, _, err := s.string()
		return err
	case c == '-' || c >= '0' && c <= '9':
		_, err := s.number()
		return err
	default:
		_, err := s.literal()
		return err
	}
}

// literal reads true, false or null and returns its first letter.
func (s *scanner) literal() (byte, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(word) && string(s.data[s.pos:s.pos+len(word)]) == word {
			s.pos += len(word)
			return word[0], nil
		}
	}
	if s.pos == len(s.data) {
		return 0, s.fail(s.source + " ends too early")
	}
	return 0, s.fail(s.source + " is not JSON")
}

// number reads a number and returns its text.
func (s *scanner) number() ([]byte, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return nil, s.fail("a number is malformed")
	}
	plain := true
	if s.at('.') {
		plain = false
		if s.pos++; !s.digits() {
			return nil, s.fail("a number is malformed")
		}
	}
	if s.at('e') || s.at('E') {
		plain = false
		if s.pos++; s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return nil, s.fail("a number is malformed")
		}
	}
	text := s.data[start:s.pos]
	const surelyFinite = 300 // digits
	if !plain || len(text) > surelyFinite {
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			return nil, s.fail("a number is out of range")
		}
	}
	return text, nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// string reads a string. It returns the unchanged text between the quotes, and
// whether that text holds escapes.
func (s *scanner) string() (raw []byte, escaped bool, err error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			raw = s.data[start:s.pos]
			s.pos++
			return raw, escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, false, err
			}
		case c < 0x20:
			return nil, false, s.fail("a string holds a control character that is not escaped")
		default:
			s.pos++
		}
	}
	return nil, false, s.fail("a string is not closed")
}

// escape reads one escape sequence, both halves of a surrogate pair.
func (s *scanner) escape() error {
	rest := s.data[s.pos:]
	if len(rest) < 2 {
		return s.fail("a string is not closed")
	}
	switch rest[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
		r, ok := hex4(rest)
		if !ok {
			return s.fail("an escape in a string is malformed")
		}
		if !utf16.IsSurrogate(r) {
			s.pos += 6
			return nil
		}
		if low, ok := hex4(rest[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			s.pos += 12
			return nil
		}
		return s.fail("a string holds half of a surrogate pair")
	}
	return s.fail("an escape in a string is malformed")
}

// hex4 reads \uXXXX at the beginning of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
