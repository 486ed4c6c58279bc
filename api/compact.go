package api

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text of a string that was read by scanner.string.
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

// appendString appends text as a JSON string with as few escapes as possible.
func appendString(dst, text []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}

// compact returns a copy of a value that the scanner has read, without white
// space and with as few escapes as possible. So limits count the stored
// characters, not the escapes that a client chose.
func compact(value []byte) []byte {
	dst := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := i + 1
			escaped := false
			for value[end] != '"' {
				if value[end] == '\\' {
					escaped = true
					end++
				}
				end++
			}
			if escaped {
				dst = appendString(dst, unescape(nil, value[i+1:end]))
			} else {
				dst = append(dst, value[i:end+1]...)
			}
			i = end + 1
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// depth returns how deep objects and arrays nest in a compact value; a plain
// value has depth 0.
func depth(value []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		case '"':
			i = stringEnd(value, i)
		}
	}
	return deepest
}

// stringEnd returns the index of the quote that ends the string at i.
func stringEnd(value []byte, i int) int {
	for i++; value[i] != '"'; i++ {
		if value[i] == '\\' {
			i++
		}
	}
	return i
}

// hasMember reports whether the compact object has a member of this name, which
// needs no escapes.
func hasMember(object []byte, name string) bool {
	now := 0
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			now++
		case '}', ']':
			now--
		case '"':
			end := stringEnd(object, i)
			if now == 1 && object[end+1] == ':' && string(object[i+1:end]) == name {
				return true
			}
			i = end
		}
	}
	return false
}
