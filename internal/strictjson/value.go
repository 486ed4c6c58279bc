package strictjson

import "bytes"

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

// Compact returns a copy of a value that a Scanner has read, without white
// space and with as few escapes as possible. So limits count the stored
// characters, not the escapes that a client chose.
func Compact(value []byte) []byte {
	dst := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := stringEnd(value, i)
			if bytes.IndexByte(value[i+1:end], '\\') >= 0 {
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

// Depth returns how deep objects and arrays nest in a value that a Scanner has read; a plain
// value has depth 0.
func Depth(value []byte) int {
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

// HasMember reports whether an object that Compact has returned has a member of this name,
// which needs no escapes.
func HasMember(object []byte, name string) bool {
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
