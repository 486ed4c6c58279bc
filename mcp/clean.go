package mcp

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What others have written is data. It reaches the model with every character in
// it to be seen: what would act on a terminal, turn the order of a text or be read
// by a model and by no person is shown as <U+XXXX>. Only the line end of CR LF is
// shortened to LF. Who needs the exact bytes has the artifact and the HTTP surface.

// acts reports whether r does more than to be seen. Joiners and the two
// presentation selectors stay: scripts and emoji need them, and they hide nothing.
func acts(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f':
		return false
	case '\u2028', '\u2029', '\u3164', '\u115f', '\u1160', '\uffa0':
		return true // ends a line, or is drawn as nothing
	}
	return r < ' ' || r >= 0x7f && (unicode.Is(unicode.C, r) || unicode.Is(unicode.Variation_Selector, r))
}

// visibly is what stands in the place of a rune that acts.
func visibly(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// clean makes a text of others fit to be shown. The result is valid UTF-8.
func clean(s string) string {
	if !strings.ContainsFunc(s, acts) && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd")
	var b strings.Builder
	for _, r := range s {
		if acts(r) {
			b.WriteString(visibly(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cleanLine is clean for what stands within a line: a name or an excerpt.
func cleanLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// cleanJSON is clean for every string of a JSON text, names of members included.
// The text must be valid.
func cleanJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '\\' && b[i+1] == 'u':
			r, n := escaped(b[i:])
			if acts(r) {
				out = append(out, visibly(r)...)
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
			if acts(r) {
				out = append(out, visibly(r)...)
			} else {
				out = utf8.AppendRune(out, r)
			}
			i += n
		}
	}
	return out
}

// appendShort appends an escape of two characters, shown if it is that of a
// character that acts.
func appendShort(out, b []byte) []byte {
	switch b[1] {
	case 'b':
		return append(out, visibly('\b')...)
	case 'f':
		return append(out, visibly('\f')...)
	case 'r':
		if bytes.HasPrefix(b[2:], []byte(`\n`)) {
			return out
		}
		return append(out, visibly('\r')...)
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

// fence returns a mark that text does not hold, and that nobody could know when
// the text was written.
func fence(text string) string {
	for {
		mark := "peer-" + strings.ToLower(rand.Text()[:10])
		if !strings.Contains(text, mark) {
			return mark
		}
	}
}

// fenced puts a text between two marks that it cannot write itself, and | before
// each of its lines: a mark that it makes up is seen to be within.
func fenced(text string) string {
	text = clean(text)
	mark := fence(text)
	return "<<<" + mark + "\n| " + strings.ReplaceAll(text, "\n", "\n| ") + "\n" + mark + ">>>"
}

// cut returns the part of s from character offset on, at most max characters, and
// where it ends; whole says that nothing follows.
func cut(s string, offset, max int) (part string, end int, whole bool) {
	begin := len(s)
	n := 0
	for i := range s {
		if n == offset {
			begin = i
		}
		if n == offset+max {
			return s[begin:i], n, false
		}
		n++
	}
	if offset >= n {
		return "", n, true
	}
	return s[begin:], n, true
}

// clip returns the part of s from character offset on that takes at most room
// characters as it is sent, and the offset at which it ends; whole says that
// nothing follows.
func clip(s string, offset, room int) (part string, end int, whole bool) {
	n, begin := 0, -1
	for i, r := range s {
		if n == offset {
			begin = i
		}
		if begin >= 0 {
			if room -= width(r); room < 0 {
				return s[begin:i], n, false
			}
		}
		n++
	}
	if begin < 0 {
		return "", n, true
	}
	return s[begin:], n, true
}

// width is how many characters a rune takes as it is sent: shown, and within a
// JSON string.
func width(r rune) int {
	switch {
	case acts(r):
		return len(visibly(r))
	case r == '"' || r == '\\' || r == '\n' || r == '\t':
		return 2
	}
	return 1
}

// quoted shows a name or a title within a line: between quotes that it cannot
// close, at most max characters.
func quoted(s string, max int) string {
	s = cleanLine(s)
	if part, _, whole := cut(s, 0, max); !whole {
		s = part + "…"
	}
	return `"` + strings.ReplaceAll(s, `"`, "'") + `"`
}
