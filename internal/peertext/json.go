package peertext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ModelJSON is Model for every string of a JSON text, names of members included.
// The text must be valid JSON in valid UTF-8.
func ModelJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '\\' && b[i+1] == 'u':
			r, n := escaped(b[i:])
			if Hidden(r) {
				out = append(out, Shown(r)...)
			} else {
				out = append(out, b[i:i+n]...)
			}
			i += n
		case c == '\\':
			out = appendShort(out, b[i:])
			i += 2
		case c < utf8.RuneSelf && c != 0x7f:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if Hidden(r) {
				out = append(out, Shown(r)...)
			} else {
				out = utf8.AppendRune(out, r)
			}
			i += n
		}
	}
	return out
}

// appendShort appends an escape of two characters. That of a hidden character is
// shown.
func appendShort(out, b []byte) []byte {
	switch b[1] {
	case 'b':
		return append(out, Shown('\b')...)
	case 'f':
		return append(out, Shown('\f')...)
	case 'r':
		if bytes.HasPrefix(b[2:], []byte(`\n`)) {
			return out
		}
		return append(out, Shown('\r')...)
	}
	return append(out, b[:2]...)
}

// escaped reads the escape \uXXXX, or two of them that are one character, and
// returns how many bytes it takes.
func escaped(b []byte) (rune, int) {
	unit := func(b []byte) rune {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		if err != nil {
			return 0
		}
		return rune(n)
	}
	first := unit(b)
	if utf16.IsSurrogate(first) {
		if r := utf16.DecodeRune(first, unit(b[6:])); r != utf8.RuneError {
			return r, 12
		}
	}
	return first, 6
}
