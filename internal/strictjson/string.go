package strictjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads the string at the scanner. It returns the unchanged text between the quotes,
// which is a part of the data, and whether that text holds escapes.
func (s *Scanner) String() (raw []byte, escaped bool, err error) {
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

// Text reads the string at the scanner and returns its text. Without escapes it is a part of
// the data.
func (s *Scanner) Text() ([]byte, error) {
	raw, escaped, err := s.String()
	if err == nil && escaped {
		raw = unescape(make([]byte, 0, len(raw)), raw)
	}
	return raw, err
}

// escape reads one escape sequence, both halves of a surrogate pair.
func (s *Scanner) escape() error {
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
		return s.failFor(HalfPair, "a string holds half of a surrogate pair")
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

// unescape appends the text of a string that was read by Scanner.String.
func unescape(dst, raw []byte) []byte {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		raw = raw[i:]
		switch raw[1] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(raw)
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[6:])
				r = utf16.DecodeRune(r, low)
				raw = raw[6:]
			}
			dst = utf8.AppendRune(dst, r)
			raw = raw[6:]
			continue
		default:
			dst = append(dst, raw[1])
		}
		raw = raw[2:]
	}
	return dst
}
