package peertext

import "unicode"

// Hidden reports whether a character does something else than to be seen as
// itself: it commands a terminal, ends a line unexpectedly, changes the order of the
// text around it, or is drawn as nothing, so that a model reads what a person does
// not see. These are
//
//   - control characters (Cc), but line feed and tab;
//   - format characters (Cf): turns of direction, zero-width space, tags, soft hyphen;
//   - surrogates and private use (Cs, Co), which mean nothing outside one program;
//   - variation selectors, which can carry any bytes behind one visible character;
//   - what Unicode tells a program to draw as nothing: fillers, grapheme joiner;
//   - the line and the paragraph separator, U+2028 and U+2029.
//
// The zero-width joiner and non-joiner and the text and emoji selectors (U+FE0E,
// U+FE0F) stay: scripts and emoji need them. Many of them could carry bits, but no
// reader takes bits for words.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return r < ' ' || r >= 0x7f && unicode.In(r, unicode.C, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
