package capsule

import (
	"errors"
	"strconv"

	"hubcli/internal/strictjson"
)

// The refusals of a JSON text. The caller says where it stands.
var (
	errJSON      = errors.New("it is not JSON")
	errUTF8      = errors.New("it is not valid UTF-8")
	errDepth     = errors.New("it nests deeper than " + strconv.Itoa(strictjson.MaxDepth) + " levels")
	errTwice     = errors.New("a name stands twice in one object")
	errSurrogate = errors.New("a string has half of a surrogate pair")
	errNames     = errors.New("it has too many names")
	errRange     = errors.New("a number is out of range")
)

// maxNames bounds the names of the objects that are open, which are kept. It is more than
// the largest attachment or metadata can have.
const maxNames = 200_000

// readJSON has value read the one value of a text. It returns one of the refusals above, or the
// error of value.
func readJSON(raw []byte, value func(*strictjson.Scanner) error) error {
	err := strictjson.Read(raw, maxNames, value)
	refused, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	switch refused.Reason {
	case strictjson.NotUTF8:
		return errUTF8
	case strictjson.TooDeep:
		return errDepth
	case strictjson.Twice:
		return errTwice
	case strictjson.HalfPair:
		return errSurrogate
	case strictjson.TooManyNames:
		return errNames
	case strictjson.OutOfRange:
		return errRange
	case strictjson.Malformed:
	}
	return errJSON
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
