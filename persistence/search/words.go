package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTermRunes is the length to which terms are cut, in documents and in
// queries.
const maxTermRunes = 64

// word is one term of a text with its position. Several terms may share a
// place: an identifier in camel case is one term, and each of its parts is
// another.
type word struct {
	term       string
	start, end int  // bytes of the text
	place      int  // number of the word in the text, from 0
	part       bool // a part of the word at the same place
	open       bool // the last character of a run without spaces; it may be the prefix of a pair
}

// eachWord calls fn for every word of text in order, until fn returns false.
//
// Letters, digits and marks make words; everything else separates them. So
// paths, dotted names and snake_case are adjacent words: any part finds them,
// and so does the whole as a phrase. A script without spaces gives pairs of
// adjacent characters, and the last character alone.
func eachWord(text string, fn func(word) bool) {
	place := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !wordRune(r) {
			i += size
			continue
		}
		dense := spaceless(r)
		end := i + size
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !wordRune(r) || spaceless(r) != dense && !unicode.IsMark(r) {
				break
			}
			end += size
		}
		var n int
		var more bool
		if dense {
			n, more = eachPair(text, i, end, place, fn)
		} else {
			n, more = eachTerm(text, i, end, place, fn)
		}
		if !more {
			return
		}
		place += n
		i = end
	}
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// spaceless reports whether r belongs to a script that puts no spaces between
// words.
func spaceless(r rune) bool {
	const prolonged, prolongedHalf = 'ー', 'ｰ' // these belong to no script
	return r >= 0x0E00 && (r == prolonged || r == prolongedHalf || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// eachTerm calls fn for one word and, if it consists of several parts, for each
// part.
func eachTerm(text string, start, end, place int, fn func(word) bool) (places int, more bool) {
	run := text[start:end]
	term := fold(run)
	if term == "" {
		return 0, true
	}
	if !fn(word{term: term, start: start, end: end, place: place}) {
		return 1, false
	}
	from := 0
	for _, cut := range cuts(run) {
		if part := fold(run[from:cut]); utf8.RuneCountInString(part) > 1 &&
			!fn(word{term: part, start: start + from, end: start + cut, place: place, part: true}) {
			return 1, false
		}
		from = cut
	}
	return 1, true
}

// cuts returns where the parts of an identifier end: getHTTPCode2 has get,
// HTTP, Code and 2. For a word of one part it returns nil.
func cuts(run string) []int {
	type class uint8
	const (
		lower class = iota
		upper
		digit
	)
	classify := func(r rune) class {
		switch {
		case unicode.IsDigit(r):
			return digit
		case unicode.IsUpper(r):
			return upper
		default:
			return lower
		}
	}
	var at []int
	var before, last class
	previous := 0 // byte offset of the previous character
	for i, r := range run {
		now := classify(r)
		if unicode.IsMark(r) {
			now = last
		}
		switch {
		case i == 0:
		case (now == digit) != (last == digit), now == upper && last == lower:
			at = append(at, i)
		case now == lower && last == upper && before == upper && previous > 0 && (len(at) == 0 || at[len(at)-1] != previous):
			at = append(at, previous)
		}
		before, last, previous = last, now, i
	}
	if at == nil {
		return nil
	}
	return append(at, len(run))
}

// eachPair calls fn for each pair of adjacent characters of a run, and for its
// last character.
func eachPair(text string, start, end, place int, fn func(word) bool) (places int, more bool) {
	var offsets []int
	for i, r := range text[start:end] {
		if !unicode.IsMark(r) || i == 0 {
			offsets = append(offsets, start+i)
		}
	}
	offsets = append(offsets, end)
	for i := range len(offsets) - 1 {
		stop := offsets[min(i+2, len(offsets)-1)]
		term := fold(text[offsets[i]:stop])
		if term == "" {
			continue
		}
		if !fn(word{term: term, start: offsets[i], end: stop, place: place + i, open: i+2 >= len(offsets)}) {
			return i, false
		}
	}
	return len(offsets) - 1, true
}

// fold returns the form in which terms are compared: lower case, without
// compatibility forms and accents. Marks that are letters in their script stay.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		if len(s) > maxTermRunes {
			s = s[:maxTermRunes]
		}
		return strings.ToLower(s)
	}
	if len(s) > maxTermRunes*utf8.UTFMax {
		s = strings.ToValidUTF8(s[:maxTermRunes*utf8.UTFMax], "")
	}
	s = norm.NFKD.String(strings.ToLower(s))
	s = strings.Map(func(r rune) rune {
		if r >= 0x0300 && r <= 0x036F {
			return -1
		}
		return r
	}, s)
	s = strings.ToLower(norm.NFKC.String(s))
	n := 0
	for i := range s {
		if n++; n > maxTermRunes {
			return s[:i]
		}
	}
	return s
}
